#include "os/process.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

static int compare_fds(const void *a, const void *b)
{
    int left = *(const int *)a, right = *(const int *)b;

    return (left > right) - (left < right);
}

/* By hand, for kernels without close_range(): descriptors above the limit cannot exist. */
static void close_one_by_one(unsigned first, unsigned last)
{
    long limit = sysconf(_SC_OPEN_MAX);

    if (limit < 0 || limit > 1048576)
        limit = 1048576;
    for (unsigned fd = first; fd <= last && fd < (unsigned)limit; fd++)
        close((int)fd);
}

static void close_span(unsigned first, unsigned last)
{
    if (first > last)
        return;
#if defined(__linux__) && defined(SYS_close_range)
    if (syscall(SYS_close_range, first, last, 0) == 0)
        return;
#endif
    close_one_by_one(first, last);
}

int process_open_standard_fds(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_NOCTTY) < 0)
            return -1;
    return 0;
}

void process_close_all_but(int *keep, size_t count)
{
    unsigned next = STDERR_FILENO + 1;

    qsort(keep, count, sizeof *keep, compare_fds);
    for (size_t i = 0; i < count; i++) {
        if (keep[i] < (int)next)
            continue;
        close_span(next, (unsigned)keep[i] - 1);
        next = (unsigned)keep[i] + 1;
    }
    close_span(next, UINT_MAX);
}

void process_reset_signals(const int *ignored)
{
    struct sigaction action;
    sigset_t none;

    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &action, NULL);
    action.sa_handler = SIG_IGN;
    for (; *ignored != 0; ignored++)
        (void)sigaction(*ignored, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void process_block_signals(sigset_t *old)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, old);
}

void process_restore_signals(const sigset_t *old)
{
    sigprocmask(SIG_SETMASK, old, NULL);
}

unsigned long process_raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    if (limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};

        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            limit = raised;
    }
    return limit.rlim_cur == RLIM_INFINITY ? ULONG_MAX : (unsigned long)limit.rlim_cur;
}

const char *process_signal_name(int signal_number, char *buffer, size_t size)
{
    static const struct {
        int number;
        const char *name;
    } table[] = {
        {SIGABRT, "SIGABRT"}, {SIGALRM, "SIGALRM"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGHUP, "SIGHUP"},
        {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},   {SIGKILL, "SIGKILL"}, {SIGPIPE, "SIGPIPE"}, {SIGQUIT, "SIGQUIT"},
        {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},   {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGUSR1, "SIGUSR1"},
        {SIGUSR2, "SIGUSR2"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].number == signal_number)
            return table[i].name;
    snprintf(buffer, size, "signal-%d", signal_number);
    return buffer;
}
