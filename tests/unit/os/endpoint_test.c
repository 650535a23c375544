#include "os/endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/resolve.h"

static struct endpoint endpoint_of(const char *host, uint16_t port)
{
    struct endpoint endpoint;

    assert_true(resolve_numeric(host, port, &endpoint));
    return endpoint;
}

static void test_text(void **state)
{
    (void)state;
    struct endpoint endpoint = endpoint_of("127.0.0.1", 80);
    char text[ENDPOINT_TEXT_MAX];

    assert_string_equal(endpoint_text(&endpoint, text), "127.0.0.1:80");
    endpoint = endpoint_of("2001:db8:0:0::1", 65535);
    assert_string_equal(endpoint_text(&endpoint, text), "[2001:db8::1]:65535");
    assert_true(endpoint_set_unix(&endpoint, "/run/x"));
    assert_string_equal(endpoint_text(&endpoint, text), "/run/x");
    memset(&endpoint, 0, sizeof endpoint);
    assert_string_equal(endpoint_text(&endpoint, text), "-");
}

static void test_scope(void **state)
{
    (void)state;
    struct endpoint endpoint = endpoint_of("fe80::1%1", 1), other = endpoint_of("fe80::1%2", 1);
    char text[ENDPOINT_TEXT_MAX];

    assert_false(endpoint_equal(&endpoint, &other));
    endpoint_text(&endpoint, text);
    assert_true(strncmp(text, "[fe80::1%", 9) == 0);
}

static void test_mapped_is_ipv4(void **state)
{
    (void)state;
    struct endpoint endpoint = endpoint_of("::ffff:192.0.2.1", 443);
    struct addr addr;
    char text[ENDPOINT_TEXT_MAX];

    endpoint_to_addr(&endpoint, &addr);
    assert_int_equal(addr.family, ADDR_IPV4);
    assert_int_equal(addr.port, 443);
    assert_string_equal(endpoint_text(&endpoint, text), "192.0.2.1:443");
}

static void test_addr_and_back(void **state)
{
    (void)state;
    static const char *const hosts[] = {"0.0.0.0", "203.0.113.9", "::", "2001:db8::5"};

    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        struct endpoint endpoint = endpoint_of(hosts[i], 7), back;
        struct addr addr;

        endpoint_to_addr(&endpoint, &addr);
        endpoint_from_addr(&back, &addr);
        assert_true(endpoint_equal(&endpoint, &back));
        assert_int_equal(endpoint.length, back.length);
    }
}

static void test_unix_path_length(void **state)
{
    (void)state;
    struct endpoint endpoint, other;
    char path[200];
    size_t most = sizeof endpoint.sa.un.sun_path - 1;

    memset(path, 'x', sizeof path);
    path[most] = '\0';
    assert_true(endpoint_set_unix(&endpoint, path));
    assert_true(endpoint_set_unix(&other, path));
    assert_true(endpoint_equal(&endpoint, &other));
    path[most] = 'x';
    path[most + 1] = '\0';
    assert_false(endpoint_set_unix(&endpoint, path));

    struct addr addr;
    endpoint_to_addr(&other, &addr);
    assert_int_equal(addr.family, ADDR_NONE);
}

static void test_port_and_wildcard(void **state)
{
    (void)state;
    struct endpoint endpoint = endpoint_of("::", 1);

    assert_true(endpoint_is_wildcard(&endpoint));
    endpoint_set_port(&endpoint, 4711);
    assert_int_equal(endpoint_port(&endpoint), 4711);
    endpoint = endpoint_of("0.0.0.0", 0);
    assert_true(endpoint_is_wildcard(&endpoint));
    endpoint = endpoint_of("127.0.0.1", 9);
    assert_false(endpoint_is_wildcard(&endpoint));
    assert_int_equal(endpoint_port(&endpoint), 9);
}

static void test_equal(void **state)
{
    (void)state;
    struct endpoint a = endpoint_of("127.0.0.1", 1), b = endpoint_of("127.0.0.1", 2), c = endpoint_of("::1", 1);
    struct endpoint none = {0}, none_too = {0};

    assert_true(endpoint_equal(&a, &a));
    assert_false(endpoint_equal(&a, &b));
    assert_false(endpoint_equal(&a, &c));
    assert_false(endpoint_equal(&a, &none));
    assert_true(endpoint_equal(&none, &none_too));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_scope),
        cmocka_unit_test(test_mapped_is_ipv4),
        cmocka_unit_test(test_addr_and_back),
        cmocka_unit_test(test_unix_path_length),
        cmocka_unit_test(test_port_and_wildcard),
        cmocka_unit_test(test_equal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
