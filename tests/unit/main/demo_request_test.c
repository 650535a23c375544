#include "demo_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* From an allocation of exactly length bytes. */
static enum demo_request_result parse_copy(const char *bytes, size_t length, struct demo_request *request)
{
    char *copy = malloc(length == 0 ? 1 : length);

    assert_non_null(copy);
    memcpy(copy, bytes, length);

    enum demo_request_result result = demo_request_parse(copy, length, request);

    free(copy);
    return result;
}

static struct demo_request check_done(const char *text)
{
    struct demo_request request;
    size_t length = strlen(text);

    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(parse_copy(text, cut, &request), DEMO_REQUEST_NEED_MORE);
    assert_int_equal(parse_copy(text, length, &request), DEMO_REQUEST_DONE);
    assert_int_equal(request.head_length, length);
    return request;
}

static void check_refused(const char *bytes, size_t length, int status)
{
    struct demo_request request;

    assert_int_equal(parse_copy(bytes, length, &request), DEMO_REQUEST_REFUSED);
    assert_int_equal(request.status, status);
    assert_non_null(request.reason);
}

static void test_good(void **state)
{
    (void)state;
    struct demo_request request = check_done("GET / HTTP/1.1\r\n\r\n");

    assert_true(request.keep_alive);
    assert_false(request.is_head);
    assert_false(request.wants_html);
    assert_int_equal(request.body_length, 0);

    request = check_done("HEAD /x?y HTTP/1.0\r\nHost:a\r\nAccept: a/b;q=1, TEXT/html;q=0.9\r\n\r\n");
    assert_false(request.keep_alive);
    assert_true(request.is_head);
    assert_true(request.wants_html);

    request = check_done("POST * HTTP/1.1\r\ncontent-length:  123456789012345678 \r\nConnection: x, Close\r\n"
                         "Expect: 100-Continue\r\nEmpty:\r\n\r\n");
    assert_false(request.keep_alive);
    assert_true(request.expects_continue);
    assert_true(request.body_length == UINT64_C(123456789012345678));
}

static void test_what_follows_is_not_looked_at(void **state)
{
    (void)state;
    static const char bytes[] = "GET / HTTP/1.1\r\n\r\nGET /\0\n\r\n\r\n";
    struct demo_request request;

    assert_int_equal(parse_copy(bytes, sizeof bytes - 1, &request), DEMO_REQUEST_DONE);
    assert_int_equal(request.head_length, 18);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"\r\n\r\n", 400},
        {"GET\r\n\r\n", 400},
        {"GET /\r\n\r\n", 400},
        {"GET  / HTTP/1.1\r\n\r\n", 400},
        {"GET /  HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1 \r\n\r\n", 400},
        {"G(T / HTTP/1.1\r\n\r\n", 400},
        {" GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 1,1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 0x1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nContent-Length: 1234567890123456789\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411},
        {"GET / HTTP/1.1\r\ntransfer-encoding: identity\r\nContent-Length: 1\r\n\r\n", 411},
        {"CONNECT a:1 HTTP/1.1\r\n\r\n", 405},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        {"GET / HTTP/1.2\r\n\r\n", 505},
        {"GET / HTTP/0.9\r\n\r\n", 505},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_refused(cases[i].text, strlen(cases[i].text), cases[i].status);
    check_refused("GET /\0 HTTP/1.1\r\n\r\n", 19, 400);
    check_refused("GET / HTTP/1.1\r\nA\0: b\r\n\r\n", 25, 400);
}

static void test_head_limit(void **state)
{
    (void)state;
    static char bytes[DEMO_HEAD_MAX + 10];
    struct demo_request request;

    memset(bytes, 'x', sizeof bytes);
    assert_int_equal(parse_copy(bytes, DEMO_HEAD_MAX - 1, &request), DEMO_REQUEST_NEED_MORE);
    check_refused(bytes, DEMO_HEAD_MAX, 431);
    check_refused(bytes, sizeof bytes, 431);
    memcpy(bytes, "GET / HTTP/1.1\r\nX:", 18);
    memcpy(bytes + DEMO_HEAD_MAX - 4, "\r\n\r\n", 4);
    assert_int_equal(parse_copy(bytes, sizeof bytes, &request), DEMO_REQUEST_DONE);
    assert_int_equal(request.head_length, DEMO_HEAD_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_what_follows_is_not_looked_at),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_head_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
