#include "os/file.h"

#include <errno.h>
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
    snprintf(path, sizeof path, "/tmp/halter-file-test.%ld", (long)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void replace(const char *text, size_t length)
{
    struct error errors = ERROR_INIT;

    assert_int_equal(file_replace(path, text, length, 0644, &errors), 0);
}

static void test_write_and_read(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 65536, 1000000};
    struct error errors = ERROR_INIT;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *text = malloc(sizes[i] + 1), *back = NULL;
        size_t length = 7;

        memset(text, 'a' + (int)i, sizes[i]);
        replace(text, sizes[i]);
        assert_int_equal(file_read(path, FILE_REGULAR, 1000000, &back, &length, NULL, &errors), 0);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(back, text, length);
        assert_int_equal(back[length], '\0');
        file_wipe(back, length);
        free(text);
    }
}

/* What has no size beforehand: grows. */
static void test_read_device(void **state)
{
    (void)state;
    struct error errors = ERROR_INIT;
    char *text = NULL;
    size_t length;

    assert_int_equal(file_read("/proc/self/status", FILE_ANY, 1000000, &text, &length, NULL, &errors), 0);
    assert_true(length > 0 && strlen(text) == length);
    free(text);
    assert_int_equal(file_read("/dev/zero", FILE_ANY, 300000, &text, &length, NULL, &errors), -1);
    assert_non_null(strstr(errors.faults[0].text, "larger than 300000"));
    error_clear(&errors);
}

static void expect_fault(const char *name, enum file_kind kind, const char *text)
{
    struct error errors = ERROR_INIT;
    struct place place = {"conf", 3, 9};
    char *data = NULL;
    size_t length;

    assert_int_equal(file_read(name, kind, 10, &data, &length, &place, &errors), -1);
    assert_null(data);
    assert_int_equal(errors.count, 1);
    assert_true(strncmp(errors.faults[0].text, "conf:3:9: ", 10) == 0);
    assert_non_null(strstr(errors.faults[0].text, text));
    error_clear(&errors);
}

static void test_faults(void **state)
{
    (void)state;
    replace("0123456789", 10);
    expect_fault("/nonexistent/file", FILE_ANY, "/nonexistent/file");
    expect_fault("/tmp", FILE_ANY, "a directory");
    expect_fault("/dev/null", FILE_REGULAR, "not a regular file");
    replace("0123456789x", 11);
    expect_fault(path, FILE_REGULAR, "larger than 10");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_fault(path, FILE_REGULAR, "not a regular file"); /* and did not wait for a writer */
}

static void test_replace_keeps_devices(void **state)
{
    (void)state;
    struct error errors = ERROR_INIT;
    struct stat st;

    assert_int_equal(file_replace("/dev/null", "x", 1, 0644, &errors), 0);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(file_replace("/nonexistent/x", "x", 1, 0644, &errors), -1);
    error_clear(&errors);
}

static void test_parent(void **state)
{
    (void)state;
    assert_true(file_parent_is_writable("/tmp/x"));
    errno = ENOENT;
    assert_false(file_parent_is_writable("/nonexistent/x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_write_and_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_device, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replace_keeps_devices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parent, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
