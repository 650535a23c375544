#include "master/metrics_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_counts_outlive_the_writer(void **state)
{
    (void)state;
    struct metrics_pool pool = {0};
    struct metrics_page *first = metrics_pool_take(&pool), *second = metrics_pool_take(&pool);
    int status;

    assert_ptr_not_equal(first, second);
    pid_t pid = fork();
    if (pid == 0) {
        metric_add(first, METRIC_connections_accepted, 5);
        metric_add(first, METRIC_connections_now, 5);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    metric_add(second, METRIC_connections_accepted, 2);
    metric_add(second, METRIC_connections_now, 2);
    assert_int_equal(metrics_pool_total(&pool, METRIC_connections_accepted), 7);

    metrics_pool_release(&pool, first);
    assert_int_equal(metrics_pool_total(&pool, METRIC_connections_now), 2);
    assert_int_equal(metrics_pool_total(&pool, METRIC_connections_accepted), 7);
    assert_ptr_equal(metrics_pool_take(&pool), first);
    assert_int_equal(metric_read(first, METRIC_connections_accepted), 5);
    metrics_pool_clear(&pool);
    assert_int_equal(metrics_pool_total(&pool, METRIC_connections_accepted), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_outlive_the_writer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
