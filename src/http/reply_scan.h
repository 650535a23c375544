/*
 * reply_scan.h: follows a backend's replies, as far as the requests' side needs to know.
 *
 * For: how many requests have been answered, and whether an Upgrade or CONNECT was granted. Not for: checking or changing
 * replies: the backend is trusted, and its bytes pass as they are. When a reply cannot be followed (it is no HTTP/1), the
 * scan is lost: then nothing can be upgraded any more on this connection, and all else goes on.
 */
#ifndef HALTER_HTTP_REPLY_SCAN_H
#define HALTER_HTTP_REPLY_SCAN_H

#include <llhttp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/request_kinds.h"

enum reply_scan_state {
    REPLY_SCAN_GOOD,
    REPLY_SCAN_OPAQUE, /* granted: no HTTP any more in either direction */
    REPLY_SCAN_LOST,
};

struct reply_scan {
    llhttp_t parser;
    struct request_kinds *kinds; /* borrowed: what is still unanswered; each final reply takes one */
    enum reply_scan_state state;
    bool in_reply; /* one has begun, and not ended */
};

void reply_scan_init(struct reply_scan *scan, struct request_kinds *kinds);
void reply_scan_bytes(struct reply_scan *scan, const uint8_t *bytes, size_t length);

#endif
