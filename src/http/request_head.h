/*
 * request_head.h: what a complete request head says, and the head that the backend gets instead.
 *
 * Parse decides the framing (RFC 9112 section 6), the kind of the request and what becomes of each field; llhttp reads
 * the same bytes and must come to the same framing. Write puts the new head out. Nothing is kept between the two but
 * this.
 */
#ifndef HALTER_HTTP_REQUEST_HEAD_H
#define HALTER_HTTP_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "head_scan.h"
#include "http/http_policy.h"
#include "http/http_refusal.h"
#include "http/request_kinds.h"

enum request_framing { FRAMING_NONE, FRAMING_LENGTH, FRAMING_CHUNKED };

struct request_head {
    enum request_framing framing;
    uint64_t content_length; /* FRAMING_LENGTH; 0 otherwise */
    enum request_kind kind;
    bool last;           /* nothing may follow: "close", or HTTP/1.0 without "keep-alive" */
    bool edited;         /* some field is not kept as it is */
    const uint8_t *host; /* the value of Host; NULL: none */
    size_t host_length;
    struct head_lines lines; /* filled in by head_scan_step() */
};

/* The head at in, whose lines have been found; else its refusal. */
enum http_refusal request_head_parse(struct request_head *head, const struct http_policy *policy, const uint8_t *in)
    __attribute__((warn_unused_result));

/*
 * Writes the head without the empty line's CR LF to out, which has room for http_policy_out_bytes() at most and for
 * request_head_bytes() at least. Returns its length.
 */
size_t request_head_write(const struct request_head *head, const struct http_policy *policy, const uint8_t *in,
                          uint8_t *out) __attribute__((warn_unused_result));

/* More than what request_head_write() writes, whatever it has to do. */
static inline size_t request_head_bytes(const struct head_lines *lines, const struct http_policy *policy)
{
    return 2 * (size_t)lines->end + policy->add_length + 512;
}

/* Sets the action of each field of a trailer section. True when some field is dropped. */
bool request_trailer_parse(struct head_lines *lines, const struct http_policy *policy, const uint8_t *in);

/* Writes a trailer section without the empty line's CR LF; never more than it had. Returns its length. */
size_t request_trailer_write(const struct head_lines *lines, const uint8_t *in, uint8_t *out)
    __attribute__((warn_unused_result));

#endif
