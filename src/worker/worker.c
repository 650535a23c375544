#include "worker/worker.h"

#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "conn.h"
#include "msg/control.h"
#include "os/log.h"
#include "worker_state.h"

static void stop_if_drained(struct worker *worker)
{
    if (worker->draining && worker->conn_count == 0)
        ev_break(worker->loop, EVBREAK_ALL);
}

void worker_on_conn_gone(struct worker *worker)
{
    if (!worker->accepting)
        accept_resume(worker);
    stop_if_drained(worker);
}

static void on_drain_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct worker *worker = timer->data;

    (void)events;
    log_notice("event=drain-timeout worker=%u connections=%zu", worker->setup->index, worker->conn_count);
    ev_break(loop, EVBREAK_ALL);
}

static void begin_drain(struct worker *worker, const char *why)
{
    unsigned seconds = worker->setup->config->drain_timeout_s;

    if (worker->draining)
        return;
    accept_last(worker);
    worker->draining = true;
    log_notice("event=draining worker=%u generation=%u connections=%zu why=%s", worker->setup->index,
               worker->setup->generation, worker->conn_count, why);
    if (seconds > 0) {
        ev_timer_set(&worker->drain_timer, seconds, 0.);
        ev_timer_start(worker->loop, &worker->drain_timer);
    }
    stop_if_drained(worker);
}

/* --- the master --- */

static void on_control(struct ev_loop *loop, ev_io *io, int events)
{
    struct worker *worker = io->data;
    uint8_t packet[CONTROL_PACKET_MAX];
    struct control_message message;
    ssize_t size = recv(io->fd, packet, sizeof packet, MSG_DONTWAIT);

    (void)events;
    if (size < 0)
        return;
    if (size == 0) {
        ev_io_stop(loop, io);
        begin_drain(worker, "master-gone");
        return;
    }
    if (!control_decode(packet, (size_t)size, &message))
        return;
    switch (message.type) {
    case CONTROL_DRAIN:
        begin_drain(worker, "told");
        break;
    case CONTROL_STOP:
        ev_break(loop, EVBREAK_ALL);
        break;
    case CONTROL_READY:
    case CONTROL_LOG:
        break;
    }
}

static void tell_ready(const struct worker *worker)
{
    struct control_message message = {.type = CONTROL_READY};
    uint8_t packet[CONTROL_PACKET_MAX];
    size_t size = control_encode(&message, packet);

    if (send(worker->setup->control_fd, packet, size, MSG_NOSIGNAL) < 0)
        log_error("event=control-failed worker=%u", worker->setup->index);
}

static void on_terminate(struct ev_loop *loop, ev_signal *signal, int events)
{
    (void)signal;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void on_quit(struct ev_loop *loop, ev_signal *signal, int events)
{
    (void)loop;
    (void)events;
    begin_drain(signal->data, "signal");
}

/* --- each turn --- */

static void on_turn(struct ev_loop *loop, ev_prepare *prepare, int events)
{
    struct worker *worker = prepare->data;

    (void)events;
    conn_bury_all(worker);
    for (worker->handshakes_done = 0; worker->handshakes_done < HANDSHAKES_PER_TURN; worker->handshakes_done++) {
        if (list_is_empty(&worker->handshakes))
            break;
        struct conn *conn = LIST_ITEM(worker->handshakes.next, struct conn, waiting);

        list_remove(&conn->waiting);
        conn_resume(conn);
    }
    conn_bury_all(worker);
    if (list_is_empty(&worker->handshakes))
        ev_idle_stop(loop, &worker->busy);
}

static void on_busy(struct ev_loop *loop, ev_idle *idle, int events)
{
    (void)loop;
    (void)idle;
    (void)events;
}

/* --- the worker --- */

static void start_watchers(struct worker *worker)
{
    ev_prepare_init(&worker->turn, on_turn);
    ev_idle_init(&worker->busy, on_busy);
    ev_set_priority(&worker->busy, EV_MINPRI);
    ev_io_init(&worker->control_io, on_control, worker->setup->control_fd, EV_READ);
    ev_set_priority(&worker->control_io, PRIORITY_CONTROL);
    ev_signal_init(&worker->terminate, on_terminate, SIGTERM);
    ev_signal_init(&worker->quit, on_quit, SIGQUIT);
    ev_timer_init(&worker->drain_timer, on_drain_timeout, 0., 0.);
    worker->turn.data = worker;
    worker->control_io.data = worker;
    worker->quit.data = worker;
    worker->drain_timer.data = worker;
    ev_prepare_start(worker->loop, &worker->turn);
    ev_io_start(worker->loop, &worker->control_io);
    ev_signal_start(worker->loop, &worker->terminate);
    ev_signal_start(worker->loop, &worker->quit);
}

static int prepare(struct worker *worker, const struct worker_setup *setup)
{
    memset(worker, 0, sizeof *worker);
    worker->setup = setup;
    list_init(&worker->conns);
    list_init(&worker->graveyard);
    list_init(&worker->handshakes);
    if (transport_shared_init(&worker->shared) < 0)
        return -1;
    worker->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (worker->loop == NULL)
        return -1;
    worker->env = (struct relay_env){
        .config = setup->config,
        .backends = setup->backends,
        .backend_count = setup->backend_count,
        .shared = &worker->shared,
        .metrics = setup->metrics,
        .filter_ops = setup->filter_ops,
    };
    deadline_init(worker);
    return 0;
}

static void shut_all(struct worker *worker)
{
    while (!list_is_empty(&worker->conns))
        conn_shut(LIST_ITEM(worker->conns.next, struct conn, link));
    conn_bury_all(worker);
}

int worker_run(const struct worker_setup *setup)
{
    static struct worker worker; /* one in a process; too large for some stacks */

    if (prepare(&worker, setup) < 0) {
        log_error("event=worker-failed worker=%u reason=\"cannot set up its loop\"", setup->index);
        transport_shared_clear(&worker.shared);
        return 1;
    }
    start_watchers(&worker);
    accept_start(&worker);
    tell_ready(&worker);
    ev_run(worker.loop, 0);

    worker.draining = true;
    accept_stop(&worker);
    shut_all(&worker);
    free(worker.acceptors);
    ev_loop_destroy(worker.loop);
    transport_shared_clear(&worker.shared);
    return 0;
}
