/*
 * conn.h: one connection as its worker sees it: a relay with its two watchers and its deadline.
 *
 * What is waited for is derived from the relay after each step, at one place (conn_watch in conn.c), the only caller of
 * ev_io_*. A closed connection lies in the graveyard until the end of the loop's turn, so that no callback of the same
 * turn meets freed memory.
 */
#ifndef HALTER_WORKER_CONN_H
#define HALTER_WORKER_CONN_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "relay/relay.h"
#include "worker_state.h"

struct conn {
    struct relay relay;
    struct worker *worker;
    ev_io client_io;
    ev_io backend_io;
    struct list link;    /* in worker->conns, then in worker->graveyard */
    struct list slot;    /* in the wheel */
    struct list waiting; /* in worker->handshakes, while its handshake waits for its turn */
    uint64_t wheel_ms;   /* the deadline under which it lies in the wheel */
    unsigned waiting_events;
};

/* Takes over fd. False, with fd closed, when memory is exhausted. */
bool conn_open(struct worker *worker, int fd, size_t frontend, const struct endpoint *peer);

/* Goes on with a handshake that had to wait; conn is in no list of waiting ones any more. */
void conn_resume(struct conn *conn);

/* conn's slot in the wheel has come up: its deadline has passed, or has been moved. */
void conn_on_slot(struct conn *conn, uint64_t now_ms);

/* Ends it because the worker stops. */
void conn_shut(struct conn *conn);

/* Frees what lies in the graveyard. */
void conn_bury_all(struct worker *worker);

#endif
