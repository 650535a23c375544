#include "demo_backend.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/strbuf.h"
#include "demo_page.h"
#include "demo_request.h"
#include "os/sock.h"
#include "proxy/proxy_parse.h"

enum {
    CONNS_MAX = 200, /* further ones wait in the listener's queue */
    PROXY_HEADER_MAX = 4096,
    IN_SIZE = DEMO_HEAD_MAX,
    IDLE_MS = 60 * 1000,
    LINGER_MS = 2 * 1000,
    TICK_MS = 1000,
};

enum phase {
    PHASE_PROXY,  /* waits for the PROXY header */
    PHASE_HEAD,   /* for the head of a request */
    PHASE_BODY,   /* for the rest of its body */
    PHASE_REPLY,  /* sends the answer */
    PHASE_LINGER, /* has said all; takes what still comes, so that the answer is not lost in a reset */
    PHASE_CLOSED,
};

struct conn {
    int fd;
    enum phase phase;
    int64_t deadline_ms;
    struct demo_facts facts;
    struct demo_request request;
    unsigned long request_number;
    struct strbuf head; /* of the request being answered */
    struct strbuf body; /* its first DEMO_BODY_SHOWN bytes */
    uint64_t body_left;
    struct strbuf reply;
    size_t reply_sent;
    bool is_last;
    size_t in_length;
    char in[IN_SIZE];
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void consume(struct conn *conn, size_t length)
{
    conn->in_length -= length;
    memmove(conn->in, conn->in + length, conn->in_length);
}

/* Replies */

static void start_reply(struct conn *conn, int status, const char *reason, const char *type, const struct strbuf *page)
{
    strbuf_addf(&conn->reply,
                "HTTP/1.1 %d %s\r\nServer: halter demo\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n"
                "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; img-src data:\r\n"
                "Connection: %s\r\n\r\n",
                status, reason, type, page->length, conn->is_last ? "close" : "keep-alive");
    if (!conn->request.is_head)
        strbuf_add(&conn->reply, page->data, page->length);
    conn->reply_sent = 0;
    conn->phase = PHASE_REPLY;
}

static const char *status_text(int status)
{
    switch (status) {
    case 400:
        return "Bad Request";
    case 405:
        return "Method Not Allowed";
    case 411:
        return "Length Required";
    case 431:
        return "Request Header Fields Too Large";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Refused";
    }
}

static void refuse(struct conn *conn, int status, const char *reason)
{
    struct strbuf page = STRBUF_INIT;

    conn->is_last = true;
    conn->request.is_head = false;
    strbuf_addf(&page, "%s\n", reason);
    start_reply(conn, status, status_text(status), "text/plain", &page);
    strbuf_clear(&page);
}

static void answer(struct conn *conn)
{
    struct strbuf text = STRBUF_INIT;
    struct demo_page page = {
        .facts = &conn->facts,
        .request_number = conn->request_number,
        .head = conn->head.data,
        .head_length = conn->head.length,
        .body = conn->body.data,
        .body_shown = conn->body.length,
        .body_length = conn->request.body_length,
    };

    if (conn->request.wants_html)
        demo_page_add_html(&text, &page);
    else
        demo_page_add_text(&text, &page);
    conn->is_last = !conn->request.keep_alive;
    start_reply(conn, 200, "OK", conn->request.wants_html ? "text/html" : "text/plain", &text);
    strbuf_clear(&text);
    strbuf_clear(&conn->head);
    strbuf_clear(&conn->body);
}

/* Phases: each moves on as far as the bytes in hand allow. False when it must wait. */

static bool step_proxy(struct conn *conn)
{
    struct proxy_header header;

    switch (proxy_parse((const uint8_t *)conn->in, conn->in_length, PROXY_HEADER_MAX, &header)) {
    case PROXY_NEED_MORE:
        return false;
    case PROXY_DONE:
        demo_facts_take(&conn->facts, &header);
        consume(conn, header.length);
        conn->phase = PHASE_HEAD;
        return true;
    case PROXY_NOT_PROXY:
        refuse(conn, 400, "the connection did not begin with a PROXY header");
        return true;
    case PROXY_MALFORMED:
        refuse(conn, 400, "the PROXY header is malformed");
        return true;
    }
    return false;
}

/* An answer of a few bytes on a socket that has nothing else to send: it fits, or the connection is of no use. */
static void send_continue(struct conn *conn)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    size_t sent;

    if (sock_send(conn->fd, text, sizeof text - 1, &sent) != IO_OK || sent != sizeof text - 1)
        conn->phase = PHASE_CLOSED;
}

static bool step_head(struct conn *conn)
{
    switch (demo_request_parse(conn->in, conn->in_length, &conn->request)) {
    case DEMO_REQUEST_NEED_MORE:
        return false;
    case DEMO_REQUEST_DONE:
        conn->request_number++;
        strbuf_add(&conn->head, conn->in, conn->request.head_length);
        consume(conn, conn->request.head_length);
        conn->body_left = conn->request.body_length;
        conn->phase = PHASE_BODY;
        if (conn->request.expects_continue && conn->body_left > 0 && conn->in_length == 0)
            send_continue(conn);
        return true;
    case DEMO_REQUEST_REFUSED:
        refuse(conn, conn->request.status, conn->request.reason);
        return true;
    }
    return false;
}

static bool step_body(struct conn *conn)
{
    size_t length = conn->in_length < conn->body_left ? conn->in_length : (size_t)conn->body_left;
    size_t room = DEMO_BODY_SHOWN - conn->body.length;

    strbuf_add(&conn->body, conn->in, length < room ? length : room);
    consume(conn, length);
    conn->body_left -= length;
    if (conn->body_left > 0)
        return false;
    answer(conn);
    return true;
}

static bool step_reply(struct conn *conn)
{
    size_t sent;

    switch (sock_send(conn->fd, conn->reply.data + conn->reply_sent, conn->reply.length - conn->reply_sent, &sent)) {
    case IO_OK:
        break;
    case IO_WANT_READ:
    case IO_WANT_WRITE:
        return false;
    case IO_EOF:
    case IO_FAILED:
        conn->phase = PHASE_CLOSED;
        return false;
    }
    conn->reply_sent += sent;
    if (conn->reply_sent < conn->reply.length)
        return false;
    strbuf_clear(&conn->reply);
    if (conn->is_last) {
        sock_finish(conn->fd);
        conn->deadline_ms = now_ms() + LINGER_MS;
        conn->phase = PHASE_LINGER;
    } else {
        conn->phase = PHASE_HEAD;
    }
    return true;
}

static bool step(struct conn *conn)
{
    switch (conn->phase) {
    case PHASE_PROXY:
        return step_proxy(conn);
    case PHASE_HEAD:
        return step_head(conn);
    case PHASE_BODY:
        return step_body(conn);
    case PHASE_REPLY:
        return step_reply(conn);
    case PHASE_LINGER:
        conn->in_length = 0;
        return false;
    case PHASE_CLOSED:
        return false;
    }
    return false;
}

/* The phases that wait for bytes always leave room for some: what fills the buffer is refused or consumed. */
static void receive(struct conn *conn)
{
    size_t length;

    switch (sock_recv(conn->fd, conn->in + conn->in_length, IN_SIZE - conn->in_length, &length)) {
    case IO_OK:
        conn->in_length += length;
        break;
    case IO_WANT_READ:
    case IO_WANT_WRITE:
        break;
    case IO_EOF:
    case IO_FAILED:
        conn->phase = PHASE_CLOSED;
        break;
    }
}

static void on_conn_ready(struct conn *conn)
{
    if (conn->phase != PHASE_LINGER)
        conn->deadline_ms = now_ms() + IDLE_MS;
    if (conn->phase != PHASE_REPLY)
        receive(conn);
    while (step(conn))
        ;
}

/* The loop */

struct backend {
    struct conn *conns[CONNS_MAX];
    size_t count;
};

static void close_conn(struct conn *conn)
{
    sock_close(conn->fd);
    strbuf_clear(&conn->head);
    strbuf_clear(&conn->body);
    strbuf_clear(&conn->reply);
    free(conn);
}

static void accept_one(struct backend *backend, int listener)
{
    struct endpoint peer;
    int fd;

    if (sock_accept(listener, &fd, &peer) != SOCK_ACCEPTED)
        return;

    struct conn *conn = calloc(1, sizeof *conn);

    if (conn == NULL) {
        sock_close(fd);
        return;
    }
    conn->fd = fd;
    conn->phase = PHASE_PROXY;
    conn->deadline_ms = now_ms() + IDLE_MS;
    strbuf_init(&conn->head);
    strbuf_init(&conn->body);
    strbuf_init(&conn->reply);
    backend->conns[backend->count++] = conn;
}

static void close_ended(struct backend *backend)
{
    int64_t now = now_ms();
    size_t kept = 0;

    for (size_t i = 0; i < backend->count; i++) {
        struct conn *conn = backend->conns[i];

        if (conn->phase == PHASE_CLOSED || now >= conn->deadline_ms)
            close_conn(conn);
        else
            backend->conns[kept++] = conn;
    }
    backend->count = kept;
}

int demo_backend_run(int listener, int parent_fd)
{
    struct backend backend = {.count = 0};
    struct pollfd fds[CONNS_MAX + 2];
    int status = 0;

    for (;;) {
        size_t count = backend.count;

        for (size_t i = 0; i < count; i++) {
            struct conn *conn = backend.conns[i];

            fds[i] = (struct pollfd){.fd = conn->fd, .events = conn->phase == PHASE_REPLY ? POLLOUT : POLLIN};
        }
        fds[count] = (struct pollfd){.fd = parent_fd, .events = POLLIN};
        fds[count + 1] = (struct pollfd){.fd = count < CONNS_MAX ? listener : -1, .events = POLLIN};
        if (poll(fds, (nfds_t)count + 2, count > 0 ? TICK_MS : -1) < 0 && errno != EINTR) {
            status = 1;
            break;
        }
        if (fds[count].revents != 0)
            break;
        for (size_t i = 0; i < count; i++)
            if (fds[i].revents != 0)
                on_conn_ready(backend.conns[i]);
        if (fds[count + 1].revents != 0)
            accept_one(&backend, listener);
        close_ended(&backend);
    }
    while (backend.count > 0)
        close_conn(backend.conns[--backend.count]);
    return status;
}
