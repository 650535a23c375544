#include "os/daemonize.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Our end of the pipe to the process that waits; -1: not a daemon, or said already. */
static int ready_fd = -1;

/* In the first process: wait for the word, or for the end of the daemon. */
static void wait_for_daemon(int fd, pid_t middle) __attribute__((noreturn));

static void wait_for_daemon(int fd, pid_t middle)
{
    char word = 1;
    ssize_t got;

    while (waitpid(middle, NULL, 0) < 0 && errno == EINTR)
        ;
    do
        got = read(fd, &word, 1);
    while (got < 0 && errno == EINTR);
    _exit(got == 1 ? word : 1);
}

int daemonize_begin(struct error *errors)
{
    int ends[2];

    if (pipe(ends) < 0)
        return error_add(errors, NULL, "cannot become a daemon: %s", strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t middle = fork();
    if (middle < 0) {
        error_add(errors, NULL, "cannot become a daemon: %s", strerror(errno));
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    if (middle > 0) {
        close(ends[1]);
        wait_for_daemon(ends[0], middle);
    }
    close(ends[0]);
    (void)setsid();
    /* Not the leader of its session, it can never get a controlling terminal again. */
    pid_t daemon_pid = fork();
    if (daemon_pid != 0)
        _exit(daemon_pid < 0 ? 1 : 0);
    ready_fd = ends[1];
    return 0;
}

void daemonize_detach(void)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd >= 0) {
        dup2(null_fd, STDIN_FILENO);
        dup2(null_fd, STDOUT_FILENO);
        dup2(null_fd, STDERR_FILENO);
        if (null_fd > STDERR_FILENO)
            close(null_fd);
    }
}

void daemonize_ready(void)
{
    char word = 0;

    if (ready_fd < 0)
        return;
    daemonize_detach();
    while (write(ready_fd, &word, 1) < 0 && errno == EINTR)
        ;
    close(ready_fd);
    ready_fd = -1;
}
