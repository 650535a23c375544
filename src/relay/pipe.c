#include "relay/pipe.h"

#include <string.h>

void pipe_init(struct pipe *pipe)
{
    memset(pipe, 0, sizeof *pipe);
    pipe->state = PIPE_OPEN;
    pipe->limit = PIPE_LIMIT_MIN;
}

static void adapt_limit(struct pipe *pipe, size_t length, bool all_taken)
{
    if (!all_taken && pipe->limit > PIPE_LIMIT_MIN)
        pipe->limit /= 2;
    else if (all_taken && length >= pipe->limit / 2 && pipe->limit < PIPE_LIMIT_MAX)
        pipe->limit *= 2;
}

static enum pipe_result flush_sink(struct transport *sink, bool *progress)
{
    if (sink->unsent == NULL || !sink->writable)
        return PIPE_GOOD;
    size_t before = sink->unsent->length;
    if (transport_flush(sink) == IO_FAILED)
        return PIPE_SINK_FAILED;
    if (sink->unsent == NULL || sink->unsent->length < before)
        *progress = true;
    return PIPE_GOOD;
}

void pipe_clear(struct pipe *pipe, struct chunk_pool *pool)
{
    chunk_drop(pool, &pipe->held);
    pipe->backlog = false;
}

/* --- by way of a filter --- */

static enum io write_step(struct pipe *pipe, struct transport *sink, const uint8_t *in, const uint8_t *out,
                          const struct filter_step *step)
{
    enum io io = IO_OK;

    pipe->has_passed |= step->produced + step->tail > 0;
    if (step->produced > 0)
        io = sink->ops->write(sink, out, step->produced);
    if (step->tail > 0 && io != IO_FAILED)
        io = sink->ops->write(sink, in + step->consumed - step->tail, step->tail);
    return io;
}

/* Filters length bytes at in and writes what comes of them; *used tells how many are done with. */
static enum pipe_result filter_bytes(struct pipe *pipe, struct transport *sink, const uint8_t *in, size_t length,
                                     size_t *used)
{
    uint8_t *out = sink->shared->rewritten;

    *used = 0;
    pipe->backlog = false;
    for (;;) {
        struct filter_step step = {0, 0, 0};
        enum filter_verdict verdict = pipe->filter_ops->request(pipe->filter, in + *used, length - *used, out,
                                                                SCRATCH_REWRITTEN_SIZE, &step);

        if (write_step(pipe, sink, in + *used, out, &step) == IO_FAILED)
            return PIPE_SINK_FAILED;
        *used += step.consumed;
        switch (verdict) {
        case FILTER_MORE:
            return PIPE_GOOD;
        case FILTER_FULL:
            if (sink->unsent == NULL)
                continue;
            pipe->backlog = true;
            return PIPE_GOOD;
        case FILTER_HELD:
            pipe->backlog = true;
            return PIPE_GOOD;
        case FILTER_REFUSED:
            pipe->state = PIPE_DISCARD;
            return PIPE_REFUSED;
        }
    }
}

static enum pipe_result filter_held(struct pipe *pipe, struct transport *sink)
{
    struct chunk_pool *pool = &sink->shared->pool;
    size_t used = 0;
    enum pipe_result result = pipe->held == NULL
                                  ? filter_bytes(pipe, sink, NULL, 0, &used)
                                  : filter_bytes(pipe, sink, chunk_data(pipe->held), pipe->held->length, &used);

    if (result != PIPE_GOOD)
        pipe_clear(pipe, pool);
    else if (used > 0)
        chunk_consume(pool, &pipe->held, used);
    pipe->held_anew |= used > 0;
    return result;
}

static enum pipe_result filter_new(struct pipe *pipe, struct transport *sink, const uint8_t *bytes, size_t length)
{
    struct chunk_pool *pool = &sink->shared->pool;
    size_t used = 0;

    if (pipe->held != NULL)
        return chunk_append(pool, &pipe->held, bytes, length) ? filter_held(pipe, sink) : PIPE_SOURCE_FAILED;
    enum pipe_result result = filter_bytes(pipe, sink, bytes, length, &used);
    pipe->held_anew = true;
    if (result == PIPE_GOOD && !chunk_append(pool, &pipe->held, bytes + used, length - used))
        return PIPE_SOURCE_FAILED;
    return result;
}

/* Whether the filter keeps the source from being read. */
static bool filter_blocks(const struct pipe *pipe)
{
    return pipe->filter != NULL && pipe->state == PIPE_OPEN && pipe->backlog;
}

/* Works on what is held, when the filter now allows it. */
static enum pipe_result work_off(struct pipe *pipe, struct transport *sink, bool *progress)
{
    if (!filter_blocks(pipe) || sink->unsent != NULL || pipe->filter_ops->is_holding(pipe->filter))
        return PIPE_GOOD;
    *progress = true;
    return filter_held(pipe, sink);
}

enum pipe_result pipe_pass(struct pipe *pipe, struct transport *sink, const uint8_t *bytes, size_t length)
{
    if (pipe->is_filtered)
        return filter_new(pipe, sink, bytes, length);
    if (pipe->filter != NULL)
        pipe->filter_ops->reply(pipe->filter, bytes, length);
    pipe->has_passed = true;
    return sink->ops->write(sink, bytes, length) == IO_FAILED ? PIPE_SINK_FAILED : PIPE_GOOD;
}

/* One read and its write. *more: the source may have more at once. */
static enum pipe_result move(struct pipe *pipe, struct transport *source, struct transport *sink, bool *progress,
                             bool *more)
{
    uint8_t *buffer = source->shared->plain;
    size_t length;

    *more = false;
    switch (source->ops->read(source, buffer, pipe->held != NULL ? (size_t)PIPE_LIMIT_MIN : pipe->limit, &length)) {
    case IO_WANT_READ:
    case IO_WANT_WRITE:
        return PIPE_GOOD;
    case IO_FAILED:
        *progress = true;
        return PIPE_SOURCE_FAILED;
    case IO_EOF:
        *progress = true;
        pipe->state = pipe->state == PIPE_DISCARD ? PIPE_DONE : PIPE_EOF;
        pipe_clear(pipe, &source->shared->pool); /* half a head is nothing to pass on */
        return PIPE_GOOD;
    case IO_OK:
        break;
    }
    *progress = true;
    pipe->moved_bytes += length;
    if (pipe->state == PIPE_OPEN) {
        enum pipe_result result = pipe_pass(pipe, sink, buffer, length);

        if (result != PIPE_GOOD)
            return result;
        adapt_limit(pipe, length, sink->unsent == NULL);
    }
    *more = source->readable || source->end_pending;
    return PIPE_GOOD;
}

static enum pipe_result write_end(struct pipe *pipe, struct transport *sink, bool *progress)
{
    if (pipe->state != PIPE_EOF || sink->finished)
        return PIPE_GOOD;
    if (transport_finish(sink, !pipe->broken) == IO_FAILED)
        return PIPE_SINK_FAILED;
    if (sink->finished) {
        pipe->state = PIPE_DONE;
        *progress = true;
    }
    return PIPE_GOOD;
}

enum pipe_result pipe_step(struct pipe *pipe, struct transport *source, struct transport *sink, bool *progress)
{
    enum pipe_result result = flush_sink(sink, progress);
    uint64_t turn_end = pipe->moved_bytes + PIPE_TURN_BYTES;
    bool more = true;

    if (result == PIPE_GOOD)
        result = work_off(pipe, sink, progress);
    while (result == PIPE_GOOD && more && (pipe->state == PIPE_OPEN || pipe->state == PIPE_DISCARD)) {
        if (pipe->state == PIPE_OPEN && (sink->unsent != NULL || filter_blocks(pipe)))
            break;
        if (pipe->moved_bytes >= turn_end && !source->end_pending)
            break;
        if (!source->readable && !source->end_pending)
            break;
        result = move(pipe, source, sink, progress, &more);
    }
    if (result == PIPE_GOOD)
        result = write_end(pipe, sink, progress);
    return result;
}

bool pipe_wants_source(const struct pipe *pipe, const struct transport *source, const struct transport *sink)
{
    if (source->eof)
        return false;
    return pipe->state == PIPE_DISCARD || (pipe->state == PIPE_OPEN && sink->unsent == NULL && !filter_blocks(pipe));
}

bool pipe_wants_sink(const struct transport *sink)
{
    return sink->unsent != NULL;
}
