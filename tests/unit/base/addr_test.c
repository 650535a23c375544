#include "base/addr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* From an allocation of exactly length bytes, without a NUL. */
static bool parse_copy(struct addr *addr, const char *text, size_t length)
{
    char *copy = malloc(length == 0 ? 1 : length);

    assert_non_null(copy);
    memcpy(copy, text, length);

    bool good = addr_parse_host(addr, copy, length);

    free(copy);
    return good;
}

static void check_good(const char *text, const char *canonical, enum addr_family family)
{
    struct addr addr = {.family = ADDR_NONE, .port = 4711};
    struct addr again = {.family = ADDR_NONE};
    char buffer[ADDR_TEXT_MAX];

    assert_true(parse_copy(&addr, text, strlen(text)));
    assert_int_equal(addr.family, family);
    assert_int_equal(addr.port, 4711);
    assert_int_equal(addr_size(&addr), family == ADDR_IPV4 ? 4 : 16);
    assert_ptr_equal(addr_host_text(&addr, buffer), buffer);
    assert_string_equal(buffer, canonical);
    assert_true(parse_copy(&again, buffer, strlen(buffer)));
    assert_int_equal(again.family, family);
    assert_memory_equal(again.bytes, addr.bytes, addr_size(&addr));
}

static void test_ipv4(void **state)
{
    (void)state;
    static const uint8_t expected[] = {192, 0, 2, 1};
    struct addr addr;

    assert_true(parse_copy(&addr, "192.0.2.1", 9));
    assert_memory_equal(addr.bytes, expected, sizeof expected);
    check_good("0.0.0.0", "0.0.0.0", ADDR_IPV4);
    check_good("127.0.0.1", "127.0.0.1", ADDR_IPV4);
    check_good("255.255.255.255", "255.255.255.255", ADDR_IPV4);
    check_good("1.20.100.99", "1.20.100.99", ADDR_IPV4);
}

/* RFC 5952, sections 4 and 5. */
static void test_ipv6(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *canonical;
    } cases[] = {
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"2001:db8::1", "2001:db8::1"},
        {"2001:0DB8:0000:0000:0000:0000:0000:0001", "2001:db8::1"},
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
        {"::ffff:c000:201", "::ffff:192.0.2.1"},
        {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
        {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
        {"fe80::ABCD", "fe80::abcd"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_good(cases[i].text, cases[i].canonical, ADDR_IPV6);
}

static void test_bad(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        ".",
        ":",
        "1",
        "1.2.3",
        "1.2.3.",
        "1.2.3.4.",
        "1.2.3.4.5",
        ".1.2.3.4",
        "1..2.3",
        "1.2.3.256",
        "1.2.3.-4",
        "1.2.3.4 ",
        " 1.2.3.4",
        "1.2.3.4x",
        "0x1.2.3.4",
        "01.2.3.4",
        "1.2.3.04",
        "1.2.3.00",
        "1.2.3.4:5",
        "localhost",
        ":::",
        ":1",
        "1:",
        "::1::",
        "1::2::3",
        "12345::",
        "g::",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "[::1]",
        "fe80::1%lo",
        "::1.2.3",
        "::1.2.3.4.5",
        "1.2.3.4::",
        "::1.2.3.256",
        "1:2:3:4:5:6:7:1.2.3.4",
        "::1/64",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct addr addr;

        if (parse_copy(&addr, texts[i], strlen(texts[i])))
            fail_msg("accepted: %s", texts[i]);
    }
    assert_false(parse_copy(&(struct addr){.port = 0}, "1.2.3.4\0", 8));
    assert_false(parse_copy(&(struct addr){.port = 0}, "::1\0", 4));
}

/* Only what is within the given length counts. */
static void test_truncations(void **state)
{
    (void)state;
    struct addr addr;

    assert_true(addr_parse_host(&addr, "1.2.3.45", 7));
    assert_int_equal(addr.bytes[3], 4);
    assert_false(addr_parse_host(&addr, "1.2.3.4", 6));
    assert_true(addr_parse_host(&addr, "::12", 3));
    assert_int_equal(addr.bytes[15], 1);
}

static void test_text_with_port(void **state)
{
    (void)state;
    char buffer[ADDR_TEXT_MAX];
    struct addr addr = {.family = ADDR_NONE, .port = 1};

    assert_string_equal(addr_text(&addr, buffer), "-");
    assert_int_equal(addr_size(&addr), 0);
    assert_true(addr_parse_host(&addr, "1.2.3.4", 7));
    assert_string_equal(addr_text(&addr, buffer), "1.2.3.4:1");
    addr.port = 65535;
    assert_string_equal(addr_text(&addr, buffer), "1.2.3.4:65535");
    memset(addr.bytes, 0xff, sizeof addr.bytes);
    addr.family = ADDR_IPV6;
    assert_string_equal(addr_text(&addr, buffer), "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
    addr.port = 0;
    memset(addr.bytes, 0, sizeof addr.bytes);
    assert_string_equal(addr_text(&addr, buffer), "[::]:0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ipv4),        cmocka_unit_test(test_ipv6),           cmocka_unit_test(test_bad),
        cmocka_unit_test(test_truncations), cmocka_unit_test(test_text_with_port),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
