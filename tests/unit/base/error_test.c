#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_empty(void **state)
{
    (void)state;
    struct error errors = ERROR_INIT;

    assert_false(error_any(&errors));
    assert_int_equal(errors.count, 0);
    error_clear(&errors);
    error_clear(&errors);
}

static void test_places(void **state)
{
    (void)state;
    static const struct {
        struct place place;
        const char *expected;
    } cases[] = {
        {{"halter.conf", 12, 5}, "halter.conf:12:5: text 7"},
        {{"halter.conf", 12, 0}, "halter.conf:12: text 7"},
        {{"halter.conf", 0, 0}, "halter.conf: text 7"},
        {{"halter.conf", 0, 5}, "halter.conf: text 7"},
        {{NULL, 12, 5}, "text 7"},
    };
    struct error errors;

    error_init(&errors);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(error_add(&errors, &cases[i].place, "text %d", 7), -1);
        assert_string_equal(errors.faults[i].text, cases[i].expected);
        assert_int_equal(errors.faults[i].kind, FAULT_ERROR);
    }
    assert_int_equal(error_add(&errors, NULL, "%s", "100%s"), -1);
    assert_string_equal(errors.faults[errors.count - 1].text, "100%s");
    error_clear(&errors);
}

static void test_warnings_are_no_errors(void **state)
{
    (void)state;
    struct error errors = ERROR_INIT;

    error_warn(&errors, NULL, "first");
    assert_false(error_any(&errors));
    assert_int_equal(errors.count, 1);
    assert_int_equal(errors.faults[0].kind, FAULT_WARNING);
    assert_int_equal(error_add(&errors, NULL, "second"), -1);
    assert_true(error_any(&errors));
    assert_int_equal(errors.error_count, 1);
    error_clear(&errors);
    assert_false(error_any(&errors));
    assert_int_equal(errors.count, 0);
}

static void test_many_and_long(void **state)
{
    (void)state;
    struct error errors = ERROR_INIT;
    static char text[5000];
    char expected[16];

    memset(text, 't', sizeof text - 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(error_add(&errors, NULL, "%d%s", i, text), -1);
    assert_int_equal(errors.error_count, 100);
    for (int i = 0; i < 100; i++) {
        snprintf(expected, sizeof expected, "%dt", i);
        assert_memory_equal(errors.faults[i].text, expected, strlen(expected));
        assert_int_equal(strlen(errors.faults[i].text), sizeof text - 1 + (i < 10 ? 1 : 2));
    }
    error_clear(&errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_warnings_are_no_errors),
        cmocka_unit_test(test_many_and_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
