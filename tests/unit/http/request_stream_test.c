#include "http/request_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

#define ADDED "X-Forwarded-For: 192.0.2.1\r\n"
#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_OUT "GET / HTTP/1.1\r\nHost: a\r\n" ADDED "\r\n"

enum { OUT_BYTES = 256 * 1024 };

struct fixture {
    struct http_names strip;
    struct http_policy policy;
    struct request_stream stream;
    struct request_step step;
    uint8_t out[OUT_BYTES];
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error errors = ERROR_INIT;

    assert_non_null(fixture);
    http_names_init(&fixture->strip);
    assert_int_equal(http_names_parse(&fixture->strip, HTTP_NAMES_STRIP_DEFAULT, NULL, &errors), 0);
    fixture->policy = (struct http_policy){
        .head_max_bytes = HTTP_HEAD_BYTES_DEFAULT,
        .fields_max = HTTP_FIELDS_DEFAULT,
        .strip = &fixture->strip,
        .add = ADDED,
        .add_length = sizeof ADDED - 1,
    };
    request_stream_init(&fixture->stream);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    http_names_clear(&fixture->strip);
    free(fixture);
    return 0;
}

static enum request_verdict step(struct fixture *fixture, const void *in, size_t length)
{
    return request_stream_step(&fixture->stream, &fixture->policy, in, length, fixture->out, sizeof fixture->out,
                               &fixture->step);
}

static void assert_step(const struct fixture *fixture, size_t consumed, size_t produced, size_t tail)
{
    assert_int_equal(fixture->step.consumed, consumed);
    assert_int_equal(fixture->step.produced, produced);
    assert_int_equal(fixture->step.tail, tail);
}

static void test_small(void **state)
{
    assert_true(sizeof(struct request_stream) <= 96);
    assert_int_equal(step(*state, GET, sizeof GET - 1), REQUEST_MORE);
    assert_step(*state, sizeof GET - 1, sizeof GET_OUT - 1, 0);
    assert_memory_equal(((struct fixture *)*state)->out, GET_OUT, sizeof GET_OUT - 1);
}

static void test_body_is_not_copied(void **state)
{
    struct fixture *fixture = *state;
    static const char head[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n";
    size_t head_length = sizeof head - 1;
    char *in = malloc(head_length + 10000);

    memcpy(in, head, head_length);
    memset(in + head_length, 'b', 10000);
    assert_int_equal(step(fixture, in, head_length + 10000), REQUEST_MORE);
    assert_step(fixture, head_length + 10000, head_length - 2 + sizeof ADDED - 1, 10002);
    assert_false(request_stream_idle(&fixture->stream));
    assert_int_equal(step(fixture, in + head_length, 10000), REQUEST_MORE);
    assert_step(fixture, 10000, 0, 10000);
    assert_int_equal(step(fixture, in + head_length, 1), REQUEST_MORE);
    assert_step(fixture, 1, 0, 1);
    assert_int_equal(step(fixture, in + head_length, 9999), REQUEST_MORE);
    assert_step(fixture, 9999, 0, 9999);
    assert_true(request_stream_idle(&fixture->stream));
    free(in);
}

/* What is long and has something behind it is sent first, the rest is for the next call. */
static void test_long_body_before_a_request(void **state)
{
    struct fixture *fixture = *state;
    static const char head[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n";
    size_t body_end = sizeof head - 1 + 9000;
    char *in = malloc(body_end + sizeof GET);

    memset(in, 'b', body_end);
    memcpy(in, head, sizeof head - 1);
    memcpy(in + body_end, GET, sizeof GET - 1);
    assert_int_equal(step(fixture, in, body_end + sizeof GET - 1), REQUEST_FULL);
    assert_step(fixture, body_end, sizeof head - 3 + sizeof ADDED - 1, 9002);
    assert_int_equal(step(fixture, in + body_end, sizeof GET - 1), REQUEST_MORE);
    assert_step(fixture, sizeof GET - 1, sizeof GET_OUT - 1, 0);
    assert_int_equal(fixture->stream.requests, 2);
    free(in);
}

static void test_short_body_is_copied(void **state)
{
    struct fixture *fixture = *state;
    static const char in[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" GET;

    assert_int_equal(step(fixture, in, sizeof in - 1), REQUEST_MORE);
    assert_step(fixture, sizeof in - 1, sizeof in - 1 + 2 * (sizeof ADDED - 1), 0);
}

/* Chunk lines without extensions are passed on as they are, with what they stand between. */
static void test_chunks_are_not_copied(void **state)
{
    struct fixture *fixture = *state;
    static const char head[] = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    size_t chunk = 5 + 1000 + 2, length = 0;
    char *in = malloc(100 * chunk);

    for (int i = 0; i < 100; i++, length += chunk) {
        memset(in + length, 'c', chunk);
        memcpy(in + length, "3E8\r\n", 5);
        memcpy(in + length + chunk - 2, "\r\n", 2);
    }
    assert_int_equal(step(fixture, head, sizeof head - 1), REQUEST_MORE);
    assert_int_equal(step(fixture, in, length), REQUEST_MORE);
    assert_step(fixture, length, 0, length);
    assert_int_equal(step(fixture, "0\r\n\r\n", 5), REQUEST_MORE);
    assert_step(fixture, 5, 0, 5);
    assert_true(request_stream_idle(&fixture->stream));
    free(in);
}

static void test_too_many_unanswered(void **state)
{
    struct fixture *fixture = *state;
    size_t one = sizeof GET - 1, count = 200, at = 0;
    char *in = malloc(count * one);

    for (size_t i = 0; i < count; i++)
        memcpy(in + i * one, GET, one);
    while (at < REQUEST_KINDS_MAX * one) {
        enum request_verdict verdict = step(fixture, in + at, count * one - at);

        at += fixture->step.consumed;
        assert_int_equal(verdict, at == REQUEST_KINDS_MAX * one ? REQUEST_HELD : REQUEST_FULL);
    }
    assert_true(request_kinds_full(&fixture->stream.kinds));
    assert_int_equal(step(fixture, in + at, one), REQUEST_HELD);
    assert_step(fixture, 0, 0, 0);
    request_stream_resume(&fixture->stream);
    assert_int_equal(step(fixture, in + at, one), REQUEST_HELD);
    assert_int_equal(request_kinds_pop(&fixture->stream.kinds), REQUEST_ORDINARY);
    assert_int_equal(step(fixture, in + at, 2 * one), REQUEST_HELD);
    assert_step(fixture, one, sizeof GET_OUT - 1, 0);
    free(in);
}

static void test_kinds(void **state)
{
    (void)state;
    struct request_kinds kinds = {0};

    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < REQUEST_KINDS_MAX - round; i++)
            request_kinds_push(&kinds, (enum request_kind)((i * 7 + round) % 4));
        assert_int_equal(request_kinds_full(&kinds), round == 0);
        for (unsigned i = 0; i < REQUEST_KINDS_MAX - round; i++) {
            assert_int_equal(request_kinds_view(&kinds), (i * 7 + round) % 4);
            assert_int_equal(request_kinds_pop(&kinds), (i * 7 + round) % 4);
        }
        assert_int_equal(kinds.count, 0);
    }
}

/* One buffer of 10 000 requests, through the smallest output that is allowed. */
static void test_ten_thousand(void **state)
{
    struct fixture *fixture = *state;
    enum { COUNT = 10000 };
    struct request_step done;
    char *in = malloc(COUNT * 100);
    size_t length = 0, at = 0, produced = 0;

    for (int i = 0; i < COUNT; i++)
        length += (size_t)snprintf(in + length, 100, "GET /%d HTTP/1.1\r\nX-Forwarded-For: %d\r\nHost: a\r\n\r\n", i,
                                   i);
    fixture->policy.head_max_bytes = 1024;
    while (at < length) {
        enum request_verdict verdict = request_stream_step(&fixture->stream, &fixture->policy, (const uint8_t *)in + at,
                                                           length - at, fixture->out,
                                                           http_policy_out_bytes(&fixture->policy), &done);
        const char *out = (const char *)fixture->out;

        assert_true(verdict == REQUEST_FULL || verdict == REQUEST_MORE || verdict == REQUEST_HELD);
        assert_int_equal(done.tail, 0);
        at += done.consumed;
        produced += done.produced;
        while (fixture->stream.kinds.count > 0) {
            char expected[100];
            int size = snprintf(expected, sizeof expected, "GET /%d HTTP/1.1\r\nHost: a\r\n" ADDED "\r\n",
                                (int)fixture->stream.requests - fixture->stream.kinds.count);

            assert_memory_equal(out, expected, size);
            out += size;
            request_kinds_pop(&fixture->stream.kinds);
        }
        assert_ptr_equal(out, fixture->out + done.produced);
    }
    assert_int_equal(fixture->stream.requests, COUNT);
    assert_true(produced > 0);
    free(in);
}

/* A head of 60 KB that comes byte by byte: were it read from its beginning each time, this would take minutes. */
static void test_slow_head(void **state)
{
    struct fixture *fixture = *state;
    static const char start[] = "GET / HTTP/1.1\r\nHost: a\r\nCookie: ";
    size_t length = 60000;
    char *in = malloc(length);

    memset(in, 'c', length);
    memcpy(in, start, sizeof start - 1);
    memcpy(in + length - 4, "\r\n\r\n", 4);
    for (size_t given = 1; given < length; given++) {
        assert_int_equal(step(fixture, in, given), REQUEST_MORE);
        assert_step(fixture, 0, 0, 0);
        assert_int_equal(fixture->stream.scanned[0], given);
    }
    assert_int_equal(step(fixture, in, length), REQUEST_MORE);
    assert_step(fixture, length, length + sizeof ADDED - 1, 0);
    free(in);
}

static void test_stopped_stays_stopped(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(step(fixture, GET "\x16\x03\x01", sizeof GET + 2), REQUEST_REFUSED);
    assert_step(fixture, sizeof GET - 1, sizeof GET_OUT - 1, 0);
    assert_int_equal(fixture->stream.refusal, HTTP_REFUSAL_METHOD_SYNTAX);
    request_stream_resume(&fixture->stream);
    assert_int_equal(step(fixture, GET, sizeof GET - 1), REQUEST_REFUSED);
    assert_step(fixture, 0, 0, 0);
    assert_int_equal(fixture->stream.requests, 1);
}

static void test_held_until_resumed(void **state)
{
    struct fixture *fixture = *state;
    static const char in[] = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n" GET;

    assert_int_equal(step(fixture, in, sizeof in - 1), REQUEST_HELD);
    assert_int_equal(fixture->step.consumed, sizeof in - sizeof GET);
    assert_int_equal(step(fixture, GET, sizeof GET - 1), REQUEST_HELD);
    assert_step(fixture, 0, 0, 0);
    assert_int_equal(request_kinds_pop(&fixture->stream.kinds), REQUEST_CONNECT);
    request_stream_resume(&fixture->stream);
    assert_int_equal(step(fixture, GET, sizeof GET - 1), REQUEST_MORE);
    assert_int_equal(request_kinds_pop(&fixture->stream.kinds), REQUEST_ORDINARY);
}

/* All limits at their greatest, and a Connection that grows when it is cut. */
static void test_greatest_head(void **state)
{
    struct fixture *fixture = *state;
    static const char start[] = "GET / HTTP/1.1\r\nHost: a\r\nConnection: host";
    size_t length = 32 * 1024;
    char *in = malloc(length);

    memcpy(in, start, sizeof start - 1);
    for (size_t i = sizeof start - 1; i < length; i += 2)
        memcpy(in + i, i + 2 <= length ? ",a" : ",", i + 2 <= length ? 2 : 1);
    memcpy(in + length - 4, "\r\n\r\n", 4);
    fixture->policy.head_max_bytes = length;
    fixture->policy.fields_max = HTTP_FIELDS_MAX;
    fixture->policy.add_forwarded_host = true;
    assert_int_equal(request_stream_step(&fixture->stream, &fixture->policy, (const uint8_t *)in, length, fixture->out,
                                         http_policy_out_bytes(&fixture->policy), &fixture->step),
                     REQUEST_MORE);
    assert_int_equal(fixture->step.consumed, length);
    assert_true(fixture->step.produced > length && fixture->step.produced < http_policy_out_bytes(&fixture->policy));
    free(in);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_small),
        TEST(test_body_is_not_copied),
        TEST(test_long_body_before_a_request),
        TEST(test_short_body_is_copied),
        TEST(test_chunks_are_not_copied),
        TEST(test_too_many_unanswered),
        TEST(test_kinds),
        TEST(test_ten_thousand),
        TEST(test_slow_head),
        TEST(test_stopped_stays_stopped),
        TEST(test_held_until_resumed),
        TEST(test_greatest_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
