/*
 * worker_state.h: the one struct worker of this process, for the files of worker/.
 */
#ifndef HALTER_WORKER_WORKER_STATE_H
#define HALTER_WORKER_WORKER_STATE_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "os/clock.h"
#include "relay/relay.h"
#include "wheel.h"
#include "worker/worker.h"

/* Handshakes that one turn of the loop may do. One handshake is as long as some twenty requests: those who are through
 * wait for at most one of them. */
enum { HANDSHAKES_PER_TURN = 1 };

/* Watchers of lower priority are called later in a turn. */
enum { PRIORITY_ACCEPT = -2, PRIORITY_HANDSHAKE = -1, PRIORITY_RELAY = 0, PRIORITY_CONTROL = 1 };

struct acceptor {
    ev_io io;
    struct worker *worker;
    size_t frontend;
};

struct close_log {
    uint64_t second; /* the second that the counts are of */
    unsigned written[CLOSE_REASON_COUNT];
    unsigned suppressed[CLOSE_REASON_COUNT];
};

struct worker {
    const struct worker_setup *setup;
    struct ev_loop *loop;
    struct relay_env env;
    struct transport_shared shared;

    struct acceptor *acceptors;
    bool accepting;
    size_t conn_count;
    size_t conn_max; /* more would leave none for the backends' side */
    ev_timer accept_retry;

    struct list conns;
    struct list graveyard;
    struct list handshakes;   /* conns whose handshake waits for its turn */
    unsigned handshakes_done; /* in this turn */
    ev_prepare turn;
    ev_idle busy; /* active while handshakes wait, so that the loop does not sleep */

    struct wheel wheel;
    ev_timer wheel_timer;
    uint64_t wheel_timer_ms; /* when wheel_timer is due; 0: it is not active */

    ev_io control_io;
    ev_signal terminate;
    ev_signal quit;
    ev_timer drain_timer;
    bool draining;
    struct close_log close_log;
};

/* accept.c */
void accept_start(struct worker *worker);
void accept_stop(struct worker *worker);
/* Takes what still waits, for nobody may come after us, and stops. */
void accept_last(struct worker *worker);
/* Accepts again after a pause, if one more connection is possible now. */
void accept_resume(struct worker *worker);

/* deadline.c: keeps the loop's timer at the wheel's next slot. */
void deadline_init(struct worker *worker);
void deadline_arm(struct worker *worker);

/* close_log.c: counts, and writes the line that tells how a connection ended, within the limit of its reason. */
void close_log_write(struct worker *worker, const struct relay *relay);

/* worker.c: a connection has been buried. */
void worker_on_conn_gone(struct worker *worker);

#endif
