#include "os/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "os/sock.h"

/* FreeBSD's SO_REUSEPORT lets the last socket have all connections; _LB is what Linux means. */
#if defined(SO_REUSEPORT_LB)
#define SHARE_OPTION SO_REUSEPORT_LB
#elif defined(__linux__) && defined(SO_REUSEPORT)
#define SHARE_OPTION SO_REUSEPORT
#endif

static int set_option(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value);
}

static int set_share(int fd)
{
#ifdef SHARE_OPTION
    return set_option(fd, SOL_SOCKET, SHARE_OPTION, 1);
#else
    (void)fd;
    errno = ENOPROTOOPT;
    return -1;
#endif
}

static int open_socket(int family)
{
    int fd = socket(family, SOCK_STREAM, 0);

    if (fd < 0)
        return -1;
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
        set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) < 0 ||
        (family == AF_INET6 && set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) < 0)) {
        int saved_errno = errno;

        close(fd);
        errno = saved_errno;
        return -1;
    }
    return fd;
}

bool listen_can_share(void)
{
    static int answer = -1;

    if (answer < 0) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (fd < 0)
            fd = socket(AF_INET6, SOCK_STREAM, 0);
        answer = fd >= 0 && set_share(fd) == 0;
        if (fd >= 0)
            close(fd);
    }
    return answer == 1;
}

int listen_bind(const struct endpoint *wanted, bool share, struct endpoint *bound)
{
    struct endpoint local = {.length = sizeof local.sa}; /* wanted and bound may be the same */
    int fd = open_socket(wanted->sa.any.sa_family);

    if (fd < 0)
        return -1;
    if ((share && set_share(fd) < 0) || bind(fd, &wanted->sa.any, wanted->length) < 0 ||
        getsockname(fd, &local.sa.any, &local.length) < 0) {
        int saved_errno = errno;

        close(fd);
        errno = saved_errno;
        return -1;
    }
    *bound = local;
    return fd;
}

int listen_probe(const struct endpoint *wanted)
{
    struct endpoint bound;
    int fd = listen_bind(wanted, false, &bound);

    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

int listen_start(int fd, const struct listen_options *options)
{
    sock_tune_listener(fd, options->keepalive_s, options->recv_bufsize, options->send_bufsize);
#ifdef TCP_FASTOPEN
    /* A hint: without it connections work as ever. The value is the length of the queue of such requests. */
    (void)set_option(fd, IPPROTO_TCP, TCP_FASTOPEN, options->fastopen ? 256 : 0);
#endif
    return listen(fd, options->backlog);
}

void listen_stop(int fd)
{
    (void)shutdown(fd, SHUT_RDWR);
    close(fd);
}

bool listen_family_is_missing(int error_number)
{
    return error_number == EAFNOSUPPORT || error_number == EPROTONOSUPPORT || error_number == EADDRNOTAVAIL;
}

int listen_fault(const struct endpoint *wanted, int error_number, const struct place *place, struct error *errors)
{
    char text[ENDPOINT_TEXT_MAX];
    const char *why = strerror(error_number);

    endpoint_text(wanted, text);
    switch (error_number) {
    case EADDRINUSE:
        return error_add(errors, place,
                         "cannot listen on %s: %s; another program holds it: `ss -ltnp 'sport = :%u'` shows which",
                         text, why, (unsigned)endpoint_port(wanted));
    case EACCES:
        return error_add(errors, place,
                         "cannot listen on %s: %s; ports below 1024 need root or CAP_NET_BIND_SERVICE "
                         "(systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE)",
                         text, why);
    case EADDRNOTAVAIL:
        return error_add(errors, place, "cannot listen on %s: %s; no interface of this machine has that address", text,
                         why);
    case EMFILE:
    case ENFILE:
        return error_add(errors, place, "cannot listen on %s: %s; raise the limit of open files (ulimit -n)", text,
                         why);
    default:
        return error_add(errors, place, "cannot listen on %s: %s", text, why);
    }
}
