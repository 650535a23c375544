#include "master/metrics_pool.h"

#include <stdlib.h>

#include "base/mem.h"
#include "os/shared_page.h"

struct metrics_page *metrics_pool_take(struct metrics_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        if (!pool->slots[i].is_taken) {
            pool->slots[i].is_taken = true;
            return pool->slots[i].page;
        }
    }
    pool->slots = mem_resize(pool->slots, pool->count + 1, sizeof *pool->slots);
    struct metrics_slot *slot = &pool->slots[pool->count++];
    slot->page = shared_page_new(sizeof *slot->page);
    slot->is_taken = true;
    return slot->page;
}

void metrics_pool_release(struct metrics_pool *pool, struct metrics_page *page)
{
    for (size_t i = 0; i < pool->count; i++) {
        if (pool->slots[i].page == page) {
            __atomic_store_n(&page->counters[METRIC_connections_now], 0, __ATOMIC_RELAXED);
            pool->slots[i].is_taken = false;
        }
    }
}

uint64_t metrics_pool_total(const struct metrics_pool *pool, enum metric metric)
{
    uint64_t total = 0;

    for (size_t i = 0; i < pool->count; i++)
        total += metric_read(pool->slots[i].page, metric);
    return total;
}

uint64_t metrics_pool_total_closed(const struct metrics_pool *pool, unsigned close_reason)
{
    uint64_t total = 0;

    for (size_t i = 0; i < pool->count; i++)
        total += __atomic_load_n(&pool->slots[i].page->closes[close_reason], __ATOMIC_RELAXED);
    return total;
}

uint64_t metrics_pool_total_refused(const struct metrics_pool *pool, unsigned refusal)
{
    uint64_t total = 0;

    for (size_t i = 0; i < pool->count; i++)
        total += __atomic_load_n(&pool->slots[i].page->refusals[refusal], __ATOMIC_RELAXED);
    return total;
}

void metrics_pool_clear(struct metrics_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        shared_page_free(pool->slots[i].page, sizeof *pool->slots[i].page);
    free(pool->slots);
    pool->slots = NULL;
    pool->count = 0;
}
