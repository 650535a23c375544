/*
 * metrics.h: the counters of one worker, in a page that the master shares.
 *
 * Each page has one writer (its worker) and any number of readers (the master). The page outlives its worker: a
 * replaced worker goes on counting where the dead one stopped.
 */
#ifndef HALTER_METRICS_METRICS_H
#define HALTER_METRICS_METRICS_H

#include <stdint.h>

/* name, help. Monotonic counters but for those that end in _now. */
#define METRIC_LIST(X)                                                                                                 \
    X(connections_accepted, "client connections accepted")                                                             \
    X(connections_now, "client connections open at this moment")                                                       \
    X(accept_failures, "accept() failures other than no connection waiting")                                           \
    X(accept_pauses, "times accepting paused for want of file descriptors or memory")                                  \
    X(handshakes_full, "TLS handshakes completed with a full key exchange")                                            \
    X(handshakes_resumed, "TLS handshakes completed by resumption")                                                    \
    X(handshakes_failed, "TLS handshakes that failed")                                                                 \
    X(backend_connects, "connections made to the backend")                                                             \
    X(backend_connect_failures, "attempts to connect to the backend that failed")                                      \
    X(client_ends_unannounced, "clients that ended their direction without close_notify")                              \
    X(request_bytes, "plaintext bytes passed from clients to the backend")                                             \
    X(reply_bytes, "plaintext bytes passed from the backend to clients")                                               \
    X(log_lines_dropped, "log lines that could not be delivered")                                                      \
    X(log_lines_suppressed, "log lines held back by rate limits")

enum metric {
#define METRIC_ENUM(name, help) METRIC_##name,
    METRIC_LIST(METRIC_ENUM)
#undef METRIC_ENUM
        METRIC_COUNT
};

/* How connections ended: see enum close_reason in relay/close_reason.h; kept as an array of its own. */
enum { METRICS_CLOSE_REASONS_MAX = 32, METRICS_REFUSALS_MAX = 64 };

struct metrics_page {
    uint64_t counters[METRIC_COUNT];
    uint64_t closes[METRICS_CLOSE_REASONS_MAX];
    uint64_t refusals[METRICS_REFUSALS_MAX]; /* by the number that the filter gives its reasons */
};

/* "connections_accepted" and so on. */
const char *metric_name(enum metric metric);
const char *metric_help(enum metric metric);

/* One writer, so a relaxed load and store suffice; readers never see a torn value on 64-bit machines. */
static inline void metric_add(struct metrics_page *page, enum metric metric, uint64_t amount)
{
    uint64_t *counter = &page->counters[metric];

    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + amount, __ATOMIC_RELAXED);
}

/* The same for one of the page's other counters. */
static inline void metric_count(uint64_t *counter)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static inline void metric_subtract(struct metrics_page *page, enum metric metric, uint64_t amount)
{
    metric_add(page, metric, (uint64_t)0 - amount);
}

static inline uint64_t metric_read(const struct metrics_page *page, enum metric metric)
{
    return __atomic_load_n(&page->counters[metric], __ATOMIC_RELAXED);
}

#endif
