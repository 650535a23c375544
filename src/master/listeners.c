#include "master/listeners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"

/* How often another free port is tried when the one that the first address got is taken in the other family. */
enum { PORT_ATTEMPTS = 16 };

/* --- diff --- */

static long match_one(const struct listeners *live, const bool *used, const struct endpoint *endpoint, bool by_bound)
{
    for (size_t i = 0; i < live->count; i++) {
        const struct endpoint *has = by_bound ? &live->items[i]->bound : &live->items[i]->wanted;

        if (!used[i] && endpoint_equal(has, endpoint))
            return (long)i;
    }
    return LISTENER_NEW;
}

void listeners_match(const struct listeners *live, const struct listen_wanted *wanted, size_t count, long *match)
{
    bool *used = mem_new(live->count, sizeof *used);

    for (int by_bound = 0; by_bound < 2; by_bound++) {
        for (size_t i = 0; i < count; i++) {
            if (by_bound && match[i] != LISTENER_NEW)
                continue;
            match[i] = match_one(live, used, &wanted[i].endpoint, by_bound);
            if (match[i] != LISTENER_NEW)
                used[match[i]] = true;
        }
    }
    free(used);
}

/* --- one listener --- */

static void listener_close_from(struct listener *listener, size_t first)
{
    for (size_t i = first; i < listener->fd_count; i++)
        listen_stop(listener->fds[i]);
    if (first < listener->fd_count)
        listener->fd_count = first;
}

static void listener_free(struct listener *listener)
{
    listener_close_from(listener, 0);
    free(listener->fds);
    free(listener);
}

/* Binds sockets until there are enough. 0, or -1 with errno; then those that were made stay for the caller to close. */
static int listener_grow(struct listener *listener, size_t slots)
{
    if (listener->is_shared)
        slots = 1;
    if (slots > listener->fd_count)
        listener->fds = mem_resize(listener->fds, slots, sizeof *listener->fds);
    while (listener->fd_count < slots) {
        int fd = listen_bind(&listener->bound, !listener->is_shared, &listener->bound);

        if (fd < 0)
            return -1;
        listener->fds[listener->fd_count++] = fd;
    }
    return 0;
}

static struct listener *listener_new(const struct endpoint *wanted, const struct endpoint *target, size_t slots)
{
    struct listener *listener = mem_new(1, sizeof *listener);

    listener->wanted = *wanted;
    listener->bound = *target;
    listener->is_shared = !listen_can_share();
    if (listener_grow(listener, slots) == 0)
        return listener;
    int saved_errno = errno;
    listener_free(listener);
    errno = saved_errno;
    return NULL;
}

/* --- plan --- */

static void plan_add(struct listeners_plan *plan, struct listener *listener, size_t frontend, size_t kept_fds)
{
    plan->bindings = mem_resize(plan->bindings, plan->count + 1, sizeof *plan->bindings);
    plan->bindings[plan->count++] = (struct listener_binding){
        .listener = listener, .frontend = frontend, .kept_fds = kept_fds};
}

/* Takes back all bindings from first on. */
static void plan_undo(struct listeners_plan *plan, size_t first)
{
    while (plan->count > first) {
        struct listener_binding *binding = &plan->bindings[--plan->count];

        if (binding->kept_fds == 0)
            listener_free(binding->listener);
        else
            listener_close_from(binding->listener, binding->kept_fds);
    }
}

/* Do we hold a socket of this port ourselves? Then a wildcard beside a single address is the operator's wish. */
static bool port_is_ours(const struct listeners_plan *plan, const struct listeners *live, uint16_t port)
{
    for (size_t i = 0; i < live->count; i++)
        if (endpoint_port(&live->items[i]->bound) == port)
            return true;
    for (size_t i = 0; i < plan->count; i++)
        if (endpoint_port(&plan->bindings[i].listener->bound) == port)
            return true;
    return false;
}

enum bind_result {
    BIND_DONE,
    BIND_SKIPPED, /* optional, and the machine lacks the family */
    BIND_FAILED,  /* errno */
};

static enum bind_result bind_new(struct listeners_plan *plan, const struct listeners *live,
                                 const struct listen_wanted *wanted, uint16_t port, size_t slots)
{
    struct endpoint target = wanted->endpoint;
    struct listener *listener = NULL;

    endpoint_set_port(&target, port);
    if (port == 0 || port_is_ours(plan, live, port) || listen_probe(&target) == 0)
        listener = listener_new(&wanted->endpoint, &target, slots);
    if (listener == NULL)
        return wanted->optional && listen_family_is_missing(errno) ? BIND_SKIPPED : BIND_FAILED;
    plan_add(plan, listener, wanted->frontend, 0);
    return BIND_DONE;
}

static enum bind_result bind_kept(struct listeners_plan *plan, struct listener *listener, size_t frontend, size_t slots)
{
    plan_add(plan, listener, frontend, listener->fd_count);
    return listener_grow(listener, slots) == 0 ? BIND_DONE : BIND_FAILED;
}

struct frontend_attempt {
    bool port_was_taken; /* the port that the kernel chose for the first address is in use for another: try again */
    bool failed;
};

/* All addresses of one frontend, wanted[0 .. count). Faults are added only when trying again would not help. */
static struct frontend_attempt bind_frontend(struct listeners_plan *plan, const struct listeners *live,
                                             const struct listen_wanted *wanted, const long *match, size_t count,
                                             size_t slots, bool is_last_attempt, struct error *errors)
{
    struct frontend_attempt attempt = {false, false};
    size_t first = plan->count;
    uint16_t chosen = 0;
    int missing = 0;

    for (size_t i = 0; i < count; i++) {
        bool any_port = endpoint_port(&wanted[i].endpoint) == 0;
        enum bind_result result;

        if (match[i] != LISTENER_NEW)
            result = bind_kept(plan, live->items[match[i]], wanted[i].frontend, slots);
        else
            result = bind_new(plan, live, &wanted[i], any_port ? chosen : endpoint_port(&wanted[i].endpoint), slots);
        if (result == BIND_SKIPPED) {
            missing = errno;
        } else if (result == BIND_FAILED) {
            if (any_port && chosen != 0 && errno == EADDRINUSE && !is_last_attempt) {
                attempt.port_was_taken = true;
                return attempt;
            }
            listen_fault(&wanted[i].endpoint, errno, wanted[i].place, errors);
            attempt.failed = true;
        } else if (any_port) {
            chosen = endpoint_port(&plan->bindings[plan->count - 1].listener->bound);
        }
    }
    if (!attempt.failed && plan->count == first && count > 0) {
        listen_fault(&wanted[0].endpoint, missing, wanted[0].place, errors);
        attempt.failed = true;
    }
    return attempt;
}

int listeners_plan_build(struct listeners_plan *plan, const struct listeners *live, const struct listen_wanted *wanted,
                         size_t count, unsigned slots, struct error *errors)
{
    long *match = mem_new(count, sizeof *match);
    bool failed = false;

    memset(plan, 0, sizeof *plan);
    listeners_match(live, wanted, count, match);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && wanted[end].frontend == wanted[i].frontend; end++)
            ;
        size_t before = plan->count;
        for (int attempt = 1; attempt <= PORT_ATTEMPTS; attempt++) {
            struct frontend_attempt result = bind_frontend(plan, live, wanted + i, match + i, end - i, slots,
                                                           attempt == PORT_ATTEMPTS, errors);

            failed |= result.failed;
            if (!result.port_was_taken)
                break;
            plan_undo(plan, before);
        }
    }
    free(match);
    if (!failed)
        return 0;
    listeners_plan_abandon(plan);
    return -1;
}

int listeners_plan_start(struct listeners_plan *plan, const struct listen_options *options, struct error *errors)
{
    int result = 0;

    for (size_t i = 0; i < plan->count; i++) {
        struct listener *listener = plan->bindings[i].listener;

        for (size_t slot = plan->bindings[i].kept_fds; slot < listener->fd_count; slot++) {
            if (listen_start(listener->fds[slot], options) < 0) {
                result = listen_fault(&listener->bound, errno, NULL, errors);
                break;
            }
        }
    }
    return result;
}

static bool plan_has(const struct listeners_plan *plan, const struct listener *listener)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->bindings[i].listener == listener)
            return true;
    return false;
}

static void retire(struct listeners *live, struct listener *listener)
{
    live->retired = mem_resize(live->retired, live->retired_count + 1, sizeof(struct listener *));
    live->retired[live->retired_count++] = listener;
}

/* These listen already: only a worker that has shut them down, against all rules, can make this fail. */
static void tune_kept(const struct listener_binding *binding, const struct listen_options *options)
{
    for (size_t slot = 0; slot < binding->kept_fds; slot++)
        (void)!listen_start(binding->listener->fds[slot], options);
}

void listeners_plan_finish(const struct listeners_plan *plan, struct listeners *live,
                           const struct listen_options *options)
{
    for (size_t i = 0; i < live->count; i++)
        if (!plan_has(plan, live->items[i]))
            retire(live, live->items[i]);
    live->items = mem_resize(live->items, plan->count, sizeof(struct listener *));
    live->count = plan->count;
    for (size_t i = 0; i < plan->count; i++) {
        live->items[i] = plan->bindings[i].listener;
        tune_kept(&plan->bindings[i], options);
    }
}

void listeners_plan_abandon(struct listeners_plan *plan)
{
    plan_undo(plan, 0);
    listeners_plan_clear(plan);
}

void listeners_plan_clear(struct listeners_plan *plan)
{
    free(plan->bindings);
    plan->bindings = NULL;
    plan->count = 0;
}

/* --- views --- */

struct worker_listener *listeners_of_worker(const struct listeners_plan *plan, unsigned index, unsigned workers,
                                            size_t *count)
{
    struct worker_listener *list;
    size_t most = 0;

    for (size_t i = 0; i < plan->count; i++)
        most += plan->bindings[i].listener->fd_count;
    list = mem_new(most, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct listener *listener = plan->bindings[i].listener;

        for (size_t slot = 0; slot < listener->fd_count; slot++)
            if (listener->is_shared || slot % workers == index)
                list[(*count)++] = (struct worker_listener){.fd = listener->fds[slot],
                                                            .frontend = plan->bindings[i].frontend};
    }
    return list;
}

struct endpoint *listeners_addresses(const struct listeners_plan *plan, size_t *count)
{
    struct endpoint *list = mem_new(plan->count, sizeof *list);

    *count = 0;
    for (int ipv6 = 0; ipv6 < 2; ipv6++)
        for (size_t i = 0; i < plan->count; i++)
            if ((plan->bindings[i].listener->bound.sa.any.sa_family == AF_INET6) == (ipv6 == 1))
                list[(*count)++] = plan->bindings[i].listener->bound;
    return list;
}

void listeners_retire(struct listeners *live)
{
    for (size_t i = 0; i < live->count; i++)
        retire(live, live->items[i]);
    free(live->items);
    live->items = NULL;
    live->count = 0;
}

void listeners_close_retired(struct listeners *live)
{
    for (size_t i = 0; i < live->retired_count; i++)
        listener_free(live->retired[i]);
    free(live->retired);
    live->retired = NULL;
    live->retired_count = 0;
}
