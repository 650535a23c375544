#include "http/http_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static bool matches(const struct http_names *names, const char *name)
{
    return http_names_match(names, (const uint8_t *)name, strlen(name));
}

static void make(struct http_names *names, const char *list)
{
    struct error errors = ERROR_INIT;

    http_names_init(names);
    assert_int_equal(http_names_parse(names, list, NULL, &errors), 0);
    assert_false(error_any(&errors));
}

static void test_default(void **state)
{
    (void)state;
    static const char *const in[] = {
        "X-Forwarded-For", "x_forwarded_for", "X-FORWARDED", "X-Forwarded-", "X.Forwarded!Proto", "X-Forward-For",
        "X_Forward_Proto", "forwarded",       "FORWARDED",   "X-Real-IP",    "x_real_ip",         "X-ForwardedX",
    };
    static const char *const out[] = {
        "X-Forwarde", "X-Forward", "X-Forward-Host", "X-Real-IPs", "X-Real", "Via", "Forwarded-For", "X",
        "-",          "",          "Host",           "0",
    };
    struct http_names names;

    make(&names, HTTP_NAMES_STRIP_DEFAULT);
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        assert_true(matches(&names, in[i]));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        assert_false(matches(&names, out[i]));
    http_names_clear(&names);
    http_names_clear(&names);
}

static void test_lists(void **state)
{
    (void)state;
    struct http_names names;

    make(&names, " a ,b-c*,, 9x\tZ ");
    assert_int_equal(names.count, 4);
    assert_true(matches(&names, "A"));
    assert_false(matches(&names, "ab"));
    assert_true(matches(&names, "B_C"));
    assert_true(matches(&names, "b-cdef"));
    assert_false(matches(&names, "b-"));
    assert_true(matches(&names, "9X"));
    http_names_clear(&names);

    make(&names, "");
    assert_int_equal(names.count, 0);
    assert_false(matches(&names, "a"));
    http_names_clear(&names);

    make(&names, "same, SAME, s_ame, s-ame, s*");
    assert_int_equal(names.count, 3);
    http_names_clear(&names);
}

static void test_long_names(void **state)
{
    (void)state;
    struct http_names names;
    char name[201];

    memset(name, 'x', 200);
    name[200] = '\0';
    make(&names, name);
    assert_true(matches(&names, name));
    name[199] = '\0';
    assert_false(matches(&names, name));
    http_names_clear(&names);

    name[70] = '*';
    name[71] = '\0';
    make(&names, name);
    memset(name, 'x', 200);
    name[200] = '\0';
    assert_true(matches(&names, name));
    name[70] = '\0';
    assert_true(matches(&names, name));
    name[69] = '\0';
    assert_false(matches(&names, name));
    http_names_clear(&names);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "host",
        "Host",
        "h*",
        "content-length",
        "Content_Length",
        "content*",
        "transfer-encoding",
        "connection",
        "upgrade",
        "te",
        "T*",
        "*",
        "trailer",
        "expect",
        "a, b, host",
        "a b:c",
        "a\"b",
        "caf\xc3\xa9",
        "x*y",
        "a**",
        "x, *",
    };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct error errors = ERROR_INIT;
        struct http_names names;

        http_names_init(&names);
        if (http_names_parse(&names, lists[i], NULL, &errors) == 0)
            fail_msg("\"%s\" was taken", lists[i]);
        assert_int_equal(errors.error_count, 1);
        assert_int_equal(names.count, 0);
        error_clear(&errors);
        http_names_clear(&names);
    }
}

static void test_every_fault_is_told(void **state)
{
    (void)state;
    struct error errors = ERROR_INIT;
    struct http_names names;

    http_names_init(&names);
    assert_int_equal(http_names_parse(&names, "host, good, te, a:b", NULL, &errors), -1);
    assert_int_equal(errors.error_count, 3);
    error_clear(&errors);
    http_names_clear(&names);
}

static void test_added(void **state)
{
    (void)state;
    static const char lines[] = "X-Tls: 1.3\r\nSub-Ject:CN=a: b\r\n";
    struct http_names names;

    http_names_init(&names);
    http_names_add_lines(&names, lines, sizeof lines - 1);
    http_names_add_lines(&names, "", 0);
    assert_int_equal(names.count, 2);
    assert_true(matches(&names, "x_tls"));
    assert_true(matches(&names, "SUB-JECT"));
    assert_false(matches(&names, "b"));
    assert_false(http_names_add(&names, "Host", 4));
    assert_false(http_names_add(&names, "", 0));
    assert_false(http_names_add(&names, "a b", 3));
    assert_true(http_names_add(&names, "A", 1));
    http_names_clear(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_every_fault_is_told),
        cmocka_unit_test(test_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
