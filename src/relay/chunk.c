#include "relay/chunk.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static size_t class_size(int class)
{
    return (size_t)CHUNK_SMALLEST << (2 * class);
}

/* The smallest class that holds size bytes; CHUNK_CLASSES when none does. */
static int class_of(size_t size)
{
    int class = 0;

    while (class < CHUNK_CLASSES && class_size(class) < size)
        class ++;
    return class;
}

void chunk_pool_init(struct chunk_pool *pool)
{
    memset(pool, 0, sizeof *pool);
}

void chunk_pool_clear(struct chunk_pool *pool)
{
    for (int class = 0; class < CHUNK_CLASSES; class ++) {
        while (pool->free[class] != NULL) {
            struct chunk *chunk = pool->free[class];

            pool->free[class] = chunk->next;
            free(chunk);
        }
    }
    pool->free_bytes = 0;
}

static struct chunk *take(struct chunk_pool *pool, size_t size)
{
    int class = class_of(size);
    size_t capacity = class < CHUNK_CLASSES ? class_size(class) : size;
    struct chunk *chunk = class < CHUNK_CLASSES ? pool->free[class] : NULL;

    if (chunk != NULL) {
        pool->free[class] = chunk->next;
        pool->free_bytes -= capacity;
    } else {
        chunk = malloc(sizeof *chunk + capacity);
        if (chunk == NULL)
            return NULL;
        chunk->capacity = capacity;
    }
    chunk->next = NULL;
    chunk->start = 0;
    chunk->length = 0;
    pool->used_bytes += capacity;
    return chunk;
}

void chunk_drop(struct chunk_pool *pool, struct chunk **chunk)
{
    struct chunk *old = *chunk;

    if (old == NULL)
        return;
    *chunk = NULL;
    pool->used_bytes -= old->capacity;

    int class = class_of(old->capacity);
    if (class == CHUNK_CLASSES || pool->free_bytes + old->capacity > CHUNK_POOL_BYTES) {
        free(old);
        return;
    }
    old->next = pool->free[class];
    pool->free[class] = old;
    pool->free_bytes += old->capacity;
}

bool chunk_append(struct chunk_pool *pool, struct chunk **chunk, const uint8_t *bytes, size_t length)
{
    struct chunk *old = *chunk;
    size_t kept = old != NULL ? old->length : 0;

    if (length == 0)
        return true;
    if (old == NULL || length > old->capacity - old->start - old->length) {
        struct chunk *larger = take(pool, kept + length);

        if (larger == NULL)
            return false;
        if (kept > 0)
            memcpy(larger->bytes, chunk_data(old), kept);
        larger->length = kept;
        chunk_drop(pool, chunk);
        *chunk = larger;
    }
    memcpy((*chunk)->bytes + (*chunk)->start + (*chunk)->length, bytes, length);
    (*chunk)->length += length;
    return true;
}

void chunk_consume(struct chunk_pool *pool, struct chunk **chunk, size_t length)
{
    CHECK(*chunk != NULL && length <= (*chunk)->length);
    (*chunk)->start += length;
    (*chunk)->length -= length;
    if ((*chunk)->length == 0)
        chunk_drop(pool, chunk);
}
