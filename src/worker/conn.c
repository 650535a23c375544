#include "conn.h"

#include <stdlib.h>

#include "os/sock.h"

static void on_client(struct ev_loop *loop, ev_io *io, int events);
static void on_backend(struct ev_loop *loop, ev_io *io, int events);

/* --- watching --- */

static int to_ev(unsigned wants, unsigned read_bit, unsigned write_bit)
{
    return ((wants & read_bit) != 0 ? EV_READ : 0) | ((wants & write_bit) != 0 ? EV_WRITE : 0);
}

static void watch_one(struct ev_loop *loop, ev_io *io, int fd, int events, int priority)
{
    if (ev_is_active(io)) {
        if (io->fd == fd && (io->events & (EV_READ | EV_WRITE)) == events && ev_priority(io) == priority)
            return;
        ev_io_stop(loop, io);
    }
    if (fd < 0 || events == 0)
        return;
    if (io->fd != fd || (io->events & (EV_READ | EV_WRITE)) != events)
        ev_io_set(io, fd, events);
    ev_set_priority(io, priority);
    ev_io_start(loop, io);
}

/* The only place that arms and disarms. */
static void conn_watch(struct conn *conn, unsigned wants)
{
    struct worker *worker = conn->worker;
    const struct relay *relay = &conn->relay;
    int priority = relay->phase == RELAY_HANDSHAKE ? PRIORITY_HANDSHAKE : PRIORITY_RELAY;

    watch_one(worker->loop, &conn->client_io, relay->client.fd, to_ev(wants, RELAY_CLIENT_READ, RELAY_CLIENT_WRITE),
              priority);
    watch_one(worker->loop, &conn->backend_io, relay->backend.fd, to_ev(wants, RELAY_BACKEND_READ, RELAY_BACKEND_WRITE),
              PRIORITY_RELAY);

    /* A later deadline is found out when the slot comes up; only an earlier one has to move. */
    uint64_t deadline_ms = relay->deadline_ms;
    if (deadline_ms != RELAY_NO_DEADLINE && (conn->wheel_ms == 0 || deadline_ms < conn->wheel_ms)) {
        list_remove(&conn->slot);
        wheel_put(&worker->wheel, &conn->slot, deadline_ms);
        conn->wheel_ms = deadline_ms;
        deadline_arm(worker);
    }
}

/* --- life and death --- */

bool conn_open(struct worker *worker, int fd, size_t frontend, const struct endpoint *peer)
{
    struct conn *conn = malloc(sizeof *conn);
    bool is_redirect = frontend == worker->setup->config->frontend_count;
    const struct tls_site *tls_site = is_redirect ? NULL : tls_server_site(worker->setup->server, frontend);
    const struct filter_site *filter_site = worker->setup->filter_ops != NULL ? worker->setup->filter_sites[frontend]
                                                                              : NULL;
    struct transport client;

    if (conn == NULL) {
        sock_close(fd);
        return false;
    }
    if (is_redirect)
        transport_accept_plain(&client, &worker->shared, fd);
    else if (transport_accept(&client, &worker->shared, fd, tls_site) < 0) {
        free(conn);
        return false;
    }
    relay_init(&conn->relay, &worker->env, &client, tls_site, filter_site, peer, clock_now_ms());
    conn->relay.is_answered_here = is_redirect;
    conn->worker = worker;
    conn->wheel_ms = 0;
    conn->waiting_events = 0;
    ev_io_init(&conn->client_io, on_client, -1, 0);
    ev_io_init(&conn->backend_io, on_backend, -1, 0);
    conn->client_io.data = conn;
    conn->backend_io.data = conn;
    list_init(&conn->slot);
    list_init(&conn->waiting);
    list_append(&worker->conns, &conn->link);
    worker->conn_count++;
    metric_add(worker->setup->metrics, METRIC_connections_accepted, 1);
    metric_add(worker->setup->metrics, METRIC_connections_now, 1);
    conn_watch(conn, relay_step(&conn->relay, 0, clock_now_ms()));
    return true;
}

static void conn_close(struct conn *conn)
{
    struct worker *worker = conn->worker;

    ev_io_stop(worker->loop, &conn->client_io);
    ev_io_stop(worker->loop, &conn->backend_io);
    list_remove(&conn->slot);
    list_remove(&conn->waiting);
    close_log_write(worker, &conn->relay);
    relay_clear(&conn->relay);
    list_remove(&conn->link);
    list_append(&worker->graveyard, &conn->link);
    worker->conn_count--;
    metric_subtract(worker->setup->metrics, METRIC_connections_now, 1);
}

void conn_bury_all(struct worker *worker)
{
    bool any = !list_is_empty(&worker->graveyard);

    while (!list_is_empty(&worker->graveyard)) {
        struct conn *conn = LIST_ITEM(worker->graveyard.next, struct conn, link);

        list_remove(&conn->link);
        free(conn);
    }
    if (any)
        worker_on_conn_gone(worker);
}

/* --- events --- */

static void settle(struct conn *conn, unsigned wants)
{
    if (conn->relay.phase == RELAY_CLOSED)
        conn_close(conn);
    else
        conn_watch(conn, wants);
}

static void step(struct conn *conn, unsigned events)
{
    settle(conn, relay_step(&conn->relay, events, clock_now_ms()));
}

/* A handshake beyond this turn's share waits, with what happened to it. */
static bool has_to_wait(struct conn *conn, unsigned events)
{
    struct worker *worker = conn->worker;

    if (conn->relay.phase != RELAY_HANDSHAKE)
        return false;
    if (worker->handshakes_done < HANDSHAKES_PER_TURN && list_is_empty(&worker->handshakes)) {
        worker->handshakes_done++;
        return false;
    }
    conn->waiting_events |= events;
    if (list_is_empty(&conn->waiting))
        list_append(&worker->handshakes, &conn->waiting);
    if (!ev_is_active(&worker->busy))
        ev_idle_start(worker->loop, &worker->busy);
    return true;
}

void conn_resume(struct conn *conn)
{
    unsigned events = conn->waiting_events;

    conn->waiting_events = 0;
    step(conn, events);
}

static void on_client(struct ev_loop *loop, ev_io *io, int events)
{
    struct conn *conn = io->data;
    unsigned what = ((events & (EV_READ | EV_ERROR)) != 0 ? RELAY_CLIENT_READ : 0) |
                    ((events & (EV_WRITE | EV_ERROR)) != 0 ? RELAY_CLIENT_WRITE : 0);

    (void)loop;
    if (!has_to_wait(conn, what))
        step(conn, what);
}

static void on_backend(struct ev_loop *loop, ev_io *io, int events)
{
    struct conn *conn = io->data;
    unsigned what = ((events & (EV_READ | EV_ERROR)) != 0 ? RELAY_BACKEND_READ : 0) |
                    ((events & (EV_WRITE | EV_ERROR)) != 0 ? RELAY_BACKEND_WRITE : 0);

    (void)loop;
    step(conn, what);
}

void conn_on_slot(struct conn *conn, uint64_t now_ms)
{
    uint64_t deadline_ms = conn->relay.deadline_ms;

    conn->wheel_ms = 0;
    if (deadline_ms == RELAY_NO_DEADLINE)
        return;
    if (deadline_ms <= now_ms) {
        settle(conn, relay_expire(&conn->relay, now_ms));
        return;
    }
    wheel_put(&conn->worker->wheel, &conn->slot, deadline_ms);
    conn->wheel_ms = deadline_ms;
}

void conn_shut(struct conn *conn)
{
    relay_shut(&conn->relay);
    conn_close(conn);
}
