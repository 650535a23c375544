#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "conn.h"
#include "os/log.h"
#include "os/sock.h"
#include "worker_state.h"

enum {
    ACCEPTS_PER_WAKE = 16,
    ACCEPTS_AT_THE_END = 4096,      /* of one queue; bounded, as new ones may come faster than we take them */
    DESCRIPTORS_KEPT_BACK = 32,     /* for the loop, the log, the control channel, listeners */
    DESCRIPTORS_PER_CONNECTION = 2, /* the client's and the backend's */
};

#define ACCEPT_RETRY_S 0.25

static void set_watching(struct worker *worker, bool on)
{
    if (worker->accepting == on)
        return;
    worker->accepting = on;
    for (size_t i = 0; i < worker->setup->listener_count; i++) {
        if (on)
            ev_io_start(worker->loop, &worker->acceptors[i].io);
        else
            ev_io_stop(worker->loop, &worker->acceptors[i].io);
    }
}

/* What waits stays in the kernel's queue until a connection ends, or until another try a little later. */
static void pause_accepting(struct worker *worker, const char *reason)
{
    char text[128];

    set_watching(worker, false);
    metric_add(worker->setup->metrics, METRIC_accept_pauses, 1);
    if (metric_read(worker->setup->metrics, METRIC_accept_pauses) == 1)
        log_error("event=accept-paused connections=%zu reason=%s cure=%s", worker->conn_count,
                  log_quote(text, sizeof text, reason),
                  "\"raise the limit of open files (ulimit -n, LimitNOFILE=), or add workers\"");
    if (!ev_is_active(&worker->accept_retry)) {
        ev_timer_set(&worker->accept_retry, ACCEPT_RETRY_S, 0.);
        ev_timer_start(worker->loop, &worker->accept_retry);
    }
}

void accept_resume(struct worker *worker)
{
    if (worker->draining || worker->accepting || worker->conn_count >= worker->conn_max)
        return;
    ev_timer_stop(worker->loop, &worker->accept_retry);
    set_watching(worker, true);
}

static void on_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    accept_resume(timer->data);
}

/* Takes up to count connections from one queue. False when there is no point in going on. */
static bool accept_some(struct acceptor *acceptor, int count)
{
    struct worker *worker = acceptor->worker;
    struct endpoint peer;
    int fd;

    for (int i = 0; i < count; i++) {
        if (worker->conn_count >= worker->conn_max) {
            pause_accepting(worker, "all descriptors of this worker are in use");
            return false;
        }
        switch (sock_accept(acceptor->io.fd, &fd, &peer)) {
        case SOCK_ACCEPTED:
            if (!conn_open(worker, fd, acceptor->frontend, &peer)) {
                pause_accepting(worker, "out of memory");
                return false;
            }
            break;
        case SOCK_ACCEPT_NONE:
            return true;
        case SOCK_ACCEPT_GONE:
            metric_add(worker->setup->metrics, METRIC_accept_failures, 1);
            break;
        case SOCK_ACCEPT_EXHAUSTED:
        case SOCK_ACCEPT_FAILED:
            metric_add(worker->setup->metrics, METRIC_accept_failures, 1);
            pause_accepting(worker, strerror(errno));
            return false;
        }
    }
    return true;
}

static void on_accept(struct ev_loop *loop, ev_io *io, int events)
{
    (void)loop;
    (void)events;
    (void)accept_some(io->data, ACCEPTS_PER_WAKE);
}

size_t worker_connections_max(unsigned long file_limit)
{
    if (file_limit <= DESCRIPTORS_KEPT_BACK + DESCRIPTORS_PER_CONNECTION)
        return 1;
    return (size_t)(file_limit - DESCRIPTORS_KEPT_BACK) / DESCRIPTORS_PER_CONNECTION;
}

static size_t most_connections(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return worker_connections_max((unsigned long)limit.rlim_cur);
}

void accept_start(struct worker *worker)
{
    const struct worker_setup *setup = worker->setup;

    worker->conn_max = most_connections();
    worker->acceptors = mem_new(setup->listener_count, sizeof *worker->acceptors);
    for (size_t i = 0; i < setup->listener_count; i++) {
        struct acceptor *acceptor = &worker->acceptors[i];

        acceptor->worker = worker;
        acceptor->frontend = setup->listeners[i].frontend;
        ev_io_init(&acceptor->io, on_accept, setup->listeners[i].fd, EV_READ);
        ev_set_priority(&acceptor->io, PRIORITY_ACCEPT);
        acceptor->io.data = acceptor;
    }
    ev_timer_init(&worker->accept_retry, on_retry, 0., 0.);
    worker->accept_retry.data = worker;
    set_watching(worker, true);
}

void accept_last(struct worker *worker)
{
    for (size_t i = 0; i < worker->setup->listener_count; i++)
        if (!accept_some(&worker->acceptors[i], ACCEPTS_AT_THE_END))
            break;
    accept_stop(worker);
}

void accept_stop(struct worker *worker)
{
    set_watching(worker, false);
    ev_timer_stop(worker->loop, &worker->accept_retry);
}
