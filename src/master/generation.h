/*
 * generation.h: all workers of one configuration, from their start to the end of the last.
 *
 *     STARTING --all ready--> SERVING --drain--> DRAINING --last ended--> gone
 *        |                       |                  |
 *        +------- stop ----------+------ stop ------+--> STOPPING --last ended--> gone
 *
 * STARTING: a worker that ends before it is ready, or READY_LIMIT_S without all being ready, is a failure: on_failed.
 * Whatever leaves STARTING other than by all being ready abandons the plan: sockets that are new with it are closed.
 * SERVING: a dead worker is replaced, with back-off. DRAINING, STOPPING: no replacement.
 */
#ifndef HALTER_MASTER_GENERATION_H
#define HALTER_MASTER_GENERATION_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "master/listeners.h"
#include "master/metrics_pool.h"
#include "master/prepare.h"
#include "worker_process.h"

enum generation_state {
    GENERATION_STARTING,
    GENERATION_SERVING,
    GENERATION_DRAINING,
    GENERATION_STOPPING,
};

struct generation;

/* The master. Each callback may stop, drain or (only on_gone) free the generation. */
struct generation_host {
    struct ev_loop *loop;
    struct metrics_pool *metrics;
    void *arg;
    void (*on_child)(void *arg); /* in a forked child */
    void (*on_ready)(void *arg, struct generation *generation);
    void (*on_failed)(void *arg, struct generation *generation); /* once, out of STARTING; is STOPPING by then */
    void (*on_gone)(void *arg, struct generation *generation);   /* no process is left */
};

struct generation {
    struct list link; /* the master's list */
    unsigned number;
    enum generation_state state;
    const struct generation_host *host;
    struct prepared *prepared; /* NULL once no worker will be forked from it any more */
    unsigned drain_timeout_s;
    struct listeners_plan plan;
    struct worker_process *workers;
    size_t worker_count;
    size_t ready_count;
    bool has_failed; /* on_failed is still to be called */
    ev_timer deadline;
};

/* Takes over prepared, and the contents of plan, which is left empty. */
struct generation *generation_new(const struct generation_host *host, unsigned number, struct prepared *prepared,
                                  struct listeners_plan *plan) __attribute__((warn_unused_result));

/* Forks all workers. 0; or -1 with a fault, then those that were forked are being stopped, and on_gone follows. */
int generation_spawn(struct generation *generation, struct error *errors) __attribute__((warn_unused_result));

/* A generation that is STARTING is stopped at once: it has no connections. */
void generation_drain(struct generation *generation);
void generation_stop(struct generation *generation);

/* Leaves a draining generation at most this long: its young connections may still finish. */
void generation_hurry(struct generation *generation, double most_s);

/* After SIGCHLD, or when in doubt. May call on_failed and on_gone. */
void generation_reap(struct generation *generation);

size_t generation_live_count(const struct generation *generation);
void generation_free(struct generation *generation);

#endif
