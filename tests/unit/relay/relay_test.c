/* The connection's state machine, edge by edge, over scripted sockets. */
#include "relay/relay.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scripted_net.h"

static struct config config;
static struct metrics_page metrics;
static struct transport_shared shared;
static struct endpoint backends[2];
static struct relay_env env;
static struct relay relay;
static uint64_t now_ms;
static enum io handshake_result;

static enum io on_handshake(struct transport *transport)
{
    (void)transport;
    return handshake_result;
}

/* The client's side without TLS, but with a handshake that the test decides. */
static struct transport_ops client_ops;

static int set_up(void **state)
{
    (void)state;
    memset(&config, 0, sizeof config);
    memset(&metrics, 0, sizeof metrics);
    config.ssl_handshake_timeout_s = 30;
    config.backend_connect_timeout_s = 5;
    config.first_data_timeout_s = 60;
    config.idle_timeout_s = 600;
    config.half_close_timeout_s = 40;
    config.close_timeout_s = 5;
    assert_int_equal(0, transport_shared_init(&shared));
    script_reset();
    env = (struct relay_env){
        .config = &config, .backends = backends, .backend_count = 1, .shared = &shared, .metrics = &metrics};
    client_ops = plain_transport_ops;
    client_ops.handshake = on_handshake;
    handshake_result = IO_OK;
    now_ms = 1000000;

    struct transport client;
    struct endpoint peer = {.length = 0};
    transport_init(&client, &client_ops, &script_net, &shared);
    client.fd = CLIENT_FD;
    client.writable = true;
    relay_init(&relay, &env, &client, NULL, NULL, &peer, now_ms);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    relay_clear(&relay);
    assert_int_equal(0, shared.pool.used_bytes); /* every chunk came back */
    transport_shared_clear(&shared);
    script_free();
    return 0;
}

static unsigned happen(unsigned events)
{
    return relay_step(&relay, events, now_ms);
}

static unsigned stream(void)
{
    return happen(0);
}

static void assert_output(const struct script_socket *socket, const char *text)
{
    assert_int_equal(strlen(text), socket->output_length);
    assert_memory_equal(text, socket->output, socket->output_length);
}

static void test_request_and_reply(void **state)
{
    (void)state;
    assert_int_equal(RELAY_CLIENT_READ | RELAY_BACKEND_READ, stream());
    assert_int_equal(RELAY_STREAM, relay.phase);
    script_input(&script_client, "ping");
    assert_int_equal(RELAY_CLIENT_READ | RELAY_BACKEND_READ, happen(RELAY_CLIENT_READ));
    assert_output(&script_backend, "ping");
    script_input(&script_backend, "pong");
    assert_int_equal(RELAY_CLIENT_READ | RELAY_BACKEND_READ, happen(RELAY_BACKEND_READ));
    assert_output(&script_client, "pong");
    /* one read and one write for each: nothing was read only to hear that nothing is there */
    assert_int_equal(1, script_client.recv_calls);
    assert_int_equal(1, script_client.send_calls);
    assert_int_equal(1, script_backend.recv_calls);
    assert_int_equal(1, script_backend.send_calls);
    assert_int_equal(0, shared.pool.used_bytes);
}

static void test_handshake_waits_and_times_out(void **state)
{
    (void)state;
    handshake_result = IO_WANT_READ;
    assert_int_equal(RELAY_CLIENT_READ, happen(0));
    assert_int_equal(now_ms + 30000, relay.deadline_ms);
    now_ms += 10000;
    assert_int_equal(RELAY_CLIENT_READ, happen(RELAY_CLIENT_READ));
    assert_int_equal(1000000 + 30000, relay.deadline_ms); /* counts from accept, whatever came */
    now_ms += 20000;
    assert_int_equal(0, relay_expire(&relay, now_ms));
    assert_int_equal(RELAY_CLOSED, relay.phase);
    assert_int_equal(CLOSE_handshake_timeout, relay.reason);
    assert_int_equal(1, metrics.counters[METRIC_handshakes_failed]);
    assert_int_equal(0, script_backend.connect_calls);
}

static void test_client_leaves_during_handshake(void **state)
{
    (void)state;
    handshake_result = IO_EOF;
    assert_int_equal(0, happen(RELAY_CLIENT_READ));
    assert_int_equal(RELAY_CLOSED, relay.phase);
    assert_int_equal(CLOSE_client_closed_early, relay.reason);
    assert_int_equal(RELAY_HANDSHAKE, relay.ended_in);
}

static void test_first_bytes_wait_for_the_backend(void **state)
{
    (void)state;
    script_backend.connect_result = IO_WANT_WRITE;
    script_input(&script_client, "early");
    assert_int_equal(RELAY_BACKEND_WRITE, happen(RELAY_CLIENT_READ));
    assert_int_equal(RELAY_CONNECT, relay.phase);
    assert_output(&script_backend, "");
    assert_int_equal(RELAY_CLIENT_READ | RELAY_BACKEND_READ, happen(RELAY_BACKEND_WRITE));
    assert_output(&script_backend, "early");
}

static void test_backend_refuses_late(void **state)
{
    (void)state;
    script_backend.connect_result = IO_WANT_WRITE;
    script_backend.late_result = IO_FAILED;
    script_input(&script_client, "early");
    assert_int_equal(RELAY_BACKEND_WRITE, happen(RELAY_CLIENT_READ));
    assert_int_equal(RELAY_CLIENT_READ, happen(RELAY_BACKEND_WRITE));
    assert_int_equal(RELAY_CLOSING, relay.phase);
    assert_int_equal(CLOSE_backend_refused, relay.reason);
    assert_true(script_client.finished); /* a clean end, then the client's own is awaited */
    assert_true(script_backend.closed);
    script_client.end = SCRIPT_EOF;
    assert_int_equal(0, happen(RELAY_CLIENT_READ));
    assert_int_equal(RELAY_CLOSED, relay.phase);
}

static void test_second_backend_is_tried(void **state)
{
    (void)state;
    env.backend_count = 2;
    script_backend.connect_result = IO_WANT_WRITE;
    script_backend.late_result = IO_FAILED;
    script_input(&script_client, "hello");
    assert_int_equal(RELAY_BACKEND_WRITE, happen(RELAY_CLIENT_READ));
    assert_int_equal(RELAY_BACKEND_WRITE, happen(RELAY_BACKEND_WRITE));
    assert_int_equal(2, script_backend.connect_calls);
    script_backend.late_result = IO_OK;
    assert_int_equal(RELAY_CLIENT_READ | RELAY_BACKEND_READ, happen(RELAY_BACKEND_WRITE));
    assert_output(&script_backend, "hello"); /* nothing was lost with the first */
    assert_int_equal(1, metrics.counters[METRIC_backend_connect_failures]);
}

static void test_backend_never_answers(void **state)
{
    (void)state;
    script_backend.connect_result = IO_WANT_WRITE;
    assert_int_equal(RELAY_BACKEND_WRITE, happen(RELAY_CLIENT_READ));
    assert_int_equal(now_ms + 5000, relay.deadline_ms);
    now_ms += 5000;
    (void)relay_expire(&relay, now_ms);
    assert_int_equal(CLOSE_backend_timeout, relay.reason);
    assert_true(script_backend.closed);
    now_ms += 5000;
    (void)relay_expire(&relay, now_ms);
    assert_int_equal(RELAY_CLOSED, relay.phase);
    assert_int_equal(CLOSE_backend_timeout, relay.reason); /* the first reason stays */
}

static void test_full_backlog_is_tried_again(void **state)
{
    (void)state;
    script_backend.connect_result = IO_WANT_READ;
    assert_int_equal(0, happen(RELAY_CLIENT_READ));
    assert_int_equal(RELAY_CONNECT, relay.phase);
    assert_true(relay.deadline_ms > now_ms && relay.deadline_ms < now_ms + 1000);
    now_ms = relay.deadline_ms;
    script_backend.connect_result = IO_OK;
    assert_int_equal(RELAY_CLIENT_READ | RELAY_BACKEND_READ, relay_expire(&relay, now_ms));
    assert_int_equal(RELAY_STREAM, relay.phase);
}

static void test_full_backlog_ends_with_the_connect_timeout(void **state)
{
    (void)state;
    script_backend.connect_result = IO_WANT_READ;
    (void)happen(RELAY_CLIENT_READ);
    while (relay.phase == RELAY_CONNECT) {
        assert_true(relay.deadline_ms <= 1000000 + 5000 + 1000);
        now_ms = relay.deadline_ms;
        (void)relay_expire(&relay, now_ms);
    }
    assert_int_equal(CLOSE_backend_timeout, relay.reason);
}

static void test_slow_client_stops_the_backend(void **state)
{
    (void)state;
    (void)stream();
    script_client.room = 1000;
    script_input_bytes(&script_backend, 'x', 5000);
    assert_int_equal(RELAY_CLIENT_READ | RELAY_CLIENT_WRITE, happen(RELAY_BACKEND_READ));
    assert_true(shared.pool.used_bytes > 0);
    assert_int_equal(1000, script_client.output_length);
    script_input_bytes(&script_backend, 'y', 100);
    (void)happen(RELAY_BACKEND_READ);
    assert_int_equal(1, script_backend.recv_calls); /* the backend is not read meanwhile */
    script_client.room = SCRIPT_BYTES;
    assert_int_equal(RELAY_CLIENT_READ | RELAY_BACKEND_READ, happen(RELAY_CLIENT_WRITE));
    assert_int_equal(5100, script_client.output_length);
    assert_int_equal(0, shared.pool.used_bytes); /* an idle connection owns no buffer */
}

static void test_eof_with_unsent_bytes_loses_none(void **state)
{
    (void)state;
    (void)stream();
    script_client.room = 10;
    script_input(&script_backend, "the whole reply, and then the end");
    script_backend.end = SCRIPT_EOF;
    (void)happen(RELAY_BACKEND_READ);
    assert_false(script_client.finished);
    script_client.room = SCRIPT_BYTES;
    (void)happen(RELAY_CLIENT_WRITE);
    (void)happen(RELAY_BACKEND_READ);
    assert_output(&script_client, "the whole reply, and then the end");
    assert_true(script_client.finished);
}

static void test_request_half_close(void **state)
{
    (void)state;
    (void)stream();
    script_input(&script_client, "all of it");
    script_client.end = SCRIPT_EOF;
    (void)happen(RELAY_CLIENT_READ);
    assert_int_equal(RELAY_BACKEND_READ, happen(RELAY_CLIENT_READ));
    assert_true(script_backend.finished);
    assert_int_equal(now_ms + 600000, relay.deadline_ms); /* the reply may take its time */
    script_input(&script_backend, "late answer");
    script_backend.end = SCRIPT_EOF;
    (void)happen(RELAY_BACKEND_READ);
    (void)happen(RELAY_BACKEND_READ);
    assert_output(&script_client, "late answer");
    assert_int_equal(RELAY_CLOSED, relay.phase);
    assert_int_equal(CLOSE_done, relay.reason);
    assert_false(script_backend.aborted);
}

static void test_reply_half_close(void **state)
{
    (void)state;
    (void)stream();
    script_input(&script_backend, "bye");
    script_backend.end = SCRIPT_EOF;
    (void)happen(RELAY_BACKEND_READ);
    assert_int_equal(RELAY_CLIENT_READ, happen(RELAY_BACKEND_READ));
    assert_true(script_client.finished);
    assert_int_equal(now_ms + 40000, relay.deadline_ms);
    script_input(&script_client, "still talking");
    script_client.end = SCRIPT_EOF;
    (void)happen(RELAY_CLIENT_READ);
    (void)happen(RELAY_CLIENT_READ);
    assert_output(&script_backend, "still talking");
    assert_true(script_backend.finished);
    assert_int_equal(RELAY_CLOSED, relay.phase);
}

static void test_half_close_timeout(void **state)
{
    (void)state;
    (void)stream();
    script_input(&script_backend, "bye");
    script_backend.end = SCRIPT_EOF;
    (void)happen(RELAY_BACKEND_READ);
    (void)happen(RELAY_BACKEND_READ);
    now_ms = relay.deadline_ms;
    (void)relay_expire(&relay, now_ms);
    assert_int_equal(CLOSE_half_close_timeout, relay.reason);
}

static void test_first_data_then_idle_timeout(void **state)
{
    (void)state;
    (void)stream();
    assert_int_equal(1000000 + 60000, relay.deadline_ms);
    now_ms += 50000;
    script_input(&script_backend, "220 ready");
    (void)happen(RELAY_BACKEND_READ);
    assert_int_equal(now_ms + 600000, relay.deadline_ms);
    now_ms = relay.deadline_ms;
    (void)relay_expire(&relay, now_ms);
    assert_int_equal(CLOSE_idle_timeout, relay.reason);
    assert_int_equal(RELAY_CLOSING, relay.phase);
    assert_true(script_client.finished);
}

static void test_no_first_data(void **state)
{
    (void)state;
    (void)stream();
    now_ms = relay.deadline_ms;
    (void)relay_expire(&relay, now_ms);
    assert_int_equal(CLOSE_first_data_timeout, relay.reason);
}

static void test_timeouts_of_zero_are_off(void **state)
{
    (void)state;
    config.first_data_timeout_s = 0;
    config.idle_timeout_s = 0;
    (void)stream();
    assert_int_equal(RELAY_NO_DEADLINE, relay.deadline_ms);
    script_input(&script_client, "x");
    (void)happen(RELAY_CLIENT_READ);
    assert_int_equal(RELAY_NO_DEADLINE, relay.deadline_ms);
}

static void test_backend_reset_is_told_after_its_last_bytes(void **state)
{
    (void)state;
    (void)stream();
    script_client.room = 4;
    script_input(&script_backend, "partial");
    script_backend.end = SCRIPT_RESET;
    (void)happen(RELAY_BACKEND_READ);
    script_client.room = SCRIPT_BYTES;
    (void)happen(RELAY_CLIENT_WRITE);
    (void)happen(RELAY_BACKEND_READ);
    assert_output(&script_client, "partial");
    assert_int_equal(CLOSE_backend_reset, relay.reason);
    assert_false(relay.reply_is_whole);
    assert_int_equal(RELAY_CLOSING, relay.phase);
    assert_true(script_client.finished);
}

static void test_client_reset_resets_the_backend(void **state)
{
    (void)state;
    (void)stream();
    script_input(&script_client, "half a req");
    script_client.end = SCRIPT_RESET;
    (void)happen(RELAY_CLIENT_READ);
    (void)happen(RELAY_CLIENT_READ);
    assert_int_equal(RELAY_CLOSED, relay.phase);
    assert_int_equal(CLOSE_client_reset, relay.reason);
    assert_true(script_backend.aborted); /* it can tell that the request is not whole */
}

static void test_backend_answers_and_stops_reading(void **state)
{
    (void)state;
    (void)stream();
    script_backend.send_errno = EPIPE; /* its end came before the reset */
    script_input(&script_backend, "413 too large");
    script_backend.end = SCRIPT_EOF;
    script_input(&script_client, "a long upload");
    (void)happen(RELAY_CLIENT_READ | RELAY_BACKEND_READ);
    (void)happen(RELAY_BACKEND_READ);
    assert_output(&script_client, "413 too large");
    assert_true(relay.reply_is_whole);
    assert_int_equal(RELAY_CLOSING, relay.phase);
    script_input(&script_client, " that goes on");
    script_client.end = SCRIPT_EOF;
    (void)happen(RELAY_CLIENT_READ);
    (void)happen(RELAY_CLIENT_READ);
    assert_int_equal(RELAY_CLOSED, relay.phase);
}

static void test_backend_reset_while_writing_cuts_the_reply(void **state)
{
    (void)state;
    (void)stream();
    script_backend.send_errno = ECONNRESET;
    script_input(&script_client, "upload");
    (void)happen(RELAY_CLIENT_READ);
    script_backend.end = SCRIPT_EOF; /* what the kernel says once the reset has been told */
    (void)happen(RELAY_BACKEND_READ);
    assert_int_equal(CLOSE_backend_reset, relay.reason);
    assert_false(relay.reply_is_whole);
}

static void test_client_gone_but_its_request_still_arrives(void **state)
{
    (void)state;
    (void)stream();
    script_input(&script_client, "log line");
    script_client.end = SCRIPT_EOF;
    script_client.send_errno = EPIPE;
    script_input(&script_backend, "ok");
    (void)happen(RELAY_CLIENT_READ | RELAY_BACKEND_READ);
    (void)happen(RELAY_CLIENT_READ);
    assert_output(&script_backend, "log line");
    assert_true(script_backend.finished);
    assert_int_equal(RELAY_CLOSED, relay.phase);
    assert_int_equal(CLOSE_client_reset, relay.reason);
    assert_false(script_backend.aborted);
}

static void test_limit_follows_the_sink(void **state)
{
    (void)state;
    (void)stream();
    assert_int_equal(PIPE_LIMIT_MIN, relay.reply.limit);
    for (int i = 0; i < 8; i++) {
        script_input_bytes(&script_backend, 'x', 64 * 1024);
        (void)happen(RELAY_BACKEND_READ);
        (void)happen(RELAY_BACKEND_READ);
    }
    assert_true(relay.reply.limit >= 64 * 1024);
    size_t before = relay.reply.limit;
    script_client.room = 10;
    script_input_bytes(&script_backend, 'x', 20000);
    (void)happen(RELAY_BACKEND_READ);
    assert_int_equal(before / 2, relay.reply.limit);
}

static void test_one_turn_is_bounded(void **state)
{
    (void)state;
    (void)stream();
    script_input_bytes(&script_client, 'x', SCRIPT_BYTES);
    (void)happen(RELAY_CLIENT_READ);
    assert_true(relay.request.moved_bytes >= PIPE_TURN_BYTES);
    assert_true(relay.request.moved_bytes <= PIPE_TURN_BYTES + PIPE_LIMIT_MAX);
    while (script_client.input_length > 0)
        assert_int_equal(RELAY_CLIENT_READ | RELAY_BACKEND_READ, happen(RELAY_CLIENT_READ));
    assert_int_equal(SCRIPT_BYTES, script_backend.output_length);
}

static void test_shut_says_goodbye(void **state)
{
    (void)state;
    (void)stream();
    relay_shut(&relay);
    assert_int_equal(RELAY_CLOSED, relay.phase);
    assert_int_equal(CLOSE_drained, relay.reason);
    assert_true(script_client.finished);
    assert_true(script_backend.closed);
}

static void test_silent_client_in_closing_times_out(void **state)
{
    (void)state;
    script_backend.connect_result = IO_FAILED;
    (void)happen(RELAY_CLIENT_READ);
    assert_int_equal(RELAY_CLOSING, relay.phase);
    assert_int_equal(now_ms + 5000, relay.deadline_ms);
    now_ms += 5000;
    (void)relay_expire(&relay, now_ms);
    assert_int_equal(RELAY_CLOSED, relay.phase);
    assert_int_equal(CLOSE_backend_refused, relay.reason);
}

static void test_client_that_cannot_be_announced_reaches_no_backend(void **state)
{
    (void)state;
    config.announce = ANNOUNCE_IP; /* and the peer has no address */
    script_input(&script_client, "secret");
    (void)happen(RELAY_CLIENT_READ);
    assert_int_equal(RELAY_CLOSING, relay.phase);
    assert_int_equal(CLOSE_announce_failed, relay.reason);
    assert_int_equal(0, script_backend.connect_calls);
}

static void test_announcement_comes_before_the_first_byte(void **state)
{
    (void)state;
    struct sockaddr_in *peer = (struct sockaddr_in *)&relay.peer.sa.storage;

    config.announce = ANNOUNCE_IP;
    relay.peer.length = sizeof *peer;
    peer->sin_family = AF_INET;
    peer->sin_addr.s_addr = htonl(0x01020304);
    script_input(&script_client, "hi");
    (void)happen(RELAY_CLIENT_READ);
    assert_output(&script_backend, "\x02\x01\x02\x03\x04hi");
    assert_int_equal(1, script_backend.send_calls);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_request_and_reply),
        TEST(test_handshake_waits_and_times_out),
        TEST(test_client_leaves_during_handshake),
        TEST(test_first_bytes_wait_for_the_backend),
        TEST(test_backend_refuses_late),
        TEST(test_second_backend_is_tried),
        TEST(test_backend_never_answers),
        TEST(test_full_backlog_is_tried_again),
        TEST(test_full_backlog_ends_with_the_connect_timeout),
        TEST(test_slow_client_stops_the_backend),
        TEST(test_eof_with_unsent_bytes_loses_none),
        TEST(test_request_half_close),
        TEST(test_reply_half_close),
        TEST(test_half_close_timeout),
        TEST(test_first_data_then_idle_timeout),
        TEST(test_no_first_data),
        TEST(test_timeouts_of_zero_are_off),
        TEST(test_backend_reset_is_told_after_its_last_bytes),
        TEST(test_client_reset_resets_the_backend),
        TEST(test_backend_answers_and_stops_reading),
        TEST(test_backend_reset_while_writing_cuts_the_reply),
        TEST(test_client_gone_but_its_request_still_arrives),
        TEST(test_limit_follows_the_sink),
        TEST(test_one_turn_is_bounded),
        TEST(test_shut_says_goodbye),
        TEST(test_silent_client_in_closing_times_out),
        TEST(test_client_that_cannot_be_announced_reaches_no_backend),
        TEST(test_announcement_comes_before_the_first_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
