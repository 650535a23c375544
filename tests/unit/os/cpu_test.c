#include "os/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_quota(void **state)
{
    (void)state;
    assert_int_equal(cpu_parse_quota_v2("max 100000\n"), 0);
    assert_int_equal(cpu_parse_quota_v2("100000 100000\n"), 1);
    assert_int_equal(cpu_parse_quota_v2("100001 100000\n"), 2);
    assert_int_equal(cpu_parse_quota_v2("150000 100000\n"), 2);
    assert_int_equal(cpu_parse_quota_v2("1000 100000\n"), 1);
    assert_int_equal(cpu_parse_quota_v2("6400000 100000"), 64);
    assert_int_equal(cpu_parse_quota_v2(""), 0);
    assert_int_equal(cpu_parse_quota_v2("100000"), 0);
    assert_int_equal(cpu_parse_quota_v2("-1 0"), 0);
    assert_int_equal(cpu_parse_quota_v2("9223372036854775807 1"), 0);
    assert_int_equal(cpu_parse_quota_v1("-1\n", "100000\n"), 0);
    assert_int_equal(cpu_parse_quota_v1("250000\n", "100000\n"), 3);
    assert_int_equal(cpu_parse_quota_v1("", ""), 0);
}

static void test_cgroup(void **state)
{
    (void)state;
    static const char v1[] = "12:cpuset:/a\n4:cpu,cpuacct:/docker/xyz\n1:name=systemd:/init\n0::/sys:tem\n";
    char path[32];

    assert_true(cpu_parse_cgroup(v1, "cpu", path, sizeof path));
    assert_string_equal(path, "/docker/xyz");
    assert_true(cpu_parse_cgroup(v1, "", path, sizeof path));
    assert_string_equal(path, "/sys:tem");
    assert_true(cpu_parse_cgroup("0::/", "", path, sizeof path));
    assert_string_equal(path, "/");
    assert_false(cpu_parse_cgroup("0::/\n", "cpu", path, sizeof path));
    assert_false(cpu_parse_cgroup("4:cpuacct:/a\n", "cpu", path, sizeof path));
    assert_false(cpu_parse_cgroup("0::/too-long", "", path, 5));
    assert_false(cpu_parse_cgroup("", "", path, sizeof path));
    assert_false(cpu_parse_cgroup("garbage\n:\n", "", path, sizeof path));
}

static void test_auto(void **state)
{
    (void)state;
    assert_true(cpu_allowed() >= 1);
    assert_true(cpu_workers_auto() >= 1);
    assert_true(cpu_workers_auto() <= cpu_allowed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quota),
        cmocka_unit_test(test_cgroup),
        cmocka_unit_test(test_auto),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
