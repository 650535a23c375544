/*
 * backend.c: the server behind every contestant of the benchmark. HTTP/1.1, kept alive, as little work as possible.
 *
 *     backend [--unix PATH] [--seconds N]      prints "port N", serves until standard input ends or N seconds are over
 *
 *     GET /N   a body of N bytes               POST of any length   swallows the body, answers with 5 bytes
 *
 * Not for: serving anybody else. It knows no chunked bodies and trusts its clients.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MAX = 16 * 1024, CHUNK = 1024 * 1024, EVENTS = 256, SECONDS = 3600, ACCEPTS = 64 };

struct conn {
    int fd;
    bool wants_write;
    bool replying;
    bool closes; /* after this reply */
    size_t in_length;
    uint64_t request_left; /* bytes of a request's body that are still to come */
    uint64_t reply_left;   /* bytes of the reply's body that are still to go */
    size_t head_length;
    size_t head_sent;
    char head[160];
    char in[HEAD_MAX + 1];
};

static char pattern[CHUNK];
static char sink[CHUNK];
static int poller;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void watch(struct conn *conn, bool write)
{
    struct epoll_event event = {.events = write ? EPOLLOUT : EPOLLIN, .data.ptr = conn};

    if (conn->wants_write != write && epoll_ctl(poller, EPOLL_CTL_MOD, conn->fd, &event) < 0)
        fail("epoll_ctl");
    conn->wants_write = write;
}

/* Sends what it can. 1: all is sent, 0: the socket is full, -1: the client has gone. */
static int send_reply(struct conn *conn)
{
    while (conn->head_sent < conn->head_length || conn->reply_left > 0) {
        struct iovec parts[2] = {
            {conn->head + conn->head_sent, conn->head_length - conn->head_sent},
            {pattern, conn->reply_left < CHUNK ? conn->reply_left : CHUNK},
        };
        ssize_t n = writev(conn->fd, parts, 2);

        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        size_t of_head = (size_t)n < parts[0].iov_len ? (size_t)n : parts[0].iov_len;
        conn->head_sent += of_head;
        conn->reply_left -= (uint64_t)n - of_head;
    }
    return 1;
}

static const char *find_field(const char *head, const char *name)
{
    const char *at = strcasestr(head, name);

    return at != NULL ? at + strlen(name) : NULL;
}

static void start_reply(struct conn *conn, uint64_t length)
{
    int n = snprintf(conn->head, sizeof conn->head,
                     "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/plain\r\nContent-Length: %llu\r\n%s\r\n",
                     (unsigned long long)length, conn->closes ? "Connection: close\r\n" : "");

    conn->head_length = (size_t)n;
    conn->head_sent = 0;
    conn->reply_left = length;
    conn->replying = true;
}

/* Takes one request's head out of conn->in. False when there is none yet. */
static bool take_request(struct conn *conn, uint64_t *reply_length)
{
    conn->in[conn->in_length] = '\0';
    char *end = memmem(conn->in, conn->in_length, "\r\n\r\n", 4);
    if (end == NULL)
        return false;
    end[2] = '\0';

    size_t used = (size_t)(end + 4 - conn->in);
    const char *path = strchr(conn->in, '/');
    const char *length = find_field(conn->in, "\r\nContent-Length:");
    const char *connection = find_field(conn->in, "\r\nConnection:");

    *reply_length = conn->in[0] == 'G' && path != NULL ? strtoull(path + 1, NULL, 10) : 5;
    conn->request_left = length != NULL ? strtoull(length, NULL, 10) : 0;
    conn->closes = connection != NULL && strncasecmp(connection, " close", 6) == 0;

    size_t rest = conn->in_length - used;
    size_t of_body = rest < conn->request_left ? rest : (size_t)conn->request_left;
    conn->request_left -= of_body;
    used += of_body;
    memmove(conn->in, conn->in + used, conn->in_length - used);
    conn->in_length -= used;
    return true;
}

/* Answers the requests that are complete. False when the connection is at its end. */
static bool serve(struct conn *conn)
{
    uint64_t reply_length = 0;

    for (;;) {
        if (conn->replying) {
            if (conn->request_left > 0)
                return true;
            int sent = send_reply(conn);
            if (sent < 0 || (sent > 0 && conn->closes))
                return false;
            watch(conn, sent == 0);
            if (sent == 0)
                return true;
            conn->replying = false;
        }
        if (!take_request(conn, &reply_length))
            return conn->in_length < HEAD_MAX;
        start_reply(conn, reply_length);
    }
}

static bool on_readable(struct conn *conn)
{
    bool body = conn->request_left > 0;
    size_t room = body ? (conn->request_left < CHUNK ? (size_t)conn->request_left : CHUNK) : HEAD_MAX - conn->in_length;
    ssize_t n = recv(conn->fd, body ? sink : conn->in + conn->in_length, room, 0);

    if (n <= 0)
        return n < 0 && errno == EAGAIN;
    if (body) {
        conn->request_left -= (uint64_t)n;
        return conn->request_left > 0 || serve(conn);
    }
    conn->in_length += (size_t)n;
    return serve(conn);
}

static void accept_all(int listener)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        struct conn *conn = malloc(sizeof *conn);
        if (conn == NULL)
            fail("malloc");
        memset(conn, 0, offsetof(struct conn, head));
        conn->fd = fd;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0)
            fail("epoll_ctl");
    }
}

static int listen_at(const struct sockaddr *address, socklen_t length)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) < 0 ||
        bind(fd, address, length) < 0 || listen(fd, 4096) < 0)
        fail("listening");
    return fd;
}

static void add_listener(int fd, int *kept)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = kept};

    *kept = fd;
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0)
        fail("epoll_ctl");
}

int main(int argc, char **argv)
{
    struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    socklen_t tcp_length = sizeof tcp;
    int listeners[2] = {-1, -1};
    int input = 0;
    long seconds = SECONDS;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--unix") == 0)
            snprintf(local.sun_path, sizeof local.sun_path, "%s", argv[i + 1]);
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = strtol(argv[i + 1], NULL, 10);
    }
    signal(SIGPIPE, SIG_IGN);
    memset(pattern, 'h', sizeof pattern);
    poller = epoll_create1(EPOLL_CLOEXEC);
    add_listener(listen_at((struct sockaddr *)&tcp, sizeof tcp), &listeners[0]);
    if (local.sun_path[0] != '\0')
        add_listener(listen_at((struct sockaddr *)&local, sizeof local), &listeners[1]);
    add_listener(0, &input);
    if (getsockname(listeners[0], (struct sockaddr *)&tcp, &tcp_length) < 0)
        fail("getsockname");
    printf("port %d\n", ntohs(tcp.sin_port));
    fflush(stdout);

    time_t end = time(NULL) + seconds;
    while (time(NULL) < end) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(poller, events, EVENTS, 1000);

        for (int i = 0; i < count; i++) {
            void *what = events[i].data.ptr;
            struct conn *conn = what;

            if (what == &input)
                return 0;
            if (what == &listeners[0] || what == &listeners[1]) {
                accept_all(*(int *)what);
            } else if (!(conn->wants_write ? serve(conn) : on_readable(conn))) {
                close(conn->fd);
                free(conn);
            }
        }
    }
    return 0;
}
