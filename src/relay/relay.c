#include "relay/relay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "announce.h"
#include "base/check.h"
#include "os/sock.h"

/* How soon a backend whose backlog is full is asked again. */
enum { CONNECT_RETRY_MS = 20 };

static const char *const phase_texts[] = {
#define RELAY_PHASE_TEXT(name, text) [RELAY_##name] = text,
    RELAY_PHASE_LIST(RELAY_PHASE_TEXT)
#undef RELAY_PHASE_TEXT
};

const char *relay_phase_text(enum relay_phase phase)
{
    return phase_texts[phase];
}

/* --- time --- */

static uint64_t after(uint64_t start_ms, unsigned seconds)
{
    return seconds == 0 ? RELAY_NO_DEADLINE : start_ms + (uint64_t)seconds * 1000;
}

/* A head that comes in small pieces keeps no connection open: its deadline counts from its first byte. */
static bool is_head_incomplete(const struct relay *relay)
{
    return relay->request.state == PIPE_OPEN && relay->request.held != NULL && !relay->request.backlog;
}

static void set_stream_deadline(struct relay *relay, uint64_t now_ms)
{
    const struct config *config = relay->env->config;

    if (!is_head_incomplete(relay))
        relay->head_since_ms = 0;
    else if (relay->head_since_ms == 0 || relay->request.held_anew)
        relay->head_since_ms = now_ms;
    relay->request.held_anew = false;
    if (relay->head_since_ms != 0 && config->first_data_timeout_s != 0) {
        relay->deadline_ms = after(relay->head_since_ms, config->first_data_timeout_s);
        return;
    }
    if (relay->request.moved_bytes + relay->reply.moved_bytes == 0)
        relay->deadline_ms = after(relay->accepted_ms, config->first_data_timeout_s);
    else if (relay->reply.state == PIPE_OPEN)
        relay->deadline_ms = after(now_ms, config->idle_timeout_s);
    else
        relay->deadline_ms = after(now_ms, config->half_close_timeout_s);
}

static void set_closing_deadline(struct relay *relay, uint64_t now_ms)
{
    unsigned seconds = relay->env->config->close_timeout_s;

    relay->deadline_ms = after(now_ms, seconds > 0 ? seconds : 1);
}

/* --- phases --- */

static const unsigned legal_next[] = {
    [RELAY_HANDSHAKE] = 1u << RELAY_CONNECT | 1u << RELAY_CLOSING | 1u << RELAY_CLOSED,
    [RELAY_CONNECT] = 1u << RELAY_STREAM | 1u << RELAY_CLOSING | 1u << RELAY_CLOSED,
    [RELAY_STREAM] = 1u << RELAY_CLOSING | 1u << RELAY_CLOSED,
    [RELAY_CLOSING] = 1u << RELAY_CLOSED,
    [RELAY_CLOSED] = 0,
};

static void enter(struct relay *relay, enum relay_phase phase, uint64_t now_ms)
{
    CHECK((legal_next[relay->phase] & 1u << phase) != 0);
    relay->phase = phase;
    switch (phase) {
    case RELAY_HANDSHAKE:
    case RELAY_CONNECT: /* each attempt sets its own */
        break;
    case RELAY_STREAM:
        set_stream_deadline(relay, now_ms);
        break;
    case RELAY_CLOSING:
        set_closing_deadline(relay, now_ms);
        break;
    case RELAY_CLOSED:
        relay->deadline_ms = RELAY_NO_DEADLINE;
        if (relay->client.eof_unannounced)
            metric_add(relay->env->metrics, METRIC_client_ends_unannounced, 1);
        break;
    }
}

/* The first reason is the one that counts. */
static void blame(struct relay *relay, enum close_reason reason, const char *detail)
{
    if (relay->has_reason)
        return;
    relay->has_reason = true;
    relay->reason = reason;
    relay->ended_in = relay->phase;
    snprintf(relay->detail, sizeof relay->detail, "%s", detail != NULL ? detail : "");
}

/* The backend sees a reset unless it has been told the end of the request: what it got may be cut off. */
static void close_backend(struct relay *relay)
{
    bool abort = relay->request.state != PIPE_DONE && relay->request.has_passed;

    transport_close(&relay->backend, abort);
}

/* The only way out: at once, or by way of CLOSING when the client is still to be told something. */
static void relay_close(struct relay *relay, enum close_reason reason, const char *detail, uint64_t now_ms)
{
    blame(relay, reason, detail);
    close_backend(relay);
    if (relay->phase != RELAY_CLOSED)
        enter(relay, RELAY_CLOSED, now_ms);
}

static void relay_end(struct relay *relay, enum close_reason reason, const char *detail, uint64_t now_ms)
{
    blame(relay, reason, detail);
    close_backend(relay);
    enter(relay, RELAY_CLOSING, now_ms);
}

/* The client's side has failed: by its TLS, for tls_reason, and then an alert may still have to go out; or the
 * connection as such. */
static void fail_client(struct relay *relay, enum close_reason tls_reason, uint64_t now_ms)
{
    const struct tls_conn *tls = relay->client.tls;

    if (tls != NULL && tls_conn_has_failed(tls))
        relay_end(relay, tls_reason, tls_conn_reason(tls), now_ms);
    else
        relay_close(relay, CLOSE_client_reset, strerror(errno), now_ms);
}

/* --- HANDSHAKE --- */

static void begin_connect(struct relay *relay, uint64_t now_ms);

/* The client has been refused; it is told why once the replies to its earlier requests are through. */
static void answer_refused(struct relay *relay, uint64_t now_ms)
{
    const struct filter_ops *ops = relay->env->filter_ops;
    size_t length;
    const uint8_t *answer = ops->answer(relay->filter, &length);

    if (relay->client.ops->write(&relay->client, answer, length) == IO_FAILED) {
        fail_client(relay, CLOSE_tls_error, now_ms);
        return;
    }
    relay->reply_is_whole = true;
    unsigned reason = ops->reason(relay->filter);
    if (reason == 0) {
        relay_end(relay, CLOSE_redirected, NULL, now_ms);
        return;
    }
    metric_count(&relay->env->metrics->refusals[reason]);
    relay_end(relay, CLOSE_request_refused, ops->reason_name(reason), now_ms);
}

static bool open_filter(struct relay *relay)
{
    struct filter_client client;
    struct endpoint local;

    if (relay->filter_site == NULL)
        return true;
    memset(&client, 0, sizeof client);
    endpoint_to_addr(&relay->peer, &client.source);
    sock_local(relay->client.fd, &local);
    if (local.length > 0)
        endpoint_to_addr(&local, &client.destination);
    if (relay->client.tls != NULL) {
        tls_conn_facts(relay->client.tls, &client.facts);
        client.site = tls_site_is_guarded(relay->tls_site) ? relay->tls_site : NULL;
        client.site_verifies = tls_site_verifies;
        client.site_bars = tls_site_bars;
        if (client.facts.client_cert)
            tls_conn_client_cert(relay->client.tls, &client.cert);
    }
    relay->filter = relay->env->filter_ops->open(relay->filter_site, &client);
    tls_client_cert_clear(&client.cert);
    relay->request.filter_ops = relay->reply.filter_ops = relay->env->filter_ops;
    relay->request.filter = relay->reply.filter = relay->filter;
    relay->request.is_filtered = true;
    return relay->filter != NULL;
}

static void pass_first_bytes(struct relay *relay, const uint8_t *bytes, size_t length, uint64_t now_ms)
{
    relay->request.moved_bytes += length;
    metric_add(relay->env->metrics, METRIC_request_bytes, length);
    switch (pipe_pass(&relay->request, &relay->backend, bytes, length)) {
    case PIPE_GOOD:
        return;
    case PIPE_SOURCE_FAILED:
    case PIPE_SINK_FAILED: /* the backend is not there yet: bytes can only not be kept */
        relay_close(relay, CLOSE_out_of_memory, NULL, now_ms);
        return;
    case PIPE_REFUSED:
        relay->is_refused = true;
        if (relay->env->filter_ops->may_answer(relay->filter))
            answer_refused(relay, now_ms);
        return;
    }
}

/* What the backend gets first: who the client is, and what the client has already sent. All of it waits in `unsent`. */
static void queue_first_bytes(struct relay *relay, uint64_t now_ms)
{
    uint8_t *buffer = relay->env->shared->plain;
    size_t head = relay->is_answered_here ? 0 : announce_write(relay, buffer, SCRATCH_HEAD_ROOM);
    size_t length = 0;
    bool is_told = head > 0 || relay->is_answered_here || relay->env->config->announce == ANNOUNCE_NOTHING;

    enum io io = relay->client.ops->read(&relay->client, buffer + head, PIPE_LIMIT_MIN * 2, &length);
    if (io == IO_FAILED)
        fail_client(relay, CLOSE_tls_error, now_ms);
    else if (!is_told)
        relay_end(relay, CLOSE_announce_failed, NULL, now_ms);
    else if (!open_filter(relay) || (head > 0 && relay->backend.ops->write(&relay->backend, buffer, head) == IO_FAILED))
        relay_close(relay, CLOSE_out_of_memory, NULL, now_ms);
    else if (length > 0)
        pass_first_bytes(relay, buffer + head, length, now_ms);
    if (io == IO_EOF && relay->request.state == PIPE_OPEN)
        relay->request.state = PIPE_EOF;
}

static void on_handshake_done(struct relay *relay, uint64_t now_ms)
{
    bool is_resumed = relay->client.tls != NULL && tls_conn_is_resumed(relay->client.tls);

    if (!relay->is_answered_here)
        metric_add(relay->env->metrics, is_resumed ? METRIC_handshakes_resumed : METRIC_handshakes_full, 1);
    enter(relay, RELAY_CONNECT, now_ms);
    queue_first_bytes(relay, now_ms);
    if (relay->phase == RELAY_CONNECT && relay->is_answered_here)
        enter(relay, RELAY_STREAM, now_ms);
    else if (relay->phase == RELAY_CONNECT)
        begin_connect(relay, now_ms);
}

/* The first bytes were no TLS. A client that speaks HTTP is told so in its own language. */
static void answer_plain(struct relay *relay, uint64_t now_ms)
{
    struct transport_shared *shared = relay->env->shared;
    size_t length = 0;
    const uint8_t *answer = relay->env->filter_ops->plain_answer(relay->filter_site, shared->cipher,
                                                                 relay->client.plain_length, shared->rewritten,
                                                                 SCRATCH_REWRITTEN_SIZE, &length);

    if (answer == NULL || transport_send(&relay->client, answer, length) == IO_FAILED)
        relay_close(relay, CLOSE_plain_http, NULL, now_ms);
    else
        relay_end(relay, CLOSE_plain_http, NULL, now_ms);
}

static void step_handshake(struct relay *relay, uint64_t now_ms)
{
    switch (relay->client.ops->handshake(&relay->client)) {
    case IO_OK:
        on_handshake_done(relay, now_ms);
        return;
    case IO_WANT_READ:
    case IO_WANT_WRITE:
        return;
    case IO_EOF:
        metric_add(relay->env->metrics, METRIC_handshakes_failed, 1);
        relay_close(relay, CLOSE_client_closed_early, NULL, now_ms);
        return;
    case IO_FAILED:
        metric_add(relay->env->metrics, METRIC_handshakes_failed, 1);
        if (relay->client.plain_length > 0)
            answer_plain(relay, now_ms);
        else
            fail_client(relay, CLOSE_handshake_failed, now_ms);
        return;
    }
}

/* --- CONNECT --- */

static void on_connected(struct relay *relay, uint64_t now_ms)
{
    metric_add(relay->env->metrics, METRIC_backend_connects, 1);
    relay->connect_until_ms = RELAY_NO_DEADLINE;
    relay->backend.writable = true;
    enter(relay, RELAY_STREAM, now_ms);
}

static void fail_connect(struct relay *relay, enum close_reason reason, const char *detail, uint64_t now_ms)
{
    metric_add(relay->env->metrics, METRIC_backend_connect_failures, 1);
    transport_disconnect(&relay->backend);
    relay->connect_until_ms = RELAY_NO_DEADLINE;
    relay->backend_index = (relay->backend_index + 1) % relay->env->backend_count;
    if (relay->backend_tried < relay->env->backend_count) {
        begin_connect(relay, now_ms);
        return;
    }
    relay->reply_is_whole = true; /* nothing of a reply has been cut off */
    relay_end(relay, reason, detail, now_ms);
}

/* One call of connect(); the attempt goes on while the backend's backlog is full. */
static void try_connect(struct relay *relay, uint64_t now_ms)
{
    const struct endpoint *endpoint = &relay->env->backends[relay->backend_index];

    relay->connect_waits = false;
    relay->deadline_ms = relay->connect_until_ms;
    switch (transport_connect(&relay->backend, endpoint, relay->env->config->keepalive_s)) {
    case IO_OK:
        on_connected(relay, now_ms);
        return;
    case IO_WANT_WRITE:
        return;
    case IO_WANT_READ:
        relay->connect_waits = true;
        relay->deadline_ms = now_ms + CONNECT_RETRY_MS;
        return;
    case IO_EOF:
    case IO_FAILED:
        fail_connect(relay, CLOSE_backend_refused, strerror(errno), now_ms);
        return;
    }
}

static void begin_connect(struct relay *relay, uint64_t now_ms)
{
    relay->backend_tried++;
    relay->connect_until_ms = after(now_ms, relay->env->config->backend_connect_timeout_s);
    try_connect(relay, now_ms);
}

static void step_connect(struct relay *relay, uint64_t now_ms)
{
    if (relay->backend.fd < 0 || !relay->backend.writable)
        return;
    if (relay->backend.net->connect_result(relay->backend.fd) == IO_OK)
        on_connected(relay, now_ms);
    else
        fail_connect(relay, CLOSE_backend_refused, strerror(errno), now_ms);
}

static void expire_connect(struct relay *relay, uint64_t now_ms)
{
    if (relay->connect_waits && (relay->connect_until_ms == RELAY_NO_DEADLINE || now_ms < relay->connect_until_ms))
        try_connect(relay, now_ms);
    else
        fail_connect(relay, CLOSE_backend_timeout, NULL, now_ms);
}

/* --- STREAM --- */

/* The backend takes no more; what it has already said still goes to the client. It was cut off when the reset came
 * before its end (the kernel says EPIPE when it had ended in good order before). */
static void on_backend_takes_no_more(struct relay *relay)
{
    relay->reply.broken = errno == ECONNRESET;
    chunk_drop(&relay->env->shared->pool, &relay->backend.unsent);
    relay->request.state = relay->request.state == PIPE_EOF ? PIPE_DONE : PIPE_DISCARD;
    relay->backend.finished = true;
    relay->backend.readable = true; /* to hear how it ended */
}

/* The client takes no more; what it has already sent still goes to the backend. */
static void on_client_takes_no_more(struct relay *relay)
{
    blame(relay, CLOSE_client_reset, strerror(errno));
    relay->request.broken = errno == ECONNRESET;
    chunk_drop(&relay->env->shared->pool, &relay->client.unsent);
    relay->reply.state = relay->reply.state == PIPE_EOF ? PIPE_DONE : PIPE_DISCARD;
    relay->client.finished = true;
    relay->client.readable = true;
}

static bool step_request(struct relay *relay, uint64_t now_ms, bool *progress)
{
    uint64_t before = relay->request.moved_bytes;
    enum pipe_result result = pipe_step(&relay->request, &relay->client, &relay->backend, progress);

    metric_add(relay->env->metrics, METRIC_request_bytes, relay->request.moved_bytes - before);
    switch (result) {
    case PIPE_GOOD:
        return true;
    case PIPE_SOURCE_FAILED:
        fail_client(relay, CLOSE_tls_error, now_ms);
        return false;
    case PIPE_SINK_FAILED:
        on_backend_takes_no_more(relay);
        *progress = true;
        return true;
    case PIPE_REFUSED:
        relay->is_refused = true;
        *progress = true;
        return true;
    }
    return false;
}

static bool step_reply(struct relay *relay, uint64_t now_ms, bool *progress)
{
    uint64_t before = relay->reply.moved_bytes;
    enum pipe_result result = pipe_step(&relay->reply, &relay->backend, &relay->client, progress);

    metric_add(relay->env->metrics, METRIC_reply_bytes, relay->reply.moved_bytes - before);
    switch (result) {
    case PIPE_GOOD:
        return true;
    case PIPE_SOURCE_FAILED:
        relay_end(relay, CLOSE_backend_reset, strerror(errno), now_ms);
        return false;
    case PIPE_SINK_FAILED:
        on_client_takes_no_more(relay);
        *progress = true;
        return true;
    case PIPE_REFUSED: /* replies are not filtered */
        break;
    }
    return false;
}

/* Both directions have come to an end, in whichever way. */
static void end_stream(struct relay *relay, uint64_t now_ms)
{
    relay->reply_is_whole = relay->reply.state == PIPE_DONE && !relay->reply.broken;
    if (relay->reply.broken)
        blame(relay, CLOSE_backend_reset, NULL);
    if (relay->request.state == PIPE_DISCARD)
        relay_end(relay, CLOSE_done, NULL, now_ms);
    else
        relay_close(relay, CLOSE_done, NULL, now_ms);
}

static void step_stream(struct relay *relay, uint64_t now_ms)
{
    bool progress = false;

    /* The reply first: a backend that has answered and gone is heard before a write to it fails. */
    if (!step_reply(relay, now_ms, &progress) || !step_request(relay, now_ms, &progress))
        return;
    if (relay->is_refused && relay->reply.state == PIPE_OPEN && relay->env->filter_ops->may_answer(relay->filter)) {
        answer_refused(relay, now_ms);
        return;
    }
    if (relay->request.broken && relay->client.eof) {
        relay_close(relay, CLOSE_client_reset, NULL, now_ms);
        return;
    }
    bool request_over = relay->request.state == PIPE_DONE || relay->request.state == PIPE_DISCARD;
    bool reply_over = relay->reply.state == PIPE_DONE || relay->reply.state == PIPE_DISCARD;
    bool both_lost = relay->request.state == PIPE_DISCARD && relay->reply.state == PIPE_DISCARD;
    if ((relay->reply.state == PIPE_DONE && request_over) || (relay->request.state == PIPE_DONE && reply_over) ||
        both_lost)
        end_stream(relay, now_ms);
    else if (progress)
        set_stream_deadline(relay, now_ms);
}

/* --- CLOSING: tell the client what is left to say, then wait for its end --- */

static void step_closing(struct relay *relay, uint64_t now_ms)
{
    struct transport *client = &relay->client;
    size_t length;

    if (!client->finished) {
        size_t before = client->unsent != NULL ? client->unsent->length : 0;
        enum io io = transport_finish(client, relay->reply_is_whole);

        if (io == IO_FAILED)
            relay_close(relay, CLOSE_client_reset, strerror(errno), now_ms);
        else if (client->unsent != NULL && client->unsent->length < before)
            set_closing_deadline(relay, now_ms);
        if (io != IO_OK)
            return;
    }
    /* Nothing more is decrypted: whatever comes now is only taken out of the socket, so that our last words are not
     * lost to a reset. */
    for (int i = 0; i < 4 && client->readable && !client->eof; i++) {
        enum io io = plain_transport_ops.read(client, relay->env->shared->plain, PIPE_LIMIT_MAX, &length);

        if (io == IO_EOF || io == IO_FAILED)
            client->eof = true;
    }
    if (client->eof)
        relay_close(relay, CLOSE_done, NULL, now_ms);
}

/* --- the machine --- */

void relay_init(struct relay *relay, const struct relay_env *env, const struct transport *client,
                const struct tls_site *tls_site, const struct filter_site *filter_site, const struct endpoint *peer,
                uint64_t now_ms)
{
    memset(relay, 0, sizeof *relay);
    relay->env = env;
    relay->tls_site = tls_site;
    relay->filter_site = filter_site;
    relay->phase = RELAY_HANDSHAKE;
    relay->client = *client;
    relay->client.looks_for_plain = filter_site != NULL;
    relay->peer = *peer;
    relay->accepted_ms = now_ms;
    relay->deadline_ms = after(now_ms, env->config->ssl_handshake_timeout_s);
    transport_init(&relay->backend, &plain_transport_ops, client->net, env->shared);
    pipe_init(&relay->request);
    pipe_init(&relay->reply);
}

static void note_events(struct relay *relay, unsigned events)
{
    if ((events & RELAY_CLIENT_READ) != 0)
        relay->client.readable = true;
    if ((events & RELAY_CLIENT_WRITE) != 0)
        relay->client.writable = true;
    if ((events & RELAY_BACKEND_READ) != 0)
        relay->backend.readable = true;
    if ((events & RELAY_BACKEND_WRITE) != 0)
        relay->backend.writable = true;
}

static unsigned stream_wants(const struct relay *relay)
{
    unsigned wants = 0;

    if (pipe_wants_source(&relay->request, &relay->client, &relay->backend))
        wants |= RELAY_CLIENT_READ;
    if (pipe_wants_sink(&relay->backend))
        wants |= RELAY_BACKEND_WRITE;
    if (pipe_wants_source(&relay->reply, &relay->backend, &relay->client))
        wants |= RELAY_BACKEND_READ;
    if (pipe_wants_sink(&relay->client))
        wants |= RELAY_CLIENT_WRITE;
    return wants;
}

static unsigned relay_wants(const struct relay *relay)
{
    switch (relay->phase) {
    case RELAY_HANDSHAKE:
        return relay->client.unsent != NULL ? RELAY_CLIENT_WRITE : RELAY_CLIENT_READ;
    case RELAY_CONNECT:
        return relay->backend.fd >= 0 ? RELAY_BACKEND_WRITE : 0;
    case RELAY_STREAM:
        return stream_wants(relay);
    case RELAY_CLOSING:
        return relay->client.finished ? RELAY_CLIENT_READ : RELAY_CLIENT_WRITE;
    case RELAY_CLOSED:
        return 0;
    }
    return 0;
}

unsigned relay_step(struct relay *relay, unsigned events, uint64_t now_ms)
{
    enum relay_phase before;

    note_events(relay, events);
    do {
        before = relay->phase;
        switch (before) {
        case RELAY_HANDSHAKE:
            step_handshake(relay, now_ms);
            break;
        case RELAY_CONNECT:
            step_connect(relay, now_ms);
            break;
        case RELAY_STREAM:
            step_stream(relay, now_ms);
            break;
        case RELAY_CLOSING:
            step_closing(relay, now_ms);
            break;
        case RELAY_CLOSED:
            break;
        }
    } while (relay->phase != before);
    return relay_wants(relay);
}

static enum close_reason stream_timeout_reason(const struct relay *relay)
{
    if (relay->head_since_ms != 0 && relay->env->config->first_data_timeout_s != 0)
        return CLOSE_head_timeout;
    if (relay->request.moved_bytes + relay->reply.moved_bytes == 0)
        return CLOSE_first_data_timeout;
    if (relay->reply.state == PIPE_OPEN)
        return CLOSE_idle_timeout;
    return CLOSE_half_close_timeout;
}

unsigned relay_expire(struct relay *relay, uint64_t now_ms)
{
    switch (relay->phase) {
    case RELAY_HANDSHAKE:
        metric_add(relay->env->metrics, METRIC_handshakes_failed, 1);
        relay_close(relay, CLOSE_handshake_timeout, NULL, now_ms);
        break;
    case RELAY_CONNECT:
        expire_connect(relay, now_ms);
        break;
    case RELAY_STREAM:
        relay->reply_is_whole = relay->client.unsent == NULL;
        relay_end(relay, stream_timeout_reason(relay), NULL, now_ms);
        break;
    case RELAY_CLOSING:
        relay_close(relay, CLOSE_close_timeout, NULL, now_ms);
        break;
    case RELAY_CLOSED:
        break;
    }
    return relay_step(relay, 0, now_ms);
}

void relay_shut(struct relay *relay)
{
    blame(relay, CLOSE_drained, NULL);
    if (relay->phase == RELAY_STREAM && relay->client.unsent == NULL)
        (void)!transport_finish(&relay->client, true);
    close_backend(relay);
    relay->phase = RELAY_CLOSED;
}

void relay_clear(struct relay *relay)
{
    pipe_clear(&relay->request, &relay->env->shared->pool);
    if (relay->filter != NULL)
        relay->env->filter_ops->close(relay->filter);
    relay->filter = NULL;
    transport_close(&relay->client, false);
    transport_close(&relay->backend, false);
}
