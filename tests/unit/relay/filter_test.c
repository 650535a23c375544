/* The pipe with a filter: a toy one, whose protocol is lines of text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "relay/relay.h"
#include "scripted_net.h"

/* Each line goes on with a '+' before it. "HOLD" holds until the backend has said something; "BAD" is refused; a line
 * that begins with '#' goes out unchanged. Each line wants one '.' as its reply. */
struct filter {
    bool is_held;
    unsigned unanswered;
    size_t out_max; /* to try a full buffer */
};

static struct filter toy;
static unsigned open_count;
static unsigned close_count;

static struct filter *on_open(const struct filter_site *site, const struct filter_client *client)
{
    (void)site;
    (void)client;
    open_count++;
    return &toy;
}

static void on_close(struct filter *filter)
{
    (void)filter;
    close_count++;
}

static enum filter_verdict on_request(struct filter *filter, const uint8_t *in, size_t length, uint8_t *out,
                                      size_t out_size, struct filter_step *step)
{
    size_t room = filter->out_max > 0 && filter->out_max < out_size ? filter->out_max : out_size;

    if (filter->is_held)
        return FILTER_HELD;
    while (step->consumed < length) {
        const uint8_t *line = in + step->consumed;
        const uint8_t *end = memchr(line, '\n', length - step->consumed);

        if (end == NULL)
            return FILTER_MORE;
        size_t size = (size_t)(end - line) + 1;
        if (size == 4 && memcmp(line, "BAD\n", 4) == 0)
            return FILTER_REFUSED;
        if (line[0] == '#') {
            step->consumed += size;
            step->tail = size;
            filter->unanswered++;
            return FILTER_FULL;
        }
        if (step->produced + size + 1 > room)
            return FILTER_FULL;
        out[step->produced++] = '+';
        memcpy(out + step->produced, line, size);
        step->produced += size;
        step->consumed += size;
        filter->unanswered++;
        if (size == 5 && memcmp(line, "HOLD\n", 5) == 0) {
            filter->is_held = true;
            return FILTER_HELD;
        }
    }
    return FILTER_MORE;
}

static bool on_is_holding(const struct filter *filter)
{
    return filter->is_held;
}

static void on_reply(struct filter *filter, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] == '.')
            filter->unanswered--;
    if (filter->unanswered == 0)
        filter->is_held = false;
}

static bool on_may_answer(const struct filter *filter)
{
    return filter->unanswered == 0;
}

static const uint8_t *on_answer(const struct filter *filter, size_t *length)
{
    (void)filter;
    *length = 3;
    return (const uint8_t *)"no!";
}

static unsigned on_reason(const struct filter *filter)
{
    (void)filter;
    return 7;
}

static const char *on_reason_name(unsigned reason)
{
    return reason == 7 ? "bad-line" : NULL;
}

static const struct filter_ops toy_ops = {
    .open = on_open,
    .close = on_close,
    .request = on_request,
    .is_holding = on_is_holding,
    .reply = on_reply,
    .may_answer = on_may_answer,
    .answer = on_answer,
    .reason = on_reason,
    .reason_name = on_reason_name,
};

static struct config config;
static struct metrics_page metrics;
static struct transport_shared shared;
static struct endpoint backends[1];
static struct relay_env env;
static struct relay relay;
static const uint64_t now_ms = 1000;

static int set_up(void **state)
{
    (void)state;
    memset(&config, 0, sizeof config);
    memset(&metrics, 0, sizeof metrics);
    memset(&toy, 0, sizeof toy);
    open_count = close_count = 0;
    assert_int_equal(0, transport_shared_init(&shared));
    script_reset();
    env = (struct relay_env){.config = &config,
                             .backends = backends,
                             .backend_count = 1,
                             .shared = &shared,
                             .metrics = &metrics,
                             .filter_ops = &toy_ops};

    struct transport client;
    struct endpoint peer = {.length = 0};
    transport_init(&client, &plain_transport_ops, &script_net, &shared);
    client.fd = CLIENT_FD;
    client.writable = true;
    relay_init(&relay, &env, &client, NULL, (const struct filter_site *)&toy, &peer, now_ms);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    relay_clear(&relay);
    assert_int_equal(open_count, close_count);
    assert_int_equal(0, shared.pool.used_bytes);
    transport_shared_clear(&shared);
    script_free();
    return 0;
}

static void happen(unsigned events)
{
    (void)relay_step(&relay, events, now_ms);
}

static void client_says(const char *text)
{
    script_input(&script_client, text);
    happen(RELAY_CLIENT_READ);
}

static void backend_says(const char *text)
{
    script_input(&script_backend, text);
    happen(RELAY_BACKEND_READ);
}

static void assert_output(const struct script_socket *socket, const char *text)
{
    assert_int_equal(strlen(text), socket->output_length);
    assert_memory_equal(text, socket->output, socket->output_length);
}

static void test_what_comes_first_is_filtered_too(void **state)
{
    (void)state;
    script_backend.connect_result = IO_WANT_WRITE;
    client_says("one\ntw");
    assert_int_equal(RELAY_CONNECT, relay.phase);
    happen(RELAY_BACKEND_WRITE);
    assert_output(&script_backend, "+one\n");
    client_says("o\n");
    assert_output(&script_backend, "+one\n+two\n");
    assert_int_equal(0, shared.pool.used_bytes);
}

static void test_a_part_waits_for_the_rest(void **state)
{
    (void)state;
    happen(0);
    const char *text = "alpha\nbeta\n";
    for (const char *c = text; *c != '\0'; c++) {
        char one[2] = {*c, '\0'};
        client_says(one);
    }
    assert_output(&script_backend, "+alpha\n+beta\n");
}

static void test_a_part_cannot_keep_the_connection_open(void **state)
{
    (void)state;
    config.first_data_timeout_s = 60;
    config.idle_timeout_s = 600;
    happen(0);
    client_says("whole\npa");
    assert_int_equal(now_ms + 60000, relay.deadline_ms);
    script_input(&script_client, "rt");
    (void)relay_step(&relay, RELAY_CLIENT_READ, now_ms + 50000);
    assert_int_equal(now_ms + 60000, relay.deadline_ms); /* counts from its first byte */
    script_input(&script_client, "\n");
    (void)relay_step(&relay, RELAY_CLIENT_READ, now_ms + 55000);
    assert_int_equal(now_ms + 55000 + 600000, relay.deadline_ms);
    script_input(&script_client, "a");
    (void)relay_step(&relay, RELAY_CLIENT_READ, now_ms + 56000);
    assert_int_equal(now_ms + 56000 + 60000, relay.deadline_ms);
    script_input(&script_client, "a\nb"); /* one is complete, and the next begins */
    (void)relay_step(&relay, RELAY_CLIENT_READ, now_ms + 57000);
    assert_int_equal(now_ms + 57000 + 60000, relay.deadline_ms);
    script_input(&script_client, "b\n");
    (void)relay_step(&relay, RELAY_CLIENT_READ, now_ms + 58000);
    script_input(&script_client, "x");
    (void)relay_step(&relay, RELAY_CLIENT_READ, now_ms + 70000);
    (void)relay_expire(&relay, now_ms + 130000);
    assert_int_equal(CLOSE_head_timeout, relay.reason);
}

static void test_unchanged_bytes_keep_their_place(void **state)
{
    (void)state;
    happen(0);
    client_says("one\n#two\nthree\n#fo");
    client_says("ur\nfive\n");
    assert_output(&script_backend, "+one\n#two\n+three\n#four\n+five\n");
}

static void test_a_full_buffer_and_a_full_backend(void **state)
{
    (void)state;
    happen(0);
    toy.out_max = 8;
    script_backend.room = 3;
    client_says("aaaa\nbbbb\ncccc\n");
    assert_int_equal(3, script_backend.output_length);
    client_says("dddd\n"); /* not even read */
    assert_int_equal(1, script_client.recv_calls);
    script_backend.room = SCRIPT_BYTES;
    happen(RELAY_BACKEND_WRITE);
    happen(RELAY_BACKEND_WRITE);
    assert_output(&script_backend, "+aaaa\n+bbbb\n+cccc\n+dddd\n");
}

static void test_hold_until_the_reply(void **state)
{
    (void)state;
    happen(0);
    client_says("HOLD\nafter\n");
    assert_output(&script_backend, "+HOLD\n");
    script_input(&script_client, "later\n");
    unsigned wants = relay_step(&relay, RELAY_CLIENT_READ, now_ms);
    assert_int_equal(RELAY_BACKEND_READ, wants); /* the client is not read meanwhile */
    assert_int_equal(1, script_client.recv_calls);
    backend_says(".");
    happen(RELAY_CLIENT_READ);
    assert_output(&script_backend, "+HOLD\n+after\n+later\n");
    assert_output(&script_client, ".");
}

static void test_hold_with_nothing_behind_it(void **state)
{
    (void)state;
    happen(0);
    client_says("HOLD\n");
    backend_says(".");
    client_says("after\n");
    assert_output(&script_backend, "+HOLD\n+after\n");
}

static void test_refused_at_once(void **state)
{
    (void)state;
    client_says("BAD\n");
    assert_output(&script_client, "no!");
    assert_int_equal(0, script_backend.connect_calls);
    assert_int_equal(RELAY_CLOSING, relay.phase);
    assert_int_equal(CLOSE_request_refused, relay.reason);
    assert_string_equal("bad-line", relay.detail);
    assert_int_equal(1, metrics.refusals[7]);
    assert_true(script_client.finished);
}

static void test_refused_after_the_replies_to_what_came_before(void **state)
{
    (void)state;
    happen(0);
    client_says("one\ntwo\nBAD\nthree\n");
    assert_output(&script_backend, "+one\n+two\n"); /* nothing behind the refused one */
    assert_output(&script_client, "");
    backend_says(".");
    assert_output(&script_client, ".");
    client_says("four\n"); /* read, and thrown away */
    backend_says(".");
    assert_output(&script_client, "..no!");
    assert_output(&script_backend, "+one\n+two\n");
    assert_int_equal(RELAY_CLOSING, relay.phase);
}

static void test_what_came_before_a_refused_one_still_goes_out(void **state)
{
    (void)state;
    script_backend.connect_result = IO_WANT_WRITE;
    client_says("one\nBAD\n"); /* all of it before the backend is there */
    assert_int_equal(RELAY_CONNECT, relay.phase);
    happen(RELAY_BACKEND_WRITE);
    assert_output(&script_backend, "+one\n");
    backend_says(".");
    assert_output(&script_client, ".no!");
}

static void test_what_came_before_goes_out_to_a_full_backend_too(void **state)
{
    (void)state;
    happen(0);
    script_backend.room = 2;
    client_says("one\nBAD\n");
    assert_output(&script_backend, "+o");
    script_backend.room = SCRIPT_BYTES;
    assert_true((relay_step(&relay, 0, now_ms) & RELAY_BACKEND_WRITE) != 0);
    happen(RELAY_BACKEND_WRITE);
    assert_output(&script_backend, "+one\n");
}

static void test_refused_but_the_backend_ends_first(void **state)
{
    (void)state;
    happen(0);
    client_says("one\nBAD\n");
    script_backend.end = SCRIPT_EOF;
    happen(RELAY_BACKEND_READ);
    happen(RELAY_BACKEND_READ);
    assert_output(&script_client, "");
    assert_true(script_client.finished);
}

static void test_end_in_the_middle_of_a_line(void **state)
{
    (void)state;
    happen(0);
    client_says("one\nha");
    script_client.end = SCRIPT_EOF;
    happen(RELAY_CLIENT_READ);
    assert_output(&script_backend, "+one\n");
    assert_true(script_backend.finished);
    assert_int_equal(0, shared.pool.used_bytes);
}

static void test_end_while_held_loses_nothing(void **state)
{
    (void)state;
    happen(0);
    script_input(&script_client, "HOLD\nlast\n");
    script_client.end = SCRIPT_EOF;
    happen(RELAY_CLIENT_READ);
    assert_false(script_backend.finished);
    backend_says(".");
    happen(RELAY_CLIENT_READ);
    happen(RELAY_CLIENT_READ);
    assert_output(&script_backend, "+HOLD\n+last\n");
    assert_true(script_backend.finished);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_comes_first_is_filtered_too),
        TEST(test_a_part_waits_for_the_rest),
        TEST(test_a_part_cannot_keep_the_connection_open),
        TEST(test_unchanged_bytes_keep_their_place),
        TEST(test_a_full_buffer_and_a_full_backend),
        TEST(test_hold_until_the_reply),
        TEST(test_hold_with_nothing_behind_it),
        TEST(test_refused_at_once),
        TEST(test_refused_after_the_replies_to_what_came_before),
        TEST(test_what_came_before_a_refused_one_still_goes_out),
        TEST(test_what_came_before_goes_out_to_a_full_backend_too),
        TEST(test_refused_but_the_backend_ends_first),
        TEST(test_end_in_the_middle_of_a_line),
        TEST(test_end_while_held_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
