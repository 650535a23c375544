#include "master/backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int milliseconds(double seconds)
{
    return (int)(seconds * 1000 + 0.5);
}

static void test_doubles_to_30_s(void **state)
{
    (void)state;
    static const int expected[] = {0, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};
    struct backoff backoff = {0};

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(milliseconds(backoff_after_death(&backoff, 1)), expected[i]);
}

static void test_long_life_clears(void **state)
{
    (void)state;
    struct backoff backoff = {0};

    for (int i = 0; i < 5; i++)
        (void)backoff_after_death(&backoff, 0);
    assert_true(backoff_after_death(&backoff, 59.9) > 1);
    assert_int_equal(milliseconds(backoff_after_death(&backoff, 60)), 0);
    assert_int_equal(milliseconds(backoff_after_death(&backoff, 0)), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles_to_30_s),
        cmocka_unit_test(test_long_life_clears),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
