/*
 * master_local.h: the state of the master, shared by master.c and reload.c.
 */
#ifndef HALTER_MASTER_MASTER_LOCAL_H
#define HALTER_MASTER_MASTER_LOCAL_H

#include <ev.h>
#include <stdbool.h>

#include "base/list.h"
#include "generation.h"
#include "master/listeners.h"
#include "master/master.h"
#include "master/metrics_pool.h"
#include "os/pidfile.h"
#include "tls/tls_server.h"

enum master_phase {
    MASTER_STARTING, /* the first generation is not ready yet */
    MASTER_SERVING,
    MASTER_DRAINING, /* QUIT: ends with the last worker */
    MASTER_STOPPING, /* TERM, INT, or a failed start: likewise */
};

enum { MASTER_SIGNALS = 6 };

struct master {
    const struct master_setup *setup;
    enum master_phase phase;
    int status;     /* of the process */
    bool is_daemon; /* as it was started: a reload does not change it */
    struct ev_loop *loop;
    ev_signal signals[MASTER_SIGNALS];
    ev_timer retire_timer;       /* closes dropped listeners */
    struct tls_ticket_keys keys; /* the same for all generations: tickets outlive a reload */
    struct pidfile pidfile;
    struct listeners listeners;
    struct metrics_pool metrics;
    struct generation_host host;
    struct generation *current; /* SERVING; NULL before the first is, and when stopping */
    struct generation *next;    /* STARTING; NULL */
    struct list old;            /* DRAINING or STOPPING */
    unsigned last_generation;
    bool is_settling;   /* a reload is done but for closing dropped listeners */
    bool reload_wanted; /* HUP came while a reload was under way */
};

/* reload.c */

/* Binds, listens and forks for prepared, which it takes over. 0; or -1 with faults, and nothing has changed. */
int master_spawn(struct master *master, struct prepared *prepared, struct error *errors)
    __attribute__((warn_unused_result));

/* SIGHUP: builds the new generation, or says why not. */
void master_reload(struct master *master);

/* All workers of master->next accept: it becomes current, the old one drains. */
void master_commit(struct master *master);

/* The dropped listeners are closed: the reload, if there was one, has ended. */
void master_settle(struct master *master);

/* master->next has failed: what was before goes on. */
void master_roll_back(struct master *master);

/* master.c */

/* Log level and outputs as config has them. 0, or -1 with a fault and nothing changed. */
int master_apply_log(const struct master *master, const struct config *config, struct error *errors)
    __attribute__((warn_unused_result));

/* Dropped listeners are closed once draining workers have had time to empty their queues. */
void master_close_dropped_soon(struct master *master);

/* Logs the bound addresses and writes the file of --dbg-listen. */
void master_announce(const struct master *master);

#endif
