/*
 * request_kinds.h: what each request that has been passed on, and not been answered yet, was; in their order.
 *
 * The request side pushes one entry for each complete head, the reply side pops one for each final response: a response
 * to HEAD has no body, a 2xx to CONNECT and a 101 to an upgrade make the connection an opaque pipe (RFC 9112 section
 * 6.3).
 */
#ifndef HALTER_HTTP_REQUEST_KINDS_H
#define HALTER_HTTP_REQUEST_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_kind { REQUEST_ORDINARY, REQUEST_HEAD, REQUEST_CONNECT, REQUEST_UPGRADE };

enum { REQUEST_KINDS_MAX = 128 };

struct request_kinds {
    uint8_t bits[REQUEST_KINDS_MAX / 4];
    uint8_t first;
    uint8_t count;
};

static inline bool request_kinds_full(const struct request_kinds *kinds)
{
    return kinds->count == REQUEST_KINDS_MAX;
}

/* Not when full. */
static inline void request_kinds_push(struct request_kinds *kinds, enum request_kind kind)
{
    unsigned place = ((unsigned)kinds->first + kinds->count) % REQUEST_KINDS_MAX;
    unsigned shift = place % 4 * 2;

    kinds->bits[place / 4] = (uint8_t)((kinds->bits[place / 4] & ~(3u << shift)) | ((unsigned)kind << shift));
    kinds->count++;
}

/* The oldest entry; not when count is 0. */
static inline enum request_kind request_kinds_view(const struct request_kinds *kinds)
{
    return (enum request_kind)(kinds->bits[kinds->first / 4] >> kinds->first % 4 * 2 & 3);
}

/* Takes the oldest entry out and returns it; not when count is 0. */
static inline enum request_kind request_kinds_pop(struct request_kinds *kinds)
{
    enum request_kind kind = request_kinds_view(kinds);

    kinds->first = (uint8_t)((kinds->first + 1u) % REQUEST_KINDS_MAX);
    kinds->count--;
    return kind;
}

#endif
