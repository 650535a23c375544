/*
 * master.h: the master process: binds, loads, forks workers, replaces them, reloads, stops.
 *
 *     master_run -> start (prepare, daemonize, bind) -> generation_spawn -> loop [ signals, workers ]* -> stop
 *
 * HUP reloads: a second configuration is built beside the first; any fault, or a worker of it that does not get ready,
 * leaves everything as it was. TERM and INT stop, QUIT drains and stops, USR1 reopens the log.
 */
#ifndef HALTER_MASTER_MASTER_H
#define HALTER_MASTER_MASTER_H

#include <stddef.h>

#include "master/prepare.h"
#include "os/endpoint.h"

struct master_setup {
    const char *version;                 /* for the log */
    const struct filter_ops *filter_ops; /* NULL: built without HTTP */

    /* Called at start and at each SIGHUP with an initialised config; fills it, config_finish() included. */
    load_config_function *load_config;
    void *arg; /* for both callbacks */

    /*
     * NULL, or called once, when the first workers accept: bound has the real addresses, all of IPv4 first, then in
     * order of the frontends; borrowed for the call. Must not end the process.
     */
    void (*on_serving)(void *arg, const struct endpoint *bound, size_t count);
};

/*
 * Runs until it is told to stop. Returns the exit status: 0, or 1 when it could not start, or 2 when that is because of
 * the log file. Faults have been shown by then. The forked workers never return from here. The caller must not have
 * threads, nor handlers for HUP, INT, QUIT, TERM, USR1, CHLD; children of its own are left alone.
 */
int master_run(const struct master_setup *setup) __attribute__((warn_unused_result));

/* "libev 4.33"; buffer is always terminated. */
void master_loop_version(char *buffer, size_t size);

#endif
