#include "os/pidfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/halter-pid-test.%ld", (long)getpid());
    unlink(path);
    return 0;
}

static void test_life(void **state)
{
    (void)state;
    struct pidfile pidfile = PIDFILE_INIT, second = PIDFILE_INIT;
    struct error errors = ERROR_INIT;
    char expected[64], text[64] = "";

    assert_int_equal(pidfile_lock(&pidfile, path, &errors), 0);
    assert_int_equal(pidfile_lock(&second, path, &errors), -1);
    assert_non_null(strstr(errors.faults[0].text, "already running"));
    error_clear(&errors);

    assert_int_equal(pidfile_write(&pidfile, &errors), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    snprintf(expected, sizeof expected, "%ld\n", (long)getpid());
    assert_string_equal(text, expected);

    assert_int_equal(pidfile_lock(&second, path, &errors), -1);
    snprintf(expected, sizeof expected, "already running as pid %ld", (long)getpid());
    assert_non_null(strstr(errors.faults[0].text, expected));
    error_clear(&errors);

    pidfile_remove(&pidfile);
    assert_int_equal(access(path, F_OK), -1);
    pidfile_remove(&pidfile); /* twice does no harm */
}

/* Left behind by a crash: nobody holds its lock. */
static void test_stale(void **state)
{
    (void)state;
    struct pidfile pidfile = PIDFILE_INIT;
    struct error errors = ERROR_INIT;
    FILE *file = fopen(path, "w");

    fputs("999999999 and a long text that is longer than the new one\n", file);
    fclose(file);
    assert_int_equal(pidfile_lock(&pidfile, path, &errors), 0);
    assert_int_equal(pidfile_write(&pidfile, &errors), 0);
    char text[64] = "";
    file = fopen(path, "r");
    size_t length = fread(text, 1, sizeof text - 1, file);
    assert_int_equal(length, strlen(text));
    fclose(file);
    assert_int_equal(strtol(text, NULL, 10), (long)getpid());
    assert_null(strstr(text, "and"));
    pidfile_remove(&pidfile);
}

/* Replaced by someone else: not ours to remove. */
static void test_foreign(void **state)
{
    (void)state;
    struct pidfile pidfile = PIDFILE_INIT;
    struct error errors = ERROR_INIT;

    assert_int_equal(pidfile_lock(&pidfile, path, &errors), 0);
    unlink(path);
    FILE *file = fopen(path, "w");
    fclose(file);
    pidfile_remove(&pidfile);
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
}

/* What is removed at the end must not be a device. */
static void test_no_regular_file(void **state)
{
    (void)state;
    struct pidfile pidfile = PIDFILE_INIT;
    struct error errors = ERROR_INIT;

    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pidfile_lock(&pidfile, path, &errors), -1);
    assert_non_null(strstr(errors.faults[0].text, "not a regular file"));
    assert_int_equal(pidfile.fd, -1);
    pidfile_remove(&pidfile);
    assert_int_equal(access(path, F_OK), 0);
    error_clear(&errors);
    unlink(path);
}

static void test_fault(void **state)
{
    (void)state;
    struct pidfile pidfile = PIDFILE_INIT;
    struct error errors = ERROR_INIT;

    assert_int_equal(pidfile_lock(&pidfile, "/nonexistent/pid", &errors), -1);
    assert_non_null(strstr(errors.faults[0].text, "/nonexistent/pid"));
    assert_int_equal(pidfile.fd, -1);
    error_clear(&errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),    cmocka_unit_test(test_stale),
        cmocka_unit_test(test_foreign), cmocka_unit_test(test_no_regular_file),
        cmocka_unit_test(test_fault),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
