/*
 * request_stream.h: the request direction of one connection: bytes of the client in, bytes for the backend out.
 *
 * For: each request that the client sends, kept alive and pipelined ones too, rewritten as the policy has it, or
 * refused. Not for: replies, sockets, time. Nothing is buffered here: what cannot be used yet is not consumed, and the
 * caller gives it again with more behind it. Bodies pass as they come and are not copied when they are long.
 *
 *     request_stream_init(&stream);
 *     verdict = request_stream_step(&stream, &policy, in, length, out, out_size, &step);
 *     send out[0, step.produced), then in[step.consumed - step.tail, step.consumed)
 *     drop in[0, step.consumed); the rest stays in front of what comes next
 *
 * Invariants: the outcome does not depend on how the bytes were cut. Bytes of a request are put out only when its head
 * is complete and right. The backend sees each request where this sees it, or sees nothing of it. A client's value of a
 * stripped field is never put out, neither in heads nor in trailers.
 */
#ifndef HALTER_HTTP_REQUEST_STREAM_H
#define HALTER_HTTP_REQUEST_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http_policy.h"
#include "http/http_refusal.h"
#include "http/request_kinds.h"

enum request_verdict {
    REQUEST_MORE,    /* all that can be used has been; what is not consumed is incomplete: give it again with more */
    REQUEST_FULL,    /* send what is there, then call again with the rest */
    REQUEST_HELD,    /* CONNECT or an upgrade waits for its answer, or too many requests do: no byte more is used until
                        request_stream_resume(), or until one of stream->kinds has been taken out */
    REQUEST_REFUSED, /* stream->refusal says why; what is put out in this step belongs to what was right before */
};

enum request_state {
    REQUEST_AT_HEAD,
    REQUEST_IN_BODY,  /* remaining bytes of Content-Length */
    REQUEST_AT_CHUNK, /* the line with its size */
    REQUEST_IN_CHUNK, /* remaining bytes of it */
    REQUEST_CHUNK_END,
    REQUEST_AT_TRAILER,
    REQUEST_WAITS,   /* for the answer to CONNECT or an upgrade */
    REQUEST_LAST,    /* the client has said that nothing follows; what follows is thrown away */
    REQUEST_STOPPED, /* refused */
};

struct request_stream {
    enum request_state state;
    enum http_refusal refusal; /* NONE unless STOPPED */
    uint64_t remaining;
    uint64_t requests;          /* heads that have been passed on */
    uint32_t scanned[3];        /* how far the search for the end of the head or trailer went */
    bool last;                  /* nothing may follow the request under way */
    bool blank_line;            /* the one CR LF that may stand before a request line was there */
    bool cut_off;               /* STOPPED in a body: the head of that request had been passed on */
    struct request_kinds kinds; /* of heads passed on: pushed here, taken out by the reply side */
};

struct request_step {
    size_t consumed; /* bytes of in */
    size_t produced; /* bytes of out */
    size_t tail;     /* behind those of out, as many bytes of in, the last ones consumed, are to be sent unchanged */
};

void request_stream_init(struct request_stream *stream);

/*
 * Goes on with length bytes at in, the first of which is the first that is not consumed yet. out_size is at least
 * http_policy_out_bytes(). Always fills in *step. tail is 0, or at least 8 KiB, or all that this step puts out, or what
 * found no room in out.
 */
enum request_verdict request_stream_step(struct request_stream *stream, const struct http_policy *policy,
                                         const uint8_t *in, size_t length, uint8_t *out, size_t out_size,
                                         struct request_step *step) __attribute__((warn_unused_result));

/* CONNECT or the upgrade that held the stream got an ordinary answer: the next byte begins a request. */
void request_stream_resume(struct request_stream *stream);

/*
 * Between two requests? (At the end of the input: was nothing cut off?) The caller knows whether bytes were left
 * over.
 */
static inline bool request_stream_idle(const struct request_stream *stream)
{
    return stream->state == REQUEST_AT_HEAD || stream->state == REQUEST_WAITS || stream->state == REQUEST_LAST;
}

#endif
