#include "worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/cpu.h"
#include "os/log.h"
#include "os/log_output.h"
#include "os/process.h"
#include "worker/worker.h"

/* The leak checker, where one is linked in: _exit() would pass it over. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

/* In a worker: where its log lines go. */
static int child_control_fd = -1;
static struct metrics_page *child_metrics;

void worker_process_init(struct worker_process *worker, unsigned index, struct metrics_page *metrics, void *owner)
{
    memset(worker, 0, sizeof *worker);
    worker->index = index;
    worker->control_fd = -1;
    worker->metrics = metrics;
    worker->owner = owner;
}

/* --- in the child --- */

static void send_log(enum log_severity severity, const char *text, size_t length)
{
    struct control_message message = {
        .type = CONTROL_LOG, .severity = (uint8_t)severity, .text = text, .length = length};
    uint8_t packet[CONTROL_PACKET_MAX];
    size_t size = control_encode(&message, packet);

    if (send(child_control_fd, packet, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        metric_add(child_metrics, METRIC_log_lines_dropped, 1);
}

static void report_bug(const char *line)
{
    char text[600];

    log_error("event=bug text=%s", log_quote(text, sizeof text, line));
}

static void close_what_is_not_ours(int control_fd, const struct worker_listener *listeners, size_t count)
{
    int *keep = mem_new(count + 1, sizeof *keep);

    for (size_t i = 0; i < count; i++)
        keep[i] = listeners[i].fd;
    keep[count] = control_fd;
    process_close_all_but(keep, count + 1);
    free(keep);
}

static int drop_privileges(const struct prepared *prepared)
{
    struct error errors = ERROR_INIT;
    char text[1024];
    int result = privileges_drop(&prepared->who, prepared->config.chroot_dir, &errors);

    for (size_t i = 0; i < errors.count; i++)
        log_error("event=worker-not-started reason=%s", log_quote(text, sizeof text, errors.faults[i].text));
    error_clear(&errors);
    return result;
}

/* In a chroot the checker cannot do its work, and hangs. */
static void check_leaks(void)
{
    if (__lsan_do_leak_check != NULL && access("/proc/self/task", R_OK) == 0)
        __lsan_do_leak_check();
}

static void run_child(const struct worker_process *worker, const struct worker_launch *launch, int control_fd)
    __attribute__((noreturn));

static void run_child(const struct worker_process *worker, const struct worker_launch *launch, int control_fd)
{
    static const int ignored[] = {SIGPIPE, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, 0};
    const struct prepared *prepared = launch->prepared;
    int status = 1;

    launch->on_child(launch->arg);
    process_reset_signals(ignored);
    child_control_fd = control_fd;
    child_metrics = worker->metrics;
    log_set_sink(send_log);
    check_set_reporter(report_bug);

    struct worker_setup setup = {
        .index = worker->index,
        .generation = launch->generation,
        .config = &prepared->config,
        .server = prepared->server,
        .backends = prepared->backends.endpoints,
        .backend_count = prepared->backends.count,
        .filter_ops = prepared->filter_ops,
        .filter_sites = (const struct filter_site *const *)prepared->filter_sites,
        .control_fd = control_fd,
        .metrics = worker->metrics,
    };
    struct worker_listener *listeners = listeners_of_worker(launch->plan, worker->index, prepared->worker_count,
                                                            &setup.listener_count);
    setup.listeners = listeners;
    close_what_is_not_ours(control_fd, listeners, setup.listener_count);
    if (!cpu_pin(worker->index))
        log_info("event=not-pinned worker=%u", worker->index);
    if (drop_privileges(prepared) == 0)
        status = worker_run(&setup);
    free(listeners);
    check_leaks();
    _exit(status);
}

/* --- in the master --- */

static int make_channel(int ends[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

int worker_process_spawn(struct worker_process *worker, const struct worker_launch *launch,
                         void (*on_control)(struct ev_loop *, ev_io *, int), struct error *errors)
{
    sigset_t old;
    int ends[2];

    if (make_channel(ends) < 0)
        return error_add(errors, NULL, "cannot make the control channel of a worker: %s", strerror(errno));
    fflush(NULL);
    /* Blocked until the child has left the master's handlers behind: a signal must not run them in the child. */
    process_block_signals(&old);
    pid_t pid = fork();
    if (pid == 0)
        run_child(worker, launch, ends[1]);
    int fork_errno = errno;
    process_restore_signals(&old);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return error_add(errors, NULL, "cannot fork a worker: %s", strerror(fork_errno));
    }
    worker->pid = pid;
    worker->control_fd = ends[0];
    worker->is_ready = false;
    worker->born = ev_now(launch->loop);
    ev_io_init(&worker->control_watcher, on_control, ends[0], EV_READ);
    worker->control_watcher.data = worker;
    ev_io_start(launch->loop, &worker->control_watcher);
    return 0;
}

enum worker_news worker_process_receive(struct worker_process *worker, uint8_t packet[CONTROL_PACKET_MAX],
                                        struct control_message *message)
{
    ssize_t size;

    do
        size = recv(worker->control_fd, packet, CONTROL_PACKET_MAX, MSG_DONTWAIT);
    while (size < 0 && errno == EINTR);
    if (size < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? WORKER_IS_SILENT : WORKER_HUNG_UP;
    if (size == 0)
        return WORKER_HUNG_UP;
    return control_decode(packet, (size_t)size, message) ? WORKER_SPOKE : WORKER_BABBLED;
}

void worker_process_log(const struct worker_process *worker, const struct control_message *message)
{
    enum log_severity severity = (enum log_severity)message->severity;

    if (log_enabled(severity))
        log_output_write(severity, worker->pid, message->text, message->length);
}

void worker_process_tell(struct worker_process *worker, enum control_type type)
{
    struct control_message message = {.type = type};
    uint8_t packet[CONTROL_PACKET_MAX];
    size_t size = control_encode(&message, packet);

    if (worker->pid == 0)
        return;
    bool sent = worker->control_fd >= 0 &&
                send(worker->control_fd, packet, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
    if (type == CONTROL_STOP)
        kill(worker->pid, SIGTERM);
    else if (!sent)
        kill(worker->pid, SIGQUIT);
}

void worker_process_kill(struct worker_process *worker)
{
    if (worker->pid > 0)
        kill(worker->pid, SIGKILL);
}

bool worker_process_reap(const struct worker_process *worker, int *status)
{
    if (worker->pid == 0)
        return false;
    pid_t pid = waitpid(worker->pid, status, WNOHANG);
    if (pid == 0 || (pid < 0 && errno != ECHILD))
        return false;
    if (pid < 0)
        *status = 0; /* somebody else has waited for it */
    return true;
}

void worker_process_close_channel(struct worker_process *worker, struct ev_loop *loop)
{
    if (worker->control_fd < 0)
        return;
    ev_io_stop(loop, &worker->control_watcher);
    close(worker->control_fd);
    worker->control_fd = -1;
}

const char *worker_process_status_text(int status, char *buffer, size_t size)
{
    char name[32];

    if (WIFSIGNALED(status))
        snprintf(buffer, size, "signal=%s", process_signal_name(WTERMSIG(status), name, sizeof name));
    else
        snprintf(buffer, size, "status=%d", WEXITSTATUS(status));
    return buffer;
}
