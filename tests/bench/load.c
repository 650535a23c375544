/*
 * load.c: the load generator of the benchmark: HTTP/1.1 over TLS (or plain) from one process and one loop.
 *
 *     load --address 127.0.0.1:8443 --mode connect|request|rate|idle|hello [options]
 *
 *     connect   each operation is a connection: TCP, handshake, one request and its reply, an orderly end. With
 *               --resume each handshake but the first resumes a session.
 *     request   operations are requests on --connections kept-alive connections, each sends the next when it has the reply
 *     rate      the same, but --rate requests are due each second; latency counts from when a request was due, so that
 *               a server that stalls cannot hide it
 *     idle      --connections are opened, each does one request, and then nothing
 *     hello     each operation is a connection that sends a ClientHello, always the same, and is reset when the answer
 *               begins to come: a flood that costs the server most of a full handshake, and this process next to nothing
 *
 * It connects and warms up, prints "ready", waits for a line on standard input, works for --seconds (or --count
 * operations), lets what is under way finish, prints one line of JSON and ends. Every wait is bounded.
 *
 * Not for: measuring the server's limits when this process is the slower one. The benchmark's figure is the server's own
 * CPU time, so that this does not matter; and not for verifying certificates: nothing is verified.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "histogram.h"

enum {
    HEAD_MAX = 4096,
    SCRATCH = 256 * 1024,
    EVENTS = 256,
    OPENING_MAX = 64, /* connections that are being opened at once */
    ERRORS_MAX = 200, /* then it gives up */
    WARM_UP_S = 30,   /* at most */
    GO_S = 120,       /* waiting for the line on standard input */
    FINISH_S = 5,     /* for what is under way at the end */
    CONNECTIONS_MAX = 20000,
};

enum mode { MODE_CONNECT, MODE_REQUEST, MODE_RATE, MODE_IDLE, MODE_HELLO };
enum state { STATE_PARKED, STATE_CONNECTING, STATE_HANDSHAKE, STATE_SENDING, STATE_RECEIVING, STATE_ENDING };
enum stage { STAGE_WARM_UP, STAGE_RUN, STAGE_FINISH };
enum fault { FAULT_CONNECT, FAULT_TLS, FAULT_CLOSED, FAULT_REPLY, FAULT_STUCK, FAULT_COUNT };
static const char *const fault_names[FAULT_COUNT] = {"connect", "tls", "closed", "reply", "stuck"};

struct options {
    struct sockaddr_in address;
    enum mode mode;
    bool plain;
    bool resume;
    bool browser;
    unsigned connections;
    unsigned warm_up; /* operations of each connection before the measurement */
    double seconds;
    double rate;
    uint64_t count;
    uint64_t size; /* of a reply's body */
    uint64_t post; /* of a request's body; 0: GET */
    const char *protocol;
    const char *cipher;
    const char *group;
};

struct conn {
    int fd; /* -1: closed */
    enum state state;
    uint32_t armed;
    unsigned warmed; /* operations done before the measurement */
    SSL *ssl;
    SSL_SESSION *session;
    uint64_t started_ns;
    uint64_t sent; /* of head and body */
    size_t head_length;
    uint64_t body_left; /* of the reply; valid when head_done */
    bool head_done;
    char head[HEAD_MAX + 1];
};

struct negotiated {
    char protocol[16];
    char cipher[48];
    char group[32];
    char key[32];
};

static struct options options = {.connections = 1, .warm_up = 1, .seconds = 1, .count = UINT64_MAX, .rate = 100};
static struct conn *conns;
static unsigned opening;     /* connections in CONNECTING or HANDSHAKE of the warm-up */
static unsigned next_opened; /* of the warm-up */
static unsigned parked;
static unsigned *parked_list; /* rate: those that are free */
static uint64_t due_count;    /* rate: requests that have come due, and those that were started */
static uint64_t started_count;
static enum stage stage = STAGE_WARM_UP;
static int poller;
static int timer = -1;
static SSL_CTX *context;
static char request[2048];
static size_t request_length;
static char *scratch;
static char *pattern;

static struct histogram latency;
static uint64_t run_start_ns, run_end_ns, hard_end_ns;
static uint64_t ops, bytes_in, bytes_out, handshakes, resumed, differing, launched;
static uint64_t faults[FAULT_COUNT];
static char first_fault[256];
static struct negotiated negotiated;

static void on_event(struct conn *conn, uint32_t events);
static void open_conn(struct conn *conn);

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* --- one connection --- */

static void watch(struct conn *conn, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = conn};

    if (conn->armed == events)
        return;
    if (epoll_ctl(poller, conn->armed == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, conn->fd, &event) < 0)
        fail("epoll_ctl");
    conn->armed = events;
}

static void close_conn(struct conn *conn)
{
    SSL_free(conn->ssl);
    conn->ssl = NULL;
    if (conn->fd >= 0)
        close(conn->fd);
    conn->fd = -1;
    conn->armed = 0;
}

static void park(struct conn *conn)
{
    conn->state = STATE_PARKED;
    parked_list[parked++] = (unsigned)(conn - conns);
}

static void start_request(struct conn *conn)
{
    conn->state = STATE_SENDING;
    conn->sent = 0;
    conn->head_length = 0;
    conn->head_done = false;
    on_event(conn, EPOLLOUT);
}

/* May this connection start another operation? */
static bool is_next_wanted(struct conn *conn)
{
    switch (stage) {
    case STAGE_WARM_UP:
        return conn->warmed < options.warm_up;
    case STAGE_RUN:
        return options.mode != MODE_RATE && launched < options.count && now_ns() < run_end_ns;
    case STAGE_FINISH:
        return false;
    }
    return false;
}

static void launch(struct conn *conn)
{
    if (stage == STAGE_RUN)
        launched++;
    conn->started_ns = now_ns();
    if (conn->fd < 0)
        open_conn(conn);
    else
        start_request(conn);
}

static void start_due(struct conn *conn)
{
    conn->started_ns = run_start_ns + (uint64_t)((double)started_count * 1e9 / options.rate);
    started_count++;
    start_request(conn);
}

static void next(struct conn *conn)
{
    if (stage == STAGE_RUN && options.mode == MODE_RATE && started_count < due_count)
        start_due(conn);
    else if (is_next_wanted(conn))
        launch(conn);
    else
        park(conn);
}

static void on_fault(struct conn *conn, enum fault fault, const char *detail)
{
    bool was_opening = conn->state == STATE_CONNECTING || conn->state == STATE_HANDSHAKE;
    unsigned long code = ERR_get_error();

    if (first_fault[0] == '\0')
        snprintf(first_fault, sizeof first_fault, "%s: %s%s%s", fault_names[fault], detail, code != 0 ? ": " : "",
                 code != 0 && ERR_reason_error_string(code) != NULL ? ERR_reason_error_string(code) : "");
    ERR_clear_error();
    faults[fault]++;
    close_conn(conn);
    if (stage == STAGE_WARM_UP && was_opening)
        opening--;
    uint64_t total = 0;
    for (int i = 0; i < FAULT_COUNT; i++)
        total += faults[i];
    if (total > ERRORS_MAX || stage == STAGE_WARM_UP) {
        fprintf(stderr, "load: %s\n", first_fault);
        exit(1);
    }
    if (options.mode == MODE_RATE) {
        conn->started_ns = now_ns();
        open_conn(conn); /* not counted as an operation, but the connection is needed again */
    } else {
        next(conn);
    }
}

static void on_operation(struct conn *conn)
{
    if (stage == STAGE_WARM_UP) {
        conn->warmed++;
        return;
    }
    histogram_add(&latency, now_ns() - conn->started_ns);
    ops++;
}

static void on_handshake(struct conn *conn)
{
    struct negotiated now = {0};
    X509 *certificate = SSL_get0_peer_certificate(conn->ssl);
    EVP_PKEY *key = certificate != NULL ? X509_get0_pubkey(certificate) : NULL;
    const char *key_name = key != NULL ? EVP_PKEY_get0_type_name(key) : NULL;
    int group = (int)SSL_get_negotiated_group(conn->ssl);
    const char *group_name = group != 0 ? SSL_group_to_name(conn->ssl, group) : NULL;

    handshakes++;
    if (SSL_session_reused(conn->ssl))
        resumed++;
    snprintf(now.protocol, sizeof now.protocol, "%s", SSL_get_version(conn->ssl));
    snprintf(now.cipher, sizeof now.cipher, "%s", SSL_get_cipher_name(conn->ssl));
    snprintf(now.group, sizeof now.group, "%s", group_name != NULL ? group_name : "-");
    snprintf(now.key, sizeof now.key, "%s %d", key_name != NULL ? key_name : "-",
             key != NULL ? EVP_PKEY_get_bits(key) : 0);
    if (negotiated.protocol[0] == '\0')
        negotiated = now;
    else if (memcmp(&negotiated, &now, sizeof now) != 0)
        differing++;
}

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct conn *conn = SSL_get_app_data(ssl);

    /* a copy, which the way in which this connection ends cannot spoil */
    SSL_SESSION_free(conn->session);
    conn->session = SSL_SESSION_dup(session);
    return 0;
}

static void open_conn(struct conn *conn)
{
    conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (conn->fd < 0)
        fail("socket");
    (void)setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    conn->state = STATE_CONNECTING;
    if (connect(conn->fd, (struct sockaddr *)&options.address, sizeof options.address) < 0 && errno != EINPROGRESS) {
        on_fault(conn, FAULT_CONNECT, strerror(errno));
        return;
    }
    watch(conn, EPOLLOUT);
}

/* After an SSL call that did not succeed. True: wait for the event that is armed now. */
static bool wait_for_tls(struct conn *conn, int result)
{
    switch (SSL_get_error(conn->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        watch(conn, EPOLLIN);
        return true;
    case SSL_ERROR_WANT_WRITE:
        watch(conn, EPOLLOUT);
        return true;
    default:
        return false;
    }
}

static void on_connected(struct conn *conn)
{
    int error = 0;
    socklen_t length = sizeof error;

    if (getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 || error != 0) {
        on_fault(conn, FAULT_CONNECT, strerror(error));
        return;
    }
    if (!options.plain) {
        conn->ssl = SSL_new(context);
        if (conn->ssl == NULL || SSL_set_fd(conn->ssl, conn->fd) != 1)
            fail("SSL_new");
        SSL_set_app_data(conn->ssl, conn);
        SSL_set_connect_state(conn->ssl);
        (void)SSL_set_tlsext_host_name(conn->ssl, "bench.test");
        if (options.resume && conn->session != NULL)
            SSL_set_session(conn->ssl, conn->session);
    }
    conn->state = STATE_HANDSHAKE;
}

/* False: wait. */
static bool shake_hands(struct conn *conn)
{
    if (!options.plain) {
        int result = SSL_do_handshake(conn->ssl);

        if (result != 1) {
            if (!wait_for_tls(conn, result))
                on_fault(conn, FAULT_TLS, "handshake");
            return false;
        }
        on_handshake(conn);
    }
    if (stage == STAGE_WARM_UP)
        opening--;
    if (options.mode == MODE_RATE && stage != STAGE_WARM_UP) { /* opened again after a fault */
        next(conn);
        return false;
    }
    conn->state = STATE_SENDING;
    conn->sent = 0;
    conn->head_length = 0;
    conn->head_done = false;
    return true;
}

/* > 0: bytes; 0: wait; -1: a fault, which has been dealt with. */
static long send_some(struct conn *conn, const char *bytes, size_t length)
{
    if (options.plain) {
        ssize_t n = send(conn->fd, bytes, length, MSG_NOSIGNAL);

        if (n < 0 && errno == EAGAIN) {
            watch(conn, EPOLLOUT);
            return 0;
        }
        if (n < 0)
            on_fault(conn, FAULT_CLOSED, strerror(errno));
        return n;
    }
    size_t sent = 0;
    int result = SSL_write_ex(conn->ssl, bytes, length, &sent);
    if (result == 1)
        return (long)sent;
    if (wait_for_tls(conn, result))
        return 0;
    on_fault(conn, FAULT_CLOSED, "while sending");
    return -1;
}

/* The same; -2: the peer has ended the connection in order. */
static long receive_some(struct conn *conn)
{
    if (options.plain) {
        ssize_t n = recv(conn->fd, scratch, SCRATCH, 0);

        if (n < 0 && errno == EAGAIN) {
            watch(conn, EPOLLIN);
            return 0;
        }
        if (n == 0)
            return -2;
        if (n < 0)
            on_fault(conn, FAULT_CLOSED, strerror(errno));
        return n;
    }
    size_t got = 0;
    int result = SSL_read_ex(conn->ssl, scratch, SCRATCH, &got);
    if (result == 1)
        return (long)got;
    int error = SSL_get_error(conn->ssl, result);
    if (error == SSL_ERROR_ZERO_RETURN)
        return -2;
    if (wait_for_tls(conn, result))
        return 0;
    if (conn->state == STATE_ENDING) /* an end without close_notify is an end */
        return -2;
    on_fault(conn, FAULT_CLOSED, "while receiving");
    return -1;
}

static bool send_request(struct conn *conn)
{
    uint64_t total = request_length + options.post;

    while (conn->sent < total) {
        bool in_head = conn->sent < request_length;
        uint64_t left = in_head ? request_length - conn->sent : total - conn->sent;
        long n = send_some(conn, in_head ? request + conn->sent : pattern, left < SCRATCH ? (size_t)left : SCRATCH);

        if (n <= 0)
            return false;
        conn->sent += (uint64_t)n;
        if (stage != STAGE_WARM_UP)
            bytes_out += (uint64_t)n;
    }
    conn->state = STATE_RECEIVING;
    return true;
}

/* The reply's head, and the part of its body that came with it. False: it is no reply. */
static bool take_head(struct conn *conn, size_t length)
{
    size_t before = conn->head_length;
    size_t taken = length < HEAD_MAX - before ? length : HEAD_MAX - before;

    memcpy(conn->head + before, scratch, taken);
    conn->head_length += taken;
    conn->head[conn->head_length] = '\0';

    char *end = strstr(conn->head, "\r\n\r\n");
    if (end == NULL)
        return conn->head_length < HEAD_MAX;
    char *field = strcasestr(conn->head, "\r\nContent-Length:");
    if (strncmp(conn->head, "HTTP/1.1 200 ", 13) != 0 || field == NULL || field > end)
        return false;
    uint64_t body = strtoull(field + 17, NULL, 10);
    uint64_t came = before + length - (size_t)(end + 4 - conn->head);
    conn->head_done = true;
    conn->body_left = body - came;
    return came <= body;
}

static bool receive_reply(struct conn *conn)
{
    while (!conn->head_done || conn->body_left > 0) {
        long n = receive_some(conn);

        if (n == -2)
            on_fault(conn, FAULT_CLOSED, "before the reply was complete");
        if (n <= 0)
            return false;
        if (stage != STAGE_WARM_UP)
            bytes_in += (uint64_t)n;
        if (options.mode == MODE_HELLO)
            return true;
        if (!conn->head_done) {
            if (!take_head(conn, (size_t)n)) {
                on_fault(conn, FAULT_REPLY, "not 200, or of another length");
                return false;
            }
        } else if ((uint64_t)n > conn->body_left) {
            on_fault(conn, FAULT_REPLY, "more than announced");
            return false;
        } else {
            conn->body_left -= (uint64_t)n;
        }
    }
    return true;
}

/* close_notify and FIN, then everything up to the peer's end. */
static void start_ending(struct conn *conn)
{
    conn->state = STATE_ENDING;
    if (!options.plain)
        (void)SSL_shutdown(conn->ssl);
    shutdown(conn->fd, SHUT_WR);
    watch(conn, EPOLLIN);
}

static void on_event(struct conn *conn, uint32_t events)
{
    (void)events;
    ERR_clear_error();
    if (conn->state == STATE_CONNECTING)
        on_connected(conn);
    if (conn->state == STATE_HANDSHAKE && !shake_hands(conn))
        return;
    if (conn->state == STATE_SENDING) {
        if (send_request(conn))
            watch(conn, EPOLLIN);
        return;
    }
    if (conn->state == STATE_RECEIVING) {
        if (!receive_reply(conn))
            return;
        on_operation(conn);
        if (options.mode == MODE_HELLO) {
            const struct linger reset = {.l_onoff = 1};

            (void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
            close_conn(conn);
        }
        if (options.mode != MODE_CONNECT) {
            next(conn);
            return;
        }
        start_ending(conn);
        return;
    }
    if (conn->state == STATE_ENDING) {
        long n;

        while ((n = receive_some(conn)) > 0)
            ;
        if (n == -2) {
            close_conn(conn);
            next(conn);
        }
        return;
    }
    if (conn->state == STATE_PARKED) { /* a late ticket, or the end */
        long n = receive_some(conn);

        if (n == -2 || n > 0)
            on_fault(conn, FAULT_CLOSED, n > 0 ? "bytes that were not asked for" : "while idle");
    }
}

/* --- the run --- */

static void open_more(void)
{
    while (opening < OPENING_MAX && next_opened < options.connections) {
        opening++;
        launch(&conns[next_opened++]);
    }
}

static void on_timer(void)
{
    uint64_t expirations;

    if (read(timer, &expirations, sizeof expirations) != sizeof expirations)
        return;
    due_count = (uint64_t)((double)(now_ns() - run_start_ns) * options.rate / 1e9) + 1;
    if (due_count > options.count)
        due_count = options.count;
    while (stage == STAGE_RUN && started_count < due_count && parked > 0)
        start_due(&conns[parked_list[--parked]]);
}

static void turn(int timeout_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(poller, events, EVENTS, timeout_ms);

    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &timer)
            on_timer();
        else
            on_event(events[i].data.ptr, events[i].events);
    }
}

static void warm_up(void)
{
    uint64_t end_ns = now_ns() + WARM_UP_S * 1000000000ull;

    while (parked < options.connections && now_ns() < end_ns) {
        open_more();
        turn(100);
    }
    if (parked < options.connections) {
        fprintf(stderr, "load: only %u of %u connections were ready in time\n", parked, options.connections);
        exit(1);
    }
}

static void wait_for_go(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char line[64];

    printf("ready\n");
    fflush(stdout);
    if (poll(&input, 1, GO_S * 1000) <= 0 || read(0, line, sizeof line) <= 0)
        exit(1);
}

static void start_timer(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &timer};
    long period_ns = (long)(1e9 / options.rate);
    struct itimerspec spec = {{period_ns / 1000000000, period_ns % 1000000000}, {0, 1}};

    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timer < 0 || timerfd_settime(timer, 0, &spec, NULL) < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, timer, &event) < 0)
        fail("timerfd");
}

static uint64_t run(void)
{
    unsigned count = parked;

    memset(&latency, 0, sizeof latency);
    handshakes = resumed = differing = 0;
    stage = STAGE_RUN;
    run_start_ns = now_ns();
    run_end_ns = run_start_ns + (uint64_t)(options.seconds * 1e9);
    hard_end_ns = run_end_ns + FINISH_S * 1000000000ull;
    if (options.mode == MODE_IDLE) {
        stage = STAGE_FINISH;
        return 1;
    }
    if (options.mode == MODE_RATE) {
        start_timer();
    } else {
        parked = 0;
        for (unsigned i = 0; i < count; i++)
            next(&conns[i]);
    }
    while (now_ns() < run_end_ns && (parked < options.connections || options.mode == MODE_RATE) && ops < options.count)
        turn(10);
    uint64_t until_ns = now_ns();
    stage = STAGE_FINISH;
    while (parked < options.connections && now_ns() < hard_end_ns)
        turn(10);
    faults[FAULT_STUCK] += options.connections - parked;
    /* what was under way at the end has been counted: so does the time that it took, but not the wait for the hard end */
    return (parked < options.connections ? until_ns : now_ns()) - run_start_ns;
}

static void report(uint64_t took_ns)
{
    struct rusage usage;
    double own = 0;

    if (getrusage(RUSAGE_SELF, &usage) == 0)
        own = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("{\"ops\": %llu, \"seconds\": %.6f, \"bytes_in\": %llu, \"bytes_out\": %llu, \"connections\": %u, ",
           (unsigned long long)ops, (double)took_ns / 1e9, (unsigned long long)bytes_in, (unsigned long long)bytes_out,
           options.connections);
    printf("\"handshakes\": %llu, \"resumed\": %llu, \"differing\": %llu, \"late\": %llu, \"load_cpu_seconds\": %.3f, ",
           (unsigned long long)handshakes, (unsigned long long)resumed, (unsigned long long)differing,
           (unsigned long long)(due_count - started_count), own);
    printf("\"protocol\": \"%s\", \"cipher\": \"%s\", \"group\": \"%s\", \"key\": \"%s\", ", negotiated.protocol,
           negotiated.cipher, negotiated.group, negotiated.key);
    printf("\"latency_us\": {\"mean\": %.1f",
           latency.count > 0 ? (double)latency.sum_ns / (double)latency.count / 1e3 : 0.0);
    static const struct {
        const char *name;
        double part;
    } wanted[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        printf(", \"%s\": %.1f", wanted[i].name, (double)histogram_at(&latency, wanted[i].part) / 1e3);
    printf(", \"max\": %.1f}, \"errors\": {", (double)latency.max_ns / 1e3);
    for (int i = 0; i < FAULT_COUNT; i++)
        printf("%s\"%s\": %llu", i > 0 ? ", " : "", fault_names[i], (unsigned long long)faults[i]);
    for (char *p = first_fault; *p != '\0'; p++)
        if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
            *p = '\'';
    printf("}, \"first_error\": \"%s\", \"library\": \"%s\"}\n", first_fault, OpenSSL_version(OPENSSL_VERSION));
    fflush(stdout);
}

/* --- set up --- */

static void make_request(void)
{
    /* --head browser: what a browser sends, 548 bytes with these values; else what a load generator sends */
    static const char browser[] =
        "Connection: keep-alive\r\nCache-Control: max-age=0\r\n"
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
        "Safari/537.36\r\n"
        "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n"
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
        "Accept-Encoding: gzip, deflate, br\r\nAccept-Language: en-GB,en;q=0.9,de;q=0.8\r\n"
        "Cookie: session=2f1c9a7be04d4c6e8d3f5a6b7c8d9e0f; theme=dark\r\n";
    char length[64] = "";

    if (options.post > 0)
        snprintf(length, sizeof length, "Content-Length: %llu\r\n", (unsigned long long)options.post);
    request_length = (size_t)snprintf(request, sizeof request, "%s /%llu HTTP/1.1\r\nHost: bench.test\r\n%s%s\r\n",
                                      options.post > 0 ? "POST" : "GET", (unsigned long long)options.size, length,
                                      options.browser ? browser : "");
}

static int protocol_number(const char *name)
{
    if (strcmp(name, "1.2") == 0)
        return TLS1_2_VERSION;
    return TLS1_3_VERSION;
}

static void make_context(void)
{
    bool fine = true;

    context = SSL_CTX_new(TLS_client_method());
    if (context == NULL)
        fail("SSL_CTX_new");
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, options.mode == MODE_IDLE ? 0 : 128 * 1024);
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
    if (options.protocol != NULL) {
        int number = protocol_number(options.protocol);

        fine = SSL_CTX_set_min_proto_version(context, number) == 1 &&
               SSL_CTX_set_max_proto_version(context, number) == 1;
    }
    if (options.cipher != NULL)
        fine = fine &&
               (strncmp(options.cipher, "TLS_", 4) == 0 ? SSL_CTX_set_ciphersuites(context, options.cipher)
                                                        : SSL_CTX_set_cipher_list(context, options.cipher)) == 1;
    if (options.group != NULL)
        fine = fine && SSL_CTX_set1_groups_list(context, options.group) == 1;
    if (options.resume) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, on_session);
    } else {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    }
    if (!fine) {
        fprintf(stderr, "load: the TLS library does not know this protocol, cipher or group\n");
        exit(1);
    }
}

/* The first flight of a handshake becomes the request; from here on the socket carries plain bytes. */
static void make_hello(void)
{
    SSL *ssl = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem());
    BIO *out = BIO_new(BIO_s_mem());

    if (ssl == NULL || in == NULL || out == NULL)
        fail("ClientHello");
    SSL_set_bio(ssl, in, out);
    (void)SSL_set_tlsext_host_name(ssl, "bench.test");
    (void)SSL_connect(ssl);
    int length = BIO_read(out, request, sizeof request);
    if (length <= 0 || BIO_pending(out) > 0)
        fail("ClientHello");
    request_length = (size_t)length;
    options.post = 0;
    options.plain = true;
    SSL_free(ssl);
}

static void set_address(const char *text)
{
    char host[64];
    const char *colon = strrchr(text, ':');

    options.address.sin_family = AF_INET;
    if (colon == NULL || (size_t)(colon - text) >= sizeof host)
        fail("--address");
    snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    options.address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    if (inet_pton(AF_INET, host, &options.address.sin_addr) != 1 ||
        (ntohl(options.address.sin_addr.s_addr) >> 24) != IN_LOOPBACKNET) {
        fprintf(stderr, "load: --address is HOST:PORT with a host of 127.0.0.0/8: this is a benchmark, not a weapon\n");
        exit(1);
    }
}

static void parse_options(int argc, char **argv)
{
    static const char *const modes[] = {"connect", "request", "rate", "idle", "hello"};

    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        bool is_flag = strcmp(name, "--plain") == 0 || strcmp(name, "--resume") == 0;
        const char *value = is_flag ? "" : argv[++i];

        if (value == NULL)
            name = "?";
        if (strcmp(name, "--plain") == 0)
            options.plain = true;
        else if (strcmp(name, "--resume") == 0)
            options.resume = true;
        else if (strcmp(name, "--address") == 0)
            set_address(value);
        else if (strcmp(name, "--connections") == 0)
            options.connections = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--warm-up") == 0)
            options.warm_up = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--seconds") == 0)
            options.seconds = strtod(value, NULL);
        else if (strcmp(name, "--count") == 0)
            options.count = strtoull(value, NULL, 10);
        else if (strcmp(name, "--rate") == 0)
            options.rate = strtod(value, NULL);
        else if (strcmp(name, "--size") == 0)
            options.size = strtoull(value, NULL, 10);
        else if (strcmp(name, "--post") == 0)
            options.post = strtoull(value, NULL, 10);
        else if (strcmp(name, "--head") == 0)
            options.browser = strcmp(value, "browser") == 0;
        else if (strcmp(name, "--protocol") == 0)
            options.protocol = value;
        else if (strcmp(name, "--cipher") == 0)
            options.cipher = value;
        else if (strcmp(name, "--group") == 0)
            options.group = value;
        else if (strcmp(name, "--mode") == 0) {
            for (int m = 0; m < (int)(sizeof modes / sizeof *modes); m++)
                if (strcmp(value, modes[m]) == 0)
                    options.mode = (enum mode)m;
        } else {
            fprintf(stderr, "load: %s: see the top of load.c\n", argv[i < argc ? i : argc - 1]);
            exit(1);
        }
    }
    if (options.connections < 1 || options.connections > CONNECTIONS_MAX || options.seconds > 600 ||
        options.rate <= 0 || options.address.sin_port == 0) {
        fprintf(stderr, "load: --address, 1 to %d --connections, at most 600 --seconds\n", CONNECTIONS_MAX);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    parse_options(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    make_request();
    if (!options.plain)
        make_context();
    if (options.mode == MODE_HELLO)
        make_hello();
    conns = calloc(options.connections, sizeof *conns);
    parked_list = calloc(options.connections, sizeof *parked_list);
    scratch = malloc(SCRATCH);
    pattern = malloc(SCRATCH);
    if (conns == NULL || parked_list == NULL || scratch == NULL || pattern == NULL)
        fail("malloc");
    memset(pattern, 'p', SCRATCH);
    for (unsigned i = 0; i < options.connections; i++)
        conns[i].fd = -1;
    poller = epoll_create1(EPOLL_CLOEXEC);
    warm_up();
    wait_for_go();
    report(run());
    return 0;
}
