#include "reply_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct request_kinds kinds;
static struct reply_scan scan;

static void start(const char *asked)
{
    memset(&kinds, 0, sizeof kinds);
    for (; *asked != '\0'; asked++)
        request_kinds_push(&kinds, *asked == 'H'   ? REQUEST_HEAD
                                   : *asked == 'C' ? REQUEST_CONNECT
                                   : *asked == 'U' ? REQUEST_UPGRADE
                                                   : REQUEST_ORDINARY);
    reply_scan_init(&scan, &kinds);
}

/* The same outcome however the replies are cut. */
static void follow(const char *asked, const char *replies, enum reply_scan_state state, unsigned left)
{
    size_t length = strlen(replies);

    for (size_t cut = 0; cut <= length; cut++) {
        start(asked);
        reply_scan_bytes(&scan, (const uint8_t *)replies, cut);
        reply_scan_bytes(&scan, (const uint8_t *)replies + cut, length - cut);
        assert_int_equal(state, scan.state);
        assert_int_equal(left, kinds.count);
    }
    start(asked);
    for (size_t i = 0; i < length; i++)
        reply_scan_bytes(&scan, (const uint8_t *)replies + i, 1);
    assert_int_equal(state, scan.state);
    assert_int_equal(left, kinds.count);
}

static void test_lengths(void **state)
{
    (void)state;
    follow("OO", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", REPLY_SCAN_GOOD, 1);
    follow("OO", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", REPLY_SCAN_GOOD, 2);
    follow("OOO", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
           REPLY_SCAN_GOOD, 1);
}

static void test_chunked(void **state)
{
    (void)state;
    follow("OO",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
           "HTTP/1.1 204 No Content\r\n\r\n",
           REPLY_SCAN_GOOD, 0);
    follow("O", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n", REPLY_SCAN_GOOD, 1);
}

static void test_head_has_no_body(void **state)
{
    (void)state;
    follow("HO", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
           REPLY_SCAN_GOOD, 0);
}

static void test_interim_replies_answer_nothing(void **state)
{
    (void)state;
    follow("O", "HTTP/1.1 100 Continue\r\n\r\n", REPLY_SCAN_GOOD, 1);
    follow("O",
           "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
           "Content-Length: 1\r\n\r\nx",
           REPLY_SCAN_GOOD, 0);
}

static void test_body_up_to_the_end(void **state)
{
    (void)state;
    follow("OO", "HTTP/1.0 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", REPLY_SCAN_GOOD, 2);
}

static void test_upgrade_granted_and_not(void **state)
{
    (void)state;
    static const char granted[] =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

    follow("U", granted, REPLY_SCAN_OPAQUE, 0);
    start("U");
    reply_scan_bytes(&scan, (const uint8_t *)granted, sizeof granted - 1);
    reply_scan_bytes(&scan, (const uint8_t *)"\x81\x05hello", 7);
    assert_int_equal(REPLY_SCAN_OPAQUE, scan.state);
    follow("UO",
           "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nnoHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
           REPLY_SCAN_GOOD, 0);
    /* not asked for: never */
    follow("O", granted, REPLY_SCAN_LOST, 1);
    follow("H", granted, REPLY_SCAN_LOST, 1);
}

static void test_connect_granted_and_not(void **state)
{
    (void)state;
    follow("C", "HTTP/1.1 200 Connection established\r\n\r\n", REPLY_SCAN_OPAQUE, 0);
    follow("C", "HTTP/1.1 407 No\r\nContent-Length: 3\r\n\r\nno!", REPLY_SCAN_GOOD, 0);
}

static void test_what_cannot_be_followed(void **state)
{
    (void)state;
    follow("O", "220 mail.example.com ESMTP\r\n", REPLY_SCAN_LOST, 1);
    follow("", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", REPLY_SCAN_LOST, 0); /* a reply to nothing */
}

static void test_sloppy_backends_are_followed(void **state)
{
    (void)state;
    follow("O", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", REPLY_SCAN_GOOD, 0);
    follow("O", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", REPLY_SCAN_GOOD, 0);
    follow("OO", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", REPLY_SCAN_GOOD, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_chunked),
        cmocka_unit_test(test_head_has_no_body),
        cmocka_unit_test(test_interim_replies_answer_nothing),
        cmocka_unit_test(test_body_up_to_the_end),
        cmocka_unit_test(test_upgrade_granted_and_not),
        cmocka_unit_test(test_connect_granted_and_not),
        cmocka_unit_test(test_what_cannot_be_followed),
        cmocka_unit_test(test_sloppy_backends_are_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
