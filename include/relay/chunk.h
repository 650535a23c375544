/*
 * chunk.h: the bytes that a sink would not take, and the pool that they are kept in.
 *
 * A connection owns a chunk only while its sink is full; an idle one owns none. Freed chunks wait in the worker's pool,
 * by size, up to a bound; what is above it goes back to malloc.
 *
 *     chunk_append(pool, &transport->unsent, bytes, length)      makes the chunk when it is NULL, grows it when full
 *     send chunk_data(chunk), then chunk_consume(pool, &transport->unsent, sent)     frees it when empty
 */
#ifndef HALTER_RELAY_CHUNK_H
#define HALTER_RELAY_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CHUNK_CLASSES = 4, /* 4, 16, 64 and 256 KiB; larger ones are not pooled */
    CHUNK_SMALLEST = 4 * 1024,
    CHUNK_POOL_BYTES = 4 * 1024 * 1024, /* most that the pool keeps for later */
};

struct chunk {
    struct chunk *next; /* in the pool */
    size_t capacity;
    size_t start;
    size_t length;
    uint8_t bytes[];
};

struct chunk_pool {
    struct chunk *free[CHUNK_CLASSES];
    size_t free_bytes;
    size_t used_bytes; /* in the hands of connections */
};

void chunk_pool_init(struct chunk_pool *pool);
void chunk_pool_clear(struct chunk_pool *pool);

/* Adds length bytes behind what *chunk holds; *chunk may be NULL. False, with *chunk as it was, when memory is exhausted. */
bool chunk_append(struct chunk_pool *pool, struct chunk **chunk, const uint8_t *bytes, size_t length)
    __attribute__((warn_unused_result));

/* Drops length bytes from the front; gives the chunk back and sets *chunk to NULL when it is empty then. */
void chunk_consume(struct chunk_pool *pool, struct chunk **chunk, size_t length);

/* Gives the chunk back, full or not; NULL is nothing. */
void chunk_drop(struct chunk_pool *pool, struct chunk **chunk);

static inline const uint8_t *chunk_data(const struct chunk *chunk)
{
    return chunk->bytes + chunk->start;
}

#endif
