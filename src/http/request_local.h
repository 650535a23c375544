/* request_local.h: what parsing and writing of request heads have in common. */
#ifndef HALTER_HTTP_REQUEST_LOCAL_H
#define HALTER_HTTP_REQUEST_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http_policy.h"
#include "http_bytes.h"

/* The fields that something depends on. */
enum request_name {
    NAME_OTHER,
    NAME_HOST,
    NAME_LENGTH,
    NAME_CODING,
    NAME_CONNECTION,
    NAME_UPGRADE,
    NAME_FORWARDED_FOR,
    NAME_DROPPED,   /* in every request */
    NAME_LOOKALIKE, /* Content_Length: some backends would take it for the other */
};

/*
 * May the option stay in Connection? Not one that makes the backend drop a field of ours or one that decides the
 * framing (RFC 9110 section 7.6.1). "upgrade" is decided elsewhere.
 */
static inline bool request_option_stays(const struct http_policy *policy, const uint8_t *option, size_t length)
{
    static const struct {
        const char *folded;
        size_t length;
    } gone[] = {
        {"host", 4}, {"content-length", 14}, {"transfer-encoding", 17}, {"http2-settings", 14}, {"connection", 10}};

    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (length == gone[i].length && http_bytes_folds_to(option, length, gone[i].folded))
            return false;
    return !http_names_match(policy->strip, option, length);
}

/*
 * May the protocol stay in Upgrade? Not one that carries requests of its own, which would pass unseen: HTTP/2 in the
 * clear, and HTTP within TLS (RFC 2817).
 */
static inline bool request_protocol_stays(const uint8_t *protocol, size_t length)
{
    size_t name = 0;

    while (name < length && protocol[name] != '/')
        name++;
    if (HTTP_BYTES_ARE(protocol, name, "http") || HTTP_BYTES_ARE(protocol, name, "tls"))
        return false;
    return !(name >= 2 && HTTP_BYTES_ARE(protocol, 2, "h2"));
}

#endif
