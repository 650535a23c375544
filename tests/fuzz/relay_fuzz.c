/*
 * relay_fuzz.c: any order of bytes, ends, resets, full sockets and time-outs against the connection's state machine.
 *
 * The input is a script for two sockets; the loop is played as the kernel would: only what is wanted and true is told.
 * Held: what arrives is what was sent, in order; nothing is lost unless something failed; the connection ends once both
 * sides have; no chunk is left behind.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "../unit/relay/scripted_net.c"
#include "relay/relay.h"

static struct config config;
static struct metrics_page metrics;
static struct endpoint backends[2];
static struct relay_env env;
static struct relay relay;
static struct transport_shared shared;
static uint64_t now_ms;
static unsigned wants;
static enum io handshake_result;
static bool failed;          /* something was injected that may lose bytes */
static size_t sent_bytes[2]; /* 0: by the client, 1: by the backend */

static enum io on_handshake(struct transport *transport)
{
    (void)transport;
    return handshake_result;
}

static struct transport_ops client_ops;

/* The byte at a position of either stream. */
static unsigned char pattern(size_t position)
{
    return (unsigned char)(position * 131 + position / 251);
}

static void add_input(int side, size_t count)
{
    struct script_socket *socket = side == 0 ? &script_client : &script_backend;

    if (socket->end != SCRIPT_OPEN || socket->input_length + count > SCRIPT_BYTES ||
        sent_bytes[side] + count > SCRIPT_BYTES)
        return;
    for (size_t i = 0; i < count; i++)
        socket->input[socket->input_length++] = pattern(sent_bytes[side]++);
}

static unsigned ready_events(void)
{
    unsigned events = 0;

    if (script_client.input_length > 0 || script_client.end != SCRIPT_OPEN)
        events |= RELAY_CLIENT_READ;
    if (script_client.room > 0 || script_client.send_errno != 0 || script_client.end == SCRIPT_RESET)
        events |= RELAY_CLIENT_WRITE;
    if (script_backend.input_length > 0 || script_backend.end != SCRIPT_OPEN)
        events |= RELAY_BACKEND_READ;
    if (script_backend.room > 0 || script_backend.send_errno != 0 || script_backend.end == SCRIPT_RESET)
        events |= RELAY_BACKEND_WRITE;
    return events & wants;
}

static void check_output(const struct script_socket *socket, size_t limit)
{
    CHECK(socket->output_length <= limit);
    for (size_t i = 0; i < socket->output_length; i++)
        CHECK(socket->output[i] == pattern(i));
}

static void step(unsigned events)
{
    if (relay.phase == RELAY_CLOSED)
        return;
    wants = relay_step(&relay, events, now_ms);
}

static void expire(void)
{
    if (relay.phase == RELAY_CLOSED || relay.deadline_ms == RELAY_NO_DEADLINE)
        return;
    bool only_a_retry = relay.phase == RELAY_CONNECT && relay.connect_waits;
    now_ms = relay.deadline_ms > now_ms ? relay.deadline_ms : now_ms;
    if (!only_a_retry || (relay.connect_until_ms != RELAY_NO_DEADLINE && now_ms >= relay.connect_until_ms))
        failed = true;
    wants = relay_expire(&relay, now_ms);
}

static void play(uint8_t op, uint8_t arg)
{
    switch (op % 16) {
    case 0:
        handshake_result = arg < 200 ? IO_OK : arg < 240 ? IO_WANT_READ : IO_FAILED;
        failed |= handshake_result == IO_FAILED;
        break;
    case 1:
    case 2:
        add_input(0, (size_t)arg * (op / 16 + 1) * 8);
        break;
    case 3:
    case 4:
        add_input(1, (size_t)arg * (op / 16 + 1) * 8);
        break;
    case 5:
        if (script_client.end == SCRIPT_OPEN)
            script_client.end = SCRIPT_EOF;
        break;
    case 6:
        if (script_backend.end == SCRIPT_OPEN && !script_backend.closed)
            script_backend.end = SCRIPT_EOF;
        break;
    case 7:
        if (arg > 200) {
            (arg & 1 ? &script_client : &script_backend)->end = SCRIPT_RESET;
            failed = true;
        }
        break;
    case 8:
        script_client.room = arg == 255 ? SCRIPT_BYTES : (size_t)arg * 64;
        break;
    case 9:
        script_backend.room = arg == 255 ? SCRIPT_BYTES : (size_t)arg * 64;
        break;
    case 10:
        if (arg > 220) {
            (arg & 1 ? &script_client : &script_backend)->send_errno = arg & 2 ? EPIPE : ECONNRESET;
            failed = true;
        }
        break;
    case 11:
        script_backend.connect_result = arg < 128   ? IO_OK
                                        : arg < 190 ? IO_WANT_WRITE
                                        : arg < 220 ? IO_WANT_READ
                                                    : IO_FAILED;
        break;
    case 12:
        script_backend.late_result = arg < 200 ? IO_OK : IO_FAILED;
        break;
    case 13:
        if (arg > 250)
            expire();
        else
            now_ms += arg;
        break;
    default:
        step(ready_events());
        break;
    }
    failed |= relay.has_reason && relay.reason != CLOSE_done;
}

/* Nothing hinders any more: it must come to an end by itself. */
static void finish(void)
{
    handshake_result = failed ? handshake_result : IO_OK;
    script_client.room = SCRIPT_BYTES;
    script_backend.room = SCRIPT_BYTES;
    if (script_client.end == SCRIPT_OPEN)
        script_client.end = SCRIPT_EOF;
    if (script_backend.end == SCRIPT_OPEN)
        script_backend.end = SCRIPT_EOF;
    script_backend.connect_result = IO_OK;
    script_backend.late_result = IO_OK;
    for (int i = 0; i < 10000 && relay.phase != RELAY_CLOSED; i++) {
        unsigned events = ready_events();

        if (events == 0 && wants != RELAY_CLIENT_READ && relay.phase != RELAY_HANDSHAKE)
            expire();
        else
            step(events | (relay.phase == RELAY_HANDSHAKE ? (unsigned)RELAY_CLIENT_READ : 0));
        if (relay.phase == RELAY_HANDSHAKE && handshake_result == IO_WANT_READ)
            expire();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    struct transport client;
    struct endpoint peer = {.length = 0};

    if (!ready) {
        config.ssl_handshake_timeout_s = 30;
        config.backend_connect_timeout_s = 5;
        config.first_data_timeout_s = 60;
        config.idle_timeout_s = 600;
        config.half_close_timeout_s = 40;
        config.close_timeout_s = 5;
        CHECK(transport_shared_init(&shared) == 0);
        client_ops = plain_transport_ops;
        client_ops.handshake = on_handshake;
        ready = true;
    }
    script_reset();
    env = (struct relay_env){
        .config = &config, .backends = backends, .backend_count = 2, .shared = &shared, .metrics = &metrics};
    now_ms = 1000;
    wants = 0;
    failed = false;
    handshake_result = IO_OK;
    memset(sent_bytes, 0, sizeof sent_bytes);
    transport_init(&client, &client_ops, &script_net, &shared);
    client.fd = CLIENT_FD;
    client.writable = true;
    relay_init(&relay, &env, &client, NULL, NULL, &peer, now_ms);
    wants = RELAY_CLIENT_READ;

    for (size_t i = 0; i + 1 < size; i += 2) {
        play(data[i], data[i + 1]);
        check_output(&script_backend, sent_bytes[0]);
        check_output(&script_client, sent_bytes[1]);
    }
    finish();
    CHECK(relay.phase == RELAY_CLOSED);
    failed |= relay.has_reason && relay.reason != CLOSE_done;
    check_output(&script_backend, sent_bytes[0]);
    check_output(&script_client, sent_bytes[1]);
    if (!failed) {
        CHECK(script_backend.output_length == sent_bytes[0]);
        CHECK(script_client.output_length == sent_bytes[1]);
        CHECK(!script_backend.aborted);
    }
    relay_clear(&relay);
    CHECK(shared.pool.used_bytes == 0);
    return 0;
}
