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

/* Told to end, again and again: at once each time, and the record of real deaths stays. */
static void test_good_ends(void **state)
{
    (void)state;
    struct backoff backoff = {0};

    for (int i = 0; i < 5; i++)
        assert_int_equal(milliseconds(backoff_after_end(&backoff, 1)), 0);
    assert_int_equal(milliseconds(backoff_after_death(&backoff, 0)), 0);
    assert_int_equal(milliseconds(backoff_after_end(&backoff, 1)), 0);
    assert_int_equal(milliseconds(backoff_after_death(&backoff, 0)), 100);
}

/* A worker that ends by itself as soon as it is there is no less of a loop for its good manners. */
static void test_good_ends_in_a_loop(void **state)
{
    (void)state;
    struct backoff backoff = {0};

    assert_int_equal(milliseconds(backoff_after_end(&backoff, 0.1)), 0);
    assert_int_equal(milliseconds(backoff_after_end(&backoff, 0.1)), 100);
    assert_int_equal(milliseconds(backoff_after_end(&backoff, 0.1)), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles_to_30_s),
        cmocka_unit_test(test_long_life_clears),
        cmocka_unit_test(test_good_ends),
        cmocka_unit_test(test_good_ends_in_a_loop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
