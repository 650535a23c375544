#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/worker.h"

/* Two descriptors each, and some kept back; at least one, however few there are. */
static void test_connections_max(void **state)
{
    (void)state;
    assert_int_equal(worker_connections_max(1024), (1024 - 32) / 2);
    assert_int_equal(worker_connections_max(48), 8);
    assert_int_equal(worker_connections_max(36), 2);
    for (unsigned long limit = 0; limit < 36; limit++)
        assert_int_equal(worker_connections_max(limit), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connections_max),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
