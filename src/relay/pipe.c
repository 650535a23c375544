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

static enum pipe_result flush_sink(const struct pipe *pipe, struct transport *sink, bool *progress)
{
    if (pipe->state == PIPE_DISCARD || sink->unsent == NULL || !sink->writable)
        return PIPE_GOOD;
    size_t before = sink->unsent->length;
    if (transport_flush(sink) == IO_FAILED)
        return PIPE_SINK_FAILED;
    if (sink->unsent == NULL || sink->unsent->length < before)
        *progress = true;
    return PIPE_GOOD;
}

/* One read and its write. *more: the source may have more at once. */
static enum pipe_result move(struct pipe *pipe, struct transport *source, struct transport *sink, bool *progress,
                             bool *more)
{
    uint8_t *buffer = source->shared->plain;
    size_t length;

    *more = false;
    switch (source->ops->read(source, buffer, pipe->limit, &length)) {
    case IO_WANT_READ:
    case IO_WANT_WRITE:
        return PIPE_GOOD;
    case IO_FAILED:
        *progress = true;
        return PIPE_SOURCE_FAILED;
    case IO_EOF:
        *progress = true;
        pipe->state = pipe->state == PIPE_DISCARD ? PIPE_DONE : PIPE_EOF;
        return PIPE_GOOD;
    case IO_OK:
        break;
    }
    *progress = true;
    pipe->moved_bytes += length;
    if (pipe->state == PIPE_OPEN) {
        enum io io = sink->ops->write(sink, buffer, length);

        if (io == IO_FAILED)
            return PIPE_SINK_FAILED;
        adapt_limit(pipe, length, io == IO_OK);
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
    enum pipe_result result = flush_sink(pipe, sink, progress);
    uint64_t turn_end = pipe->moved_bytes + PIPE_TURN_BYTES;
    bool more = true;

    while (result == PIPE_GOOD && more && (pipe->state == PIPE_OPEN || pipe->state == PIPE_DISCARD)) {
        if (pipe->state == PIPE_OPEN && sink->unsent != NULL)
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
    return pipe->state == PIPE_DISCARD || (pipe->state == PIPE_OPEN && sink->unsent == NULL);
}

bool pipe_wants_sink(const struct pipe *pipe, const struct transport *sink)
{
    return pipe->state != PIPE_DISCARD && sink->unsent != NULL;
}
