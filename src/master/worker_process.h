/*
 * worker_process.h: one worker as the master sees it: a process, a control channel, a page of counters.
 *
 * Knows how to fork one, talk to it, and hear from it; what its death means is decided in generation.h.
 */
#ifndef HALTER_MASTER_WORKER_PROCESS_H
#define HALTER_MASTER_WORKER_PROCESS_H

#include <ev.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "master/backoff.h"
#include "master/listeners.h"
#include "master/prepare.h"
#include "metrics/metrics.h"
#include "msg/control.h"

struct worker_process {
    unsigned index;
    pid_t pid;      /* 0: no process */
    int control_fd; /* -1: none */
    bool is_ready;
    double born; /* ev_now() at fork */
    struct backoff backoff;
    struct metrics_page *metrics;
    ev_io control_watcher;
    ev_timer respawn_timer;
    void *owner; /* the generation, for its callbacks */
};

/* What is the same for all workers of a generation. */
struct worker_launch {
    struct ev_loop *loop;
    unsigned generation;
    const struct prepared *prepared;
    const struct listeners_plan *plan;
    void (*on_child)(void *arg); /* in the child: leave the master's loop */
    void *arg;
};

void worker_process_init(struct worker_process *worker, unsigned index, struct metrics_page *metrics, void *owner);

/* Forks. In the master: 0, or -1 with a fault; on_control is called when the worker speaks. Never returns in the child. */
int worker_process_spawn(struct worker_process *worker, const struct worker_launch *launch,
                         void (*on_control)(struct ev_loop *, ev_io *, int), struct error *errors)
    __attribute__((warn_unused_result));

enum worker_news {
    WORKER_SPOKE,   /* *message is valid; its text is borrowed from packet */
    WORKER_BABBLED, /* a packet that is no message: to be passed over, but to be counted, as it can come without end */
    WORKER_IS_SILENT,
    WORKER_HUNG_UP, /* the channel is at its end */
};

/* Takes one packet from the channel. */
enum worker_news worker_process_receive(struct worker_process *worker, uint8_t packet[CONTROL_PACKET_MAX],
                                        struct control_message *message);

/* Writes a worker's log message to the log, if its level is on. */
void worker_process_log(const struct worker_process *worker, const struct control_message *message);

/* DRAIN or STOP: as a message, and where that does not get through as a signal. */
void worker_process_tell(struct worker_process *worker, enum control_type type);

void worker_process_kill(struct worker_process *worker);

/*
 * Has it ended? Then *status is that of waitpid(). pid stays, for what the channel still holds of it; the caller sets it to
 * 0 when that is read.
 */
bool worker_process_reap(const struct worker_process *worker, int *status);

void worker_process_close_channel(struct worker_process *worker, struct ev_loop *loop);

/* "status=1" or "signal=SIGKILL". Returns buffer. */
const char *worker_process_status_text(int status, char *buffer, size_t size);

#endif
