#include "os/process.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { OPENED = 20 };

static int close_in_child(void)
{
    int fds[OPENED];

    for (int i = 0; i < OPENED; i++)
        fds[i] = open("/dev/null", O_RDONLY);
    /* in no order, with a double, and one below 3 */
    int keep[] = {fds[17], fds[3], STDIN_FILENO, fds[3], fds[4]};
    process_close_all_but(keep, sizeof keep / sizeof keep[0]);
    for (int i = 0; i < OPENED; i++)
        if ((fcntl(fds[i], F_GETFD) >= 0) != (i == 3 || i == 4 || i == 17))
            return 1 + i;
    return fcntl(STDERR_FILENO, F_GETFD) < 0 ? 100 : 0;
}

/* None, one, or all of the three may be closed; what is opened next must not get their numbers. */
static int open_standard_in_child(void)
{
    for (int closed = 0; closed < 8; closed++) {
        for (int fd = 0; fd < 3; fd++)
            if ((closed & 1 << fd) != 0)
                close(fd);
        if (process_open_standard_fds() < 0)
            return 1 + closed;
        int next = open("/dev/null", O_RDONLY);
        if (next < 3)
            return 11 + closed;
        close(next);
        for (int fd = 0; fd < 3; fd++)
            if (fcntl(fd, F_GETFD) != 0) /* open, and passed on */
                return 21 + closed;
    }
    return 0;
}

static int reset_in_child(void)
{
    static const int ignored[] = {SIGHUP, 0};
    struct sigaction action;
    sigset_t mask;

    signal(SIGTERM, SIG_IGN);
    process_block_signals(&mask);
    process_reset_signals(ignored);
    if (sigaction(SIGTERM, NULL, &action) < 0 || action.sa_handler != SIG_DFL)
        return 1;
    if (sigaction(SIGHUP, NULL, &action) < 0 || action.sa_handler != SIG_IGN)
        return 2;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGTERM);
}

static int status_of(int (*function)(void))
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(function());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_close(void **state)
{
    (void)state;
    assert_int_equal(status_of(close_in_child), 0);
}

static void test_open_standard(void **state)
{
    (void)state;
    assert_int_equal(status_of(open_standard_in_child), 0);
}

static void test_reset(void **state)
{
    (void)state;
    assert_int_equal(status_of(reset_in_child), 0);
}

static void test_signal_name(void **state)
{
    (void)state;
    char buffer[32];

    assert_string_equal(process_signal_name(SIGSEGV, buffer, sizeof buffer), "SIGSEGV");
    assert_string_equal(process_signal_name(63, buffer, sizeof buffer), "signal-63");
}

static void test_file_limit(void **state)
{
    (void)state;
    unsigned long limit = process_raise_file_limit();

    assert_true(limit > 0);
    assert_int_equal(process_raise_file_limit(), limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close),       cmocka_unit_test(test_open_standard), cmocka_unit_test(test_reset),
        cmocka_unit_test(test_signal_name), cmocka_unit_test(test_file_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
