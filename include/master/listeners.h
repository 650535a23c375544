/*
 * listeners.h: the set of listening sockets that the master keeps, and how a new configuration changes it.
 *
 * Each address has one SO_REUSEPORT socket for each worker (slot), so that the kernel spreads connections and neither
 * the death of a worker nor a reload empties an accept queue: the sockets belong to the master. Where the kernel cannot
 * spread, all workers share one socket.
 *
 *     wanted addresses --match--> KEEP  (same address: its sockets live on, in the same slots)
 *                                 NEW   (bound in the plan; listens from listeners_plan_start)
 *     live ones not matched ----> DROP  (closed by listeners_plan_finish)
 *
 *     listeners_plan_build(&plan, &live, wanted, ...)     binds NEW; -1: nothing has changed
 *     listeners_plan_start(&plan, ...)                    NEW listens; KEEP is not touched yet
 *     listeners_plan_finish(&plan, &live, ...)            live := plan; options of KEEP; DROP goes to live.retired
 *  or listeners_plan_abandon(&plan)                       closes what it added
 *
 * When there are fewer workers than slots, worker i also serves slots i + workers, i + 2 * workers ...: a queue is never
 * without a reader.
 */
#ifndef HALTER_MASTER_LISTENERS_H
#define HALTER_MASTER_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "os/endpoint.h"
#include "os/listen.h"
#include "worker/worker.h"

/* An address that the configuration asks for. */
struct listen_wanted {
    struct endpoint endpoint; /* port 0: any, the same for all addresses of one frontend */
    size_t frontend;
    bool optional; /* one half of "*": may be missing when the machine lacks the family */
    const struct place *place;
};

struct listener {
    struct endpoint wanted;
    struct endpoint bound; /* with the real port */
    int *fds;              /* one for each slot; one when is_shared */
    size_t fd_count;
    bool is_shared;
};

/* All sockets of this process. */
struct listeners {
    struct listener **items;
    size_t count;
    struct listener **retired; /* dropped, not closed yet */
    size_t retired_count;
};

struct listener_binding {
    struct listener *listener;
    size_t frontend;
    size_t kept_fds; /* how many sockets were there before this plan; 0: the listener is new */
};

struct listeners_plan {
    struct listener_binding *bindings; /* in order of the frontends */
    size_t count;
};

enum { LISTENER_NEW = -1 };

/*
 * Pure: match[i] is the index of the live listener that serves wanted[i], or LISTENER_NEW. No live one is used twice.
 * The same text is matched first (port 0 finds the port chosen before), then the same real address.
 */
void listeners_match(const struct listeners *live, const struct listen_wanted *wanted, size_t count, long *match);

/* Slots are as many as there are workers. On -1, with all faults added, no socket has been made. */
int listeners_plan_build(struct listeners_plan *plan, const struct listeners *live, const struct listen_wanted *wanted,
                         size_t count, unsigned slots, struct error *errors) __attribute__((warn_unused_result));

/* The sockets that are new with the plan begin to listen. */
int listeners_plan_start(struct listeners_plan *plan, const struct listen_options *options, struct error *errors)
    __attribute__((warn_unused_result));

/* The point of no return. The sockets that were there before get the options of the plan now. */
void listeners_plan_finish(const struct listeners_plan *plan, struct listeners *live,
                           const struct listen_options *options);
void listeners_plan_abandon(struct listeners_plan *plan);

/* Frees the plan's own memory; the sockets stay. */
void listeners_plan_clear(struct listeners_plan *plan);

/* What worker index of workers is to serve; the caller frees it. */
struct worker_listener *listeners_of_worker(const struct listeners_plan *plan, unsigned index, unsigned workers,
                                            size_t *count) __attribute__((warn_unused_result));

/* The bound addresses, all of IPv4 first, then in order of the frontends; the caller frees it. */
struct endpoint *listeners_addresses(const struct listeners_plan *plan, size_t *count)
    __attribute__((warn_unused_result));

/* Moves all live ones to retired; closes all retired ones. */
void listeners_retire(struct listeners *live);
void listeners_close_retired(struct listeners *live);

#endif
