#include "proxy/proxy_ip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proxy_test_addr.h"

static void check_bytes(const struct addr *source, const uint8_t *expected, size_t length)
{
    uint8_t buffer[PROXY_IP_MAX + 1];

    for (size_t size = 0; size < sizeof buffer; size++) {
        memset(buffer, 0xee, sizeof buffer);
        assert_int_equal(proxy_ip_write(buffer, size, source), size < length ? 0 : length);
        if (size >= length)
            assert_memory_equal(buffer, expected, length);
        assert_int_equal(buffer[size < length ? size : length], 0xee);
    }
}

static void test_ipv4(void **state)
{
    (void)state;
    static const uint8_t expected[] = {2, 192, 0, 2, 1};
    struct addr source = address("192.0.2.1", 1024);

    check_bytes(&source, expected, sizeof expected);
}

static void test_ipv6(void **state)
{
    (void)state;
    static const uint8_t expected[] = {10, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x99};
    struct addr source = address("2001:db8::99", 1024);

    check_bytes(&source, expected, sizeof expected);
}

static void test_unknown_cannot_be_said(void **state)
{
    (void)state;
    struct addr none = {.family = ADDR_NONE};
    uint8_t buffer[PROXY_IP_MAX];

    assert_int_equal(proxy_ip_write(buffer, sizeof buffer, &none), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ipv4),
        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_unknown_cannot_be_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
