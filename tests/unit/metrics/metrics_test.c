#include "metrics/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(metric_name(METRIC_connections_accepted), "connections_accepted");
    for (int i = 0; i < METRIC_COUNT; i++) {
        const char *name = metric_name((enum metric)i);

        assert_non_null(name);
        assert_true(metric_help((enum metric)i)[0] != '\0');
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(name, metric_name((enum metric)j));
    }
}

/* Each counter is its own. */
static void test_counting(void **state)
{
    (void)state;
    struct metrics_page page;

    memset(&page, 0, sizeof page);
    for (int i = 0; i < METRIC_COUNT; i++)
        metric_add(&page, (enum metric)i, (uint64_t)i + 1);
    for (int i = 0; i < METRIC_COUNT; i++) {
        assert_int_equal(metric_read(&page, (enum metric)i), i + 1);
        metric_subtract(&page, (enum metric)i, (uint64_t)i + 1);
    }
    for (int i = 0; i < METRIC_COUNT; i++)
        assert_int_equal(metric_read(&page, (enum metric)i), 0);
    for (int i = 0; i < METRICS_CLOSE_REASONS_MAX; i++)
        assert_int_equal(page.closes[i], 0);
}

static void test_large_amounts(void **state)
{
    (void)state;
    struct metrics_page page;

    memset(&page, 0, sizeof page);
    metric_add(&page, METRIC_reply_bytes, UINT64_C(5) << 40);
    metric_add(&page, METRIC_reply_bytes, 0);
    metric_add(&page, METRIC_reply_bytes, UINT64_C(1) << 63);
    assert_true(metric_read(&page, METRIC_reply_bytes) == (UINT64_C(5) << 40 | UINT64_C(1) << 63));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_large_amounts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
