#include "os/resolve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char services[64] = "/tmp/halter-services-test.XXXXXX";

static int set_up(void **state)
{
    static const char text[] =
        "# comment\nhttps\t443/tcp\nhttps 443/udp\nwww 80/tcp http web # World Wide Web\nonly 9/udp\n"
        "bad x/tcp\nhuge 70000/tcp\n";

    (void)state;
    int fd = mkstemp(services);
    if (fd < 0 || write(fd, text, sizeof text - 1) != sizeof text - 1)
        return -1;
    return close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(services);
}

static void expect_port(const char *text, int expected)
{
    struct error errors = ERROR_INIT;
    uint16_t port = 0;
    int result = resolve_port_in(services, text, NULL, &port, &errors);

    assert_int_equal(result, expected < 0 ? -1 : 0);
    assert_int_equal(errors.count, expected < 0 ? 1 : 0);
    if (expected >= 0)
        assert_int_equal(port, expected);
    error_clear(&errors);
}

static void test_port(void **state)
{
    (void)state;
    expect_port("0", 0);
    expect_port("443", 443);
    expect_port("65535", 65535);
    expect_port("65536", -1);
    expect_port("99999999999999999999", -1);
    expect_port("", -1);
    expect_port("-1", -1);
    expect_port("80x", -1);
    expect_port("https", 443);
    expect_port("web", 80);
    expect_port("only", -1);
    expect_port("bad", -1);
    expect_port("huge", -1);
    expect_port("HTTPS", -1);
    expect_port("comment", -1);
}

static void test_numeric(void **state)
{
    (void)state;
    struct endpoint endpoint;
    char text[ENDPOINT_TEXT_MAX];

    assert_true(resolve_numeric("192.0.2.1", 1, &endpoint));
    assert_string_equal(endpoint_text(&endpoint, text), "192.0.2.1:1");
    assert_true(resolve_numeric("::", 0, &endpoint));
    assert_false(resolve_numeric("192.0.2", 1, &endpoint));
    assert_false(resolve_numeric("192.0.2.1%1", 1, &endpoint));
    assert_false(resolve_numeric("fe80::1%", 1, &endpoint));
    assert_false(resolve_numeric("fe80::1%no-such-interface", 1, &endpoint));
    assert_false(resolve_numeric("localhost", 1, &endpoint));
    assert_false(resolve_numeric("", 1, &endpoint));
}

static void test_localhost(void **state)
{
    (void)state;
    struct resolved found = {0};
    struct error errors = ERROR_INIT;
    char text[ENDPOINT_TEXT_MAX];

    assert_int_equal(resolve_host("localhost", 8000, NULL, &found, &errors), 0);
    assert_true(found.count >= 1);
    assert_string_equal(endpoint_text(&found.endpoints[0], text), "127.0.0.1:8000");
    size_t count = found.count;
    assert_int_equal(resolve_host("127.0.0.1", 8000, NULL, &found, &errors), 0);
    assert_int_equal(found.count, count); /* no doubles */
    resolved_clear(&found);
    assert_int_equal(errors.count, 0);
}

static void test_faults(void **state)
{
    (void)state;
    struct resolved found = {0};
    struct error errors = ERROR_INIT;

    assert_int_equal(resolve_host("", 1, NULL, &found, &errors), -1);
    assert_int_equal(resolve_host("1:2", 1, NULL, &found, &errors), -1);
    assert_int_equal(found.count, 0);
    assert_int_equal(errors.count, 2);
    error_clear(&errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_port),
        cmocka_unit_test(test_numeric),
        cmocka_unit_test(test_localhost),
        cmocka_unit_test(test_faults),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
