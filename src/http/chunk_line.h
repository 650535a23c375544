/*
 * chunk_line.h: the line before a chunk's data (RFC 9112 section 7.1): size, extensions, CR LF.
 */
#ifndef HALTER_HTTP_CHUNK_LINE_H
#define HALTER_HTTP_CHUNK_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "head_scan.h"
#include "http/http_refusal.h"

enum { CHUNK_LINE_MAX = 1024 };

struct chunk_line {
    uint64_t size;
    size_t digits; /* bytes of the size */
    size_t length; /* of the line, with CR LF */
};

/* DONE: line is filled in. REFUSED: *refusal. The first wrong byte decides. */
enum scan_verdict chunk_line_parse(struct chunk_line *line, const uint8_t *in, size_t length,
                                   enum http_refusal *refusal) __attribute__((warn_unused_result));

#endif
