/*
 * demo_request.h: reads the head of one HTTP/1 request, for the backend of `halter demo`.
 *
 * RFC 9112, the part of it that a page for a demonstration needs; not for relaying requests, nor for headers that
 * anything trusts. Pure. Where a request could be understood in two ways it is refused.
 */
#ifndef HALTER_SRC_MAIN_DEMO_REQUEST_H
#define HALTER_SRC_MAIN_DEMO_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEMO_HEAD_MAX = 16 * 1024 };

enum demo_request_result {
    DEMO_REQUEST_NEED_MORE,
    DEMO_REQUEST_DONE,
    DEMO_REQUEST_REFUSED, /* request->status and ->reason say why */
};

struct demo_request {
    size_t head_length; /* up to and with the empty line */
    uint64_t body_length;
    bool is_head; /* HEAD: the answer has no body */
    bool keep_alive;
    bool wants_html;
    bool expects_continue;

    int status; /* of a refusal: 400 and so on */
    const char *reason;
};

/* bytes: all that came so far, of the request on. Looks at DEMO_HEAD_MAX bytes at most. */
enum demo_request_result demo_request_parse(const char *bytes, size_t length, struct demo_request *request)
    __attribute__((warn_unused_result));

#endif
