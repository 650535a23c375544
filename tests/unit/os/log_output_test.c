#include "os/log_output.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/file.h"

static char directory[64];
static char path[128];

static int set_up(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/halter-log-test.XXXXXX");
    if (mkdtemp(directory) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/log", directory);
    return 0;
}

static int tear_down(void **state)
{
    char name[160];

    (void)state;
    log_output_close();
    snprintf(name, sizeof name, "%s.1", path);
    unlink(name);
    snprintf(name, sizeof name, "%s/socket", directory);
    unlink(name);
    unlink(path);
    return rmdir(directory);
}

static void open_log(const char *filename, const char *syslog_path)
{
    struct log_output_options options = {
        .filename = filename, .syslog = syslog_path != NULL, .facility = "local3", .syslog_path = syslog_path};
    struct error errors = ERROR_INIT;

    assert_int_equal(log_output_open(&options, &errors), 0);
    error_clear(&errors);
}

static void write_text(const char *text)
{
    log_output_write(LOG_SEVERITY_NOTICE, 42, text, strlen(text));
}

static char *read_log(const char *filename)
{
    struct error errors = ERROR_INIT;
    size_t length;
    char *text = NULL;

    assert_int_equal(file_read(filename, FILE_REGULAR, 100000, &text, &length, NULL, &errors), 0);
    return text;
}

static void test_file(void **state)
{
    (void)state;
    open_log(path, NULL);
    write_text("event=one");
    write_text("event=two bad=\n\x1b[31m");
    char *text = read_log(path);
    int year, month, day;
    assert_int_equal(sscanf(text, "%4d-%2d-%2dT", &year, &month, &day), 3);
    assert_non_null(strstr(text, "Z notice halter[42] event=one\n"));
    assert_non_null(strstr(text, "event=two bad=??[31m\n"));
    free(text);
}

static void test_reopen(void **state)
{
    (void)state;
    char moved[160];

    snprintf(moved, sizeof moved, "%s.1", path);
    open_log(path, NULL);
    write_text("event=before");
    assert_int_equal(rename(path, moved), 0);
    assert_true(log_output_reopen());
    write_text("event=after");
    char *old_text = read_log(moved), *new_text = read_log(path);
    assert_non_null(strstr(old_text, "event=before"));
    assert_null(strstr(old_text, "event=after"));
    assert_non_null(strstr(new_text, "event=after"));
    free(old_text);
    free(new_text);
}

/* Then the old file goes on. */
static void test_reopen_fails(void **state)
{
    (void)state;
    char moved[160];

    snprintf(moved, sizeof moved, "%s.1", path);
    open_log(path, NULL);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(log_output_reopen());
    write_text("event=after");
    char *text = read_log(moved);
    assert_non_null(strstr(text, "event=after"));
    free(text);
    assert_int_equal(rmdir(path), 0);
}

/* A rotated file is noticed without a signal, within a second or so. */
static void test_follows_name(void **state)
{
    (void)state;
    struct stat st;

    open_log(path, NULL);
    write_text("event=first");
    assert_int_equal(unlink(path), 0);
    for (int i = 0; i < 40 && stat(path, &st) < 0; i++) {
        usleep(50000);
        write_text("event=next");
    }
    assert_int_equal(stat(path, &st), 0);
}

static void test_full_disk(void **state)
{
    (void)state;
    uint64_t before = log_output_dropped();

    if (access("/dev/full", W_OK) < 0)
        skip();
    open_log("/dev/full", NULL);
    write_text("event=lost");
    write_text("event=lost-too");
    assert_int_equal(log_output_dropped(), before + 2);
}

/* A pipe that nobody reads fills up; then lines are lost, and when there is room again their number is told. */
static void test_stuck_pipe(void **state)
{
    (void)state;
    static char filler[3000], seen[2000000];
    size_t length = 0;
    uint64_t before = log_output_dropped();

    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    open_log(path, NULL);
    memset(filler, 'x', sizeof filler - 1);
    for (int i = 0; i < 1000 && log_output_dropped() < before + 3; i++)
        write_text(filler);
    assert_int_equal(log_output_dropped(), before + 3);
    for (ssize_t got; (got = read(reader, seen + length, sizeof seen - 1 - length)) > 0;)
        length += (size_t)got;
    write_text("event=again");
    ssize_t got = read(reader, seen, sizeof seen - 1);
    assert_true(got > 0);
    seen[got] = '\0';
    assert_non_null(strstr(seen, "event=log-recovered lines_lost=3\n"));
    assert_non_null(strstr(seen, "event=again\n"));
    close(reader);
}

static int bind_syslog(const char *name)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    snprintf(un.sun_path, sizeof un.sun_path, "%s", name);
    unlink(name);
    assert_int_equal(bind(fd, (const struct sockaddr *)&un, sizeof un), 0);
    return fd;
}

static void expect_syslog(int fd, const char *expected)
{
    char line[LOG_LINE_MAX];
    ssize_t got = recv(fd, line, sizeof line - 1, MSG_DONTWAIT);

    assert_true(got > 0);
    line[got] = '\0';
    assert_true(strncmp(line, "<157>", 5) == 0); /* local3 (19 * 8) and notice (5) */
    assert_non_null(strstr(line, expected));
}

static void test_syslog(void **state)
{
    (void)state;
    char name[160];

    snprintf(name, sizeof name, "%s/socket", directory);
    int fd = bind_syslog(name);
    open_log(NULL, name);
    write_text("event=hello");
    expect_syslog(fd, "halter[42]: event=hello");

    /* The daemon is restarted: the next line finds the new socket. */
    close(fd);
    fd = bind_syslog(name);
    write_text("event=restarted");
    expect_syslog(fd, "event=restarted");

    /* It is gone: lost, counted, not waited for. */
    uint64_t before = log_output_dropped();
    close(fd);
    unlink(name);
    write_text("event=lost");
    assert_int_equal(log_output_dropped(), before + 1);
}

static void test_faults(void **state)
{
    (void)state;
    struct log_output_options options = {.filename = "/nonexistent/log"};
    struct error errors = ERROR_INIT;

    assert_int_equal(log_output_open(&options, &errors), -1);
    assert_non_null(strstr(errors.faults[0].text, "/nonexistent/log"));
    error_clear(&errors);
    assert_false(log_output_can_open("/nonexistent/log", NULL, &errors));
    assert_int_equal(errors.count, 1);
    error_clear(&errors);
    assert_true(log_output_can_open(path, NULL, &errors)); /* could be made */
    assert_int_equal(access(path, F_OK), -1);              /* but was not */
    options = (struct log_output_options){.syslog = true, .facility = "nonsense"};
    assert_int_equal(log_output_open(&options, &errors), -1);
    error_clear(&errors);
    assert_true(log_output_facility_known("daemon"));
    assert_false(log_output_facility_known("Daemon"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reopen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reopen_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_follows_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stuck_pipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_syslog, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
