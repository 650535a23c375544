#include "http/request_stream.h"

#include <string.h>

#include "base/check.h"
#include "chunk_line.h"
#include "head_scan.h"
#include "request_head.h"

enum { TAIL_MIN = 8 * 1024 };

/*
 * One step under way. Bytes before at are consumed; of these, those from kept on are to be put out as they are and have
 * not been yet. They are copied when something else must be put out behind them; at the end of a step they may be the
 * tail.
 */
struct work {
    struct request_stream *stream;
    const struct http_policy *policy;
    const uint8_t *in;
    size_t length;
    uint8_t *out;
    size_t out_size;
    size_t at;
    size_t kept;
    size_t produced;
};

/* What one state's handler tells the loop. */
enum progress {
    PROGRESS_ON,
    PROGRESS_MORE,
    PROGRESS_FULL,
    PROGRESS_HELD,
    PROGRESS_REFUSED,
};

static enum progress refuse(struct work *work, enum http_refusal refusal)
{
    work->stream->cut_off = work->stream->state != REQUEST_AT_HEAD;
    work->stream->state = REQUEST_STOPPED;
    work->stream->refusal = refusal;
    return PROGRESS_REFUSED;
}

/* Is there room for what waits and size bytes more? What waits and is long had better be a tail. */
static bool has_room(const struct work *work, size_t size)
{
    size_t waiting = work->at - work->kept;

    return waiting < TAIL_MIN && waiting + size <= work->out_size - work->produced;
}

/* Copies what waits, up to place. */
static void flush(struct work *work, size_t place)
{
    size_t waiting = place - work->kept;

    memcpy(work->out + work->produced, work->in + work->kept, waiting);
    work->produced += waiting;
    work->kept = place;
}

/* ---- heads ---- */

static struct head_scan load_scan(const struct request_stream *stream)
{
    return (struct head_scan){
        .offset = stream->scanned[0],
        .mark = stream->scanned[1],
        .fields = (uint16_t)(stream->scanned[2] >> 8),
        .state = (enum scan_state)(stream->scanned[2] & 0xff),
    };
}

static void save_scan(struct request_stream *stream, const struct head_scan *scan)
{
    stream->scanned[0] = scan->offset;
    stream->scanned[1] = scan->mark;
    stream->scanned[2] = (uint32_t)scan->fields << 8 | (uint32_t)scan->state;
}

/* Back to before the first byte: what begins next is a head or a trailer section. */
static void reset_scan(struct request_stream *stream, enum request_state state)
{
    struct head_scan scan;

    head_scan_init(&scan, state == REQUEST_AT_TRAILER);
    save_scan(stream, &scan);
    stream->state = state;
}

static enum scan_verdict scan_lines(struct work *work, struct head_lines *lines, enum http_refusal *refusal)
{
    struct request_stream *stream = work->stream;
    struct head_scan scan = load_scan(stream);
    const uint8_t *in = work->in + work->at;
    size_t length = work->length - work->at;
    bool resumed = scan.offset > 0;
    enum scan_verdict verdict = head_scan_step(&scan, work->policy, in, length, lines, refusal);

    if (verdict == SCAN_DONE && resumed) {
        head_scan_init(&scan, stream->state == REQUEST_AT_TRAILER);
        verdict = head_scan_step(&scan, work->policy, in, length, lines, refusal);
        CHECK(verdict == SCAN_DONE);
    }
    if (verdict == SCAN_MORE)
        save_scan(stream, &scan);
    return verdict;
}

/* RFC 9112 section 2.2: an empty line before a request line; one is passed over. */
static enum progress skip_blank_line(struct work *work)
{
    const uint8_t *in = work->in + work->at;
    size_t length = work->length - work->at;

    if (in[0] != '\r' || work->stream->blank_line)
        return PROGRESS_ON;
    if (length < 2)
        return PROGRESS_MORE;
    if (in[1] != '\n')
        return refuse(work, HTTP_REFUSAL_METHOD_SYNTAX);
    if (!has_room(work, 0))
        return PROGRESS_FULL;
    flush(work, work->at);
    work->at += 2;
    work->kept = work->at;
    work->stream->blank_line = true;
    return work->at < work->length ? PROGRESS_ON : PROGRESS_MORE;
}

/* The request is complete: what may come behind it? */
static void end_request(struct request_stream *stream)
{
    if (stream->last)
        stream->state = REQUEST_LAST;
    else
        reset_scan(stream, REQUEST_AT_HEAD);
}

static void begin_body(struct request_stream *stream, const struct request_head *head)
{
    stream->last = head->last;
    stream->blank_line = false;
    stream->remaining = head->content_length;
    switch (head->framing) {
    case FRAMING_NONE:
    case FRAMING_LENGTH:
        if (head->kind == REQUEST_CONNECT || head->kind == REQUEST_UPGRADE)
            stream->state = REQUEST_WAITS;
        else if (head->content_length > 0)
            stream->state = REQUEST_IN_BODY;
        else
            end_request(stream);
        break;
    case FRAMING_CHUNKED:
        stream->state = REQUEST_AT_CHUNK;
        break;
    }
}

static enum progress step_head(struct work *work)
{
    struct request_stream *stream = work->stream;
    struct request_head head;
    enum http_refusal refusal;
    enum progress progress;

    if (work->at == work->length)
        return PROGRESS_MORE;
    if (request_kinds_full(&stream->kinds))
        return PROGRESS_HELD;
    progress = skip_blank_line(work);
    if (progress != PROGRESS_ON)
        return progress;
    switch (scan_lines(work, &head.lines, &refusal)) {
    case SCAN_MORE:
        return PROGRESS_MORE;
    case SCAN_REFUSED:
        return refuse(work, refusal);
    case SCAN_DONE:
        break;
    }
    refusal = request_head_parse(&head, work->policy, work->in + work->at);
    if (refusal != HTTP_REFUSAL_NONE)
        return refuse(work, refusal);
    if (!has_room(work, request_head_bytes(&head.lines, work->policy))) {
        reset_scan(stream, REQUEST_AT_HEAD);
        return PROGRESS_FULL;
    }
    flush(work, work->at);
    work->produced += request_head_write(&head, work->policy, work->in + work->at, work->out + work->produced);
    work->at += head.lines.end;
    work->kept = work->at - 2;
    stream->requests++;
    request_kinds_push(&stream->kinds, head.kind);
    begin_body(stream, &head);
    return PROGRESS_ON;
}

/* ---- bodies ---- */

static enum progress step_data(struct work *work)
{
    struct request_stream *stream = work->stream;
    size_t there = work->length - work->at;
    size_t taken = stream->remaining < there ? (size_t)stream->remaining : there;

    work->at += taken;
    stream->remaining -= taken;
    if (stream->remaining > 0)
        return PROGRESS_MORE;
    if (stream->state == REQUEST_IN_CHUNK)
        stream->state = REQUEST_CHUNK_END;
    else
        end_request(stream);
    return PROGRESS_ON;
}

static enum progress step_chunk_line(struct work *work)
{
    struct request_stream *stream = work->stream;
    struct chunk_line line;
    enum http_refusal refusal;

    switch (chunk_line_parse(&line, work->in + work->at, work->length - work->at, &refusal)) {
    case SCAN_MORE:
        return PROGRESS_MORE;
    case SCAN_REFUSED:
        return refuse(work, refusal);
    case SCAN_DONE:
        break;
    }
    if (line.length > line.digits + 2) { /* the extensions stay here */
        if (!has_room(work, line.length))
            return PROGRESS_FULL;
        flush(work, work->at + line.digits);
        work->kept = work->at + line.length - 2;
    }
    work->at += line.length;
    stream->remaining = line.size;
    if (line.size > 0)
        stream->state = REQUEST_IN_CHUNK;
    else
        reset_scan(stream, REQUEST_AT_TRAILER);
    return PROGRESS_ON;
}

static enum progress step_chunk_end(struct work *work)
{
    const uint8_t *in = work->in + work->at;
    size_t length = work->length - work->at;

    if ((length > 0 && in[0] != '\r') || (length > 1 && in[1] != '\n'))
        return refuse(work, HTTP_REFUSAL_CHUNK_END);
    if (length < 2)
        return PROGRESS_MORE;
    work->at += 2;
    work->stream->state = REQUEST_AT_CHUNK;
    return PROGRESS_ON;
}

static enum progress step_trailer(struct work *work)
{
    struct head_lines lines;
    enum http_refusal refusal;

    switch (scan_lines(work, &lines, &refusal)) {
    case SCAN_MORE:
        return PROGRESS_MORE;
    case SCAN_REFUSED:
        return refuse(work, refusal);
    case SCAN_DONE:
        break;
    }
    if (request_trailer_parse(&lines, work->policy, work->in + work->at)) {
        if (!has_room(work, lines.end)) {
            reset_scan(work->stream, REQUEST_AT_TRAILER);
            return PROGRESS_FULL;
        }
        flush(work, work->at);
        work->produced += request_trailer_write(&lines, work->in + work->at, work->out + work->produced);
        work->kept = work->at + lines.end - 2;
    }
    work->at += lines.end;
    end_request(work->stream);
    return PROGRESS_ON;
}

/* Nothing may follow: what does is neither passed on nor looked at. */
static enum progress step_last(struct work *work)
{
    if (work->at == work->length)
        return PROGRESS_MORE;
    if (!has_room(work, 0))
        return PROGRESS_FULL;
    flush(work, work->at);
    work->at = work->length;
    work->kept = work->length;
    return PROGRESS_MORE;
}

static enum progress step_once(struct work *work)
{
    switch (work->stream->state) {
    case REQUEST_AT_HEAD:
        return step_head(work);
    case REQUEST_IN_BODY:
    case REQUEST_IN_CHUNK:
        return step_data(work);
    case REQUEST_AT_CHUNK:
        return step_chunk_line(work);
    case REQUEST_CHUNK_END:
        return step_chunk_end(work);
    case REQUEST_AT_TRAILER:
        return step_trailer(work);
    case REQUEST_LAST:
        return step_last(work);
    case REQUEST_WAITS:
        return PROGRESS_HELD;
    case REQUEST_STOPPED:
        break;
    }
    return PROGRESS_REFUSED;
}

/* What waits is copied, or becomes the tail. */
static void finish(struct work *work, struct request_step *step)
{
    bool tail = work->produced == 0 || !has_room(work, 0);

    step->consumed = work->at;
    step->tail = tail ? work->at - work->kept : 0;
    if (!tail)
        flush(work, work->at);
    step->produced = work->produced;
}

void request_stream_init(struct request_stream *stream)
{
    memset(stream, 0, sizeof *stream);
    reset_scan(stream, REQUEST_AT_HEAD);
}

void request_stream_resume(struct request_stream *stream)
{
    if (stream->state == REQUEST_WAITS)
        end_request(stream);
}

enum request_verdict request_stream_step(struct request_stream *stream, const struct http_policy *policy,
                                         const uint8_t *in, size_t length, uint8_t *out, size_t out_size,
                                         struct request_step *step)
{
    struct work work = {stream, policy, in, length, out, out_size, 0, 0, 0};
    enum progress progress;

    CHECK(out_size >= http_policy_out_bytes(policy));
    do
        progress = step_once(&work);
    while (progress == PROGRESS_ON);
    finish(&work, step);
    switch (progress) {
    case PROGRESS_ON:
    case PROGRESS_MORE:
        return REQUEST_MORE;
    case PROGRESS_FULL:
        return REQUEST_FULL;
    case PROGRESS_HELD:
        return REQUEST_HELD;
    case PROGRESS_REFUSED:
        break;
    }
    return REQUEST_REFUSED;
}
