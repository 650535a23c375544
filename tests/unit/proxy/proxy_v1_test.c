#include "proxy/proxy_v1.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proxy_test_addr.h"

static void check_line(const struct addr *source, const struct addr *destination, const char *expected)
{
    size_t length = strlen(expected);
    uint8_t buffer[PROXY_V1_MAX + 1];

    memset(buffer, 0xee, sizeof buffer);
    assert_int_equal(proxy_v1_write(buffer, sizeof buffer, source, destination), length);
    assert_memory_equal(buffer, expected, length);
    assert_int_equal(buffer[length], 0xee);
    assert_int_equal(proxy_v1_write(buffer, length, source, destination), length);
    for (size_t size = 0; size < length; size++) {
        memset(buffer, 0xee, sizeof buffer);
        assert_int_equal(proxy_v1_write(buffer, size, source, destination), 0);
        assert_int_equal(buffer[size], 0xee);
    }
}

/* The example of section 2.1 of the specification. */
static void test_example_of_specification(void **state)
{
    (void)state;
    struct addr source = address("192.168.0.1", 56324);
    struct addr destination = address("192.168.0.11", 443);

    check_line(&source, &destination, "PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n");
}

static void test_longest_lines(void **state)
{
    (void)state;
    struct addr v4 = address("255.255.255.255", 65535);
    struct addr v6 = address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 65535);

    check_line(&v4, &v4, "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n");
    check_line(&v6, &v6,
               "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
               "65535 65535\r\n");
}

static void test_shortest_addresses(void **state)
{
    (void)state;
    struct addr source = address("::", 0);
    struct addr destination = address("2001:db8::1", 1);

    check_line(&source, &destination, "PROXY TCP6 :: 2001:db8::1 0 1\r\n");
}

static void test_mixed_families_are_mapped(void **state)
{
    (void)state;
    struct addr v4 = address("192.0.2.1", 1024);
    struct addr v6 = address("2001:db8::1", 443);

    check_line(&v4, &v6, "PROXY TCP6 ::ffff:192.0.2.1 2001:db8::1 1024 443\r\n");
    check_line(&v6, &v4, "PROXY TCP6 2001:db8::1 ::ffff:192.0.2.1 443 1024\r\n");
}

static void test_unknown(void **state)
{
    (void)state;
    struct addr none = {.family = ADDR_NONE, .port = 7};
    struct addr v4 = address("192.0.2.1", 1024);

    check_line(&none, &none, "PROXY UNKNOWN\r\n");
    check_line(&none, &v4, "PROXY UNKNOWN\r\n");
    check_line(&v4, &none, "PROXY UNKNOWN\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example_of_specification),
        cmocka_unit_test(test_longest_lines),
        cmocka_unit_test(test_shortest_addresses),
        cmocka_unit_test(test_mixed_families_are_mapped),
        cmocka_unit_test(test_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
