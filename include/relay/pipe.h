/*
 * pipe.h: one direction of a connection: request (client to backend) or reply (backend to client).
 *
 * Holds no bytes: what the sink does not take stays with the sink, and while something stays there the source is not
 * read. (Only a filter can make it hold some: an incomplete request head, say.) The amount read at a time follows the sink: doubled while it takes all, halved when it does not, so that a
 * stalled connection holds little and a fast one needs few system calls.
 */
#ifndef HALTER_RELAY_PIPE_H
#define HALTER_RELAY_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "relay/filter.h"
#include "relay/transport.h"

enum pipe_state {
    PIPE_OPEN,    /* the source may still send */
    PIPE_EOF,     /* the source has ended; the sink has unsent bytes, or its end is still to be written */
    PIPE_DISCARD, /* the sink is dead, or the source was refused: what it sends is read and thrown away. What the sink has
                     not got of what came before still goes out */
    PIPE_DONE,    /* the sink's end has been written */
};

enum pipe_result {
    PIPE_GOOD,
    PIPE_SOURCE_FAILED,
    PIPE_SINK_FAILED,
    PIPE_REFUSED, /* by the filter; the state is PIPE_DISCARD now */
};

enum {
    PIPE_LIMIT_MIN = 16 * 1024,
    PIPE_LIMIT_MAX = 256 * 1024,
    PIPE_TURN_BYTES = 256 * 1024, /* most that one connection moves in one direction before others have their turn */
};

struct pipe {
    enum pipe_state state;
    bool broken;          /* the source was cut off: its end is passed on without a goodbye */
    size_t limit;         /* bytes to read at a time */
    uint64_t moved_bytes; /* that the source has sent */
    bool has_passed;      /* the sink has got some of them */

    const struct filter_ops *filter_ops; /* NULL: none */
    struct filter *filter;               /* borrowed */
    bool is_filtered;                    /* it rewrites this direction (request), or only looks at it (reply) */
    struct chunk *held;                  /* what the filter has not consumed */
    bool backlog;                        /* held can be worked on without more input */
    bool held_anew; /* what is held now begins after something that was complete; whoever looks resets it */
};

void pipe_init(struct pipe *pipe);

/* Gives the held bytes back. */
void pipe_clear(struct pipe *pipe, struct chunk_pool *pool);

/* Sends bytes that came from the source on to the sink, by way of the filter of a request. */
enum pipe_result pipe_pass(struct pipe *pipe, struct transport *sink, const uint8_t *bytes, size_t length)
    __attribute__((warn_unused_result));

/* Moves what can be moved now. *progress is set to true when a byte moved or the state changed. */
enum pipe_result pipe_step(struct pipe *pipe, struct transport *source, struct transport *sink, bool *progress)
    __attribute__((warn_unused_result));

/* Whether to wait for the source to become readable, or for the sink to become writable. */
bool pipe_wants_source(const struct pipe *pipe, const struct transport *source, const struct transport *sink);
bool pipe_wants_sink(const struct transport *sink);

#endif
