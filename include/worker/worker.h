/*
 * worker.h: one worker process: accepts, relays, drains.
 *
 * Called in the forked child once privileges are dropped; returns when the worker is to exit. Everything in struct
 * worker_setup is inherited from the master and stays valid for the life of the process.
 *
 * Control channel (msg/control.h): a SOCK_SEQPACKET socket pair. The worker sends READY when it accepts, and LOG for
 * each log line. The master sends DRAIN. End of file on it means that the master is gone: the worker then drains too.
 */
#ifndef HALTER_WORKER_WORKER_H
#define HALTER_WORKER_WORKER_H

#include <stddef.h>

#include "conf/config.h"
#include "metrics/metrics.h"
#include "os/endpoint.h"
#include "relay/filter.h"
#include "tls/tls_server.h"

struct worker_listener {
    int fd;          /* listening, non-blocking; owned by the master, never closed by the worker but at exit */
    size_t frontend; /* index into config->frontends; their count stands for http-redirect */
};

struct worker_setup {
    unsigned index;      /* 0 .. workers - 1 */
    unsigned generation; /* counts reloads, for the log */
    const struct config *config;
    const struct tls_server *server;
    const struct worker_listener *listeners;
    size_t listener_count;
    const struct endpoint *backends; /* resolved addresses of the backend, at least one */
    size_t backend_count;
    const struct filter_ops *filter_ops;           /* NULL: built without HTTP */
    const struct filter_site *const *filter_sites; /* for each frontend, and http-redirect; NULL where none is needed */
    int control_fd;
    struct metrics_page *metrics;
};

/*
 * Runs until drained. Returns the exit status of the process: 0 after DRAIN when the last connection has ended or
 * drain-timeout has passed; 1 when the loop cannot be set up.
 */
int worker_run(const struct worker_setup *setup) __attribute__((warn_unused_result));

/* How many connections a worker holds before it pauses accepting, when it may open file_limit files. */
size_t worker_connections_max(unsigned long file_limit);

#endif
