/*
 * metrics_pool.h: the counter pages of all workers, past and present.
 *
 * A page is taken for a worker and given back when that process is dead; then another may go on counting in it. So each
 * page has one writer at any time, and nothing that was ever counted is lost. Pages live as long as the pool.
 */
#ifndef HALTER_MASTER_METRICS_POOL_H
#define HALTER_MASTER_METRICS_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metrics/metrics.h"

struct metrics_pool {
    struct metrics_slot {
        struct metrics_page *page;
        bool is_taken;
    } *slots;
    size_t count;
};

/* Borrowed; never NULL. */
struct metrics_page *metrics_pool_take(struct metrics_pool *pool);

/* The writer is dead: its open connections are gone with it, its counts stay. */
void metrics_pool_release(struct metrics_pool *pool, struct metrics_page *page);

/* The sum over all pages. */
uint64_t metrics_pool_total(const struct metrics_pool *pool, enum metric metric);
uint64_t metrics_pool_total_closed(const struct metrics_pool *pool, unsigned close_reason);
uint64_t metrics_pool_total_refused(const struct metrics_pool *pool, unsigned refusal);
void metrics_pool_clear(struct metrics_pool *pool);

#endif
