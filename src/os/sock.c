#include "os/sock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

static void set_int(int fd, int level, int option, int value)
{
    /* Each of these only tunes; a kernel that refuses one serves as well without it. */
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static void set_keepalive(int fd, unsigned keepalive_s)
{
    set_int(fd, SOL_SOCKET, SO_KEEPALIVE, keepalive_s > 0);
#ifdef TCP_KEEPIDLE
    if (keepalive_s > 0)
        set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, (int)keepalive_s);
#endif
}

void sock_tune_listener(int listener, unsigned keepalive_s, int recv_bufsize, int send_bufsize)
{
    set_int(listener, IPPROTO_TCP, TCP_NODELAY, 1);
    set_keepalive(listener, keepalive_s);
    if (recv_bufsize > 0)
        set_int(listener, SOL_SOCKET, SO_RCVBUF, recv_bufsize);
    if (send_bufsize > 0)
        set_int(listener, SOL_SOCKET, SO_SNDBUF, send_bufsize);
}

enum sock_accept_result sock_accept(int listener, int *fd, struct endpoint *peer)
{
    peer->length = sizeof peer->sa;
    *fd = accept4(listener, &peer->sa.any, &peer->length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (*fd >= 0)
        return SOCK_ACCEPTED;

    switch (errno) {
    case EAGAIN:
#if EWOULDBLOCK != EAGAIN
    case EWOULDBLOCK:
#endif
        return SOCK_ACCEPT_NONE;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
        return SOCK_ACCEPT_EXHAUSTED;
    case EBADF:
    case EINVAL:
    case ENOTSOCK:
    case EOPNOTSUPP:
    case EFAULT:
        return SOCK_ACCEPT_FAILED;
    default: /* ECONNABORTED, EINTR, EPERM (firewall), and the network errors that accept(2) hands through */
        return SOCK_ACCEPT_GONE;
    }
}

enum io sock_recv(int fd, void *buffer, size_t size, size_t *length)
{
    ssize_t count;

    do
        count = recv(fd, buffer, size, 0);
    while (count < 0 && errno == EINTR);
    *length = count > 0 ? (size_t)count : 0;
    if (count > 0)
        return IO_OK;
    if (count == 0)
        return IO_EOF;
    return errno == EAGAIN || errno == EWOULDBLOCK ? IO_WANT_READ : IO_FAILED;
}

enum io sock_send(int fd, const void *bytes, size_t size, size_t *length)
{
    ssize_t count;

    do
        count = send(fd, bytes, size, MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    *length = count > 0 ? (size_t)count : 0;
    if (count >= 0)
        return IO_OK;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? IO_WANT_WRITE : IO_FAILED;
}

static bool is_on_this_machine(const struct endpoint *endpoint)
{
    struct addr addr;

    endpoint_to_addr(endpoint, &addr);
    switch (addr.family) {
    case ADDR_NONE:
        return true;
    case ADDR_IPV4:
        return addr.bytes[0] == 127;
    case ADDR_IPV6:
        break;
    }
    for (int i = 0; i < 15; i++)
        if (addr.bytes[i] != 0)
            return false;
    return addr.bytes[15] == 1;
}

enum io sock_connect(const struct endpoint *endpoint, unsigned keepalive_s, int *fd)
{
    int family = endpoint->sa.any.sa_family;

    *fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return IO_FAILED;
    if (family != AF_UNIX) {
        set_int(*fd, IPPROTO_TCP, TCP_NODELAY, 1);
        if (keepalive_s > 0 && !is_on_this_machine(endpoint))
            set_keepalive(*fd, keepalive_s);
    }
    if (connect(*fd, &endpoint->sa.any, endpoint->length) == 0)
        return IO_OK;
    if (errno == EINPROGRESS || errno == EINTR)
        return IO_WANT_WRITE;

    int saved = errno;
    close(*fd);
    *fd = -1;
    errno = saved;
    return family == AF_UNIX && saved == EAGAIN ? IO_WANT_READ : IO_FAILED;
}

enum io sock_connect_result(int fd)
{
    int value = 0;
    socklen_t length = sizeof value;

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &value, &length) < 0)
        return IO_FAILED;
    if (value == 0)
        return IO_OK;
    errno = value;
    return IO_FAILED;
}

void sock_finish(int fd)
{
    /* ENOTCONN: the peer was faster; nothing is left to end. */
    (void)shutdown(fd, SHUT_WR);
}

void sock_abort(int fd)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(fd);
}

void sock_close(int fd)
{
    close(fd);
}

void sock_local(int fd, struct endpoint *local)
{
    local->length = sizeof local->sa;
    if (getsockname(fd, &local->sa.any, &local->length) < 0)
        local->length = 0;
}
