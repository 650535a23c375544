/*
 * http_policy.h: what is taken out of requests and what is put in; the limits.
 *
 * Made once for a frontend, the parts that tell of the client once for a connection; then read only. All memory is the
 * caller's and outlives the streams that use the policy.
 *
 * Invariant: strip holds the name of every line in add, X-Forwarded-For if append_forwarded_for, X-Forwarded-Host if
 * add_forwarded_host (the default set does for the X-Forwarded ones).
 */
#ifndef HALTER_HTTP_HTTP_POLICY_H
#define HALTER_HTTP_HTTP_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http_names.h"

enum {
    HTTP_HEAD_BYTES_DEFAULT = 64 * 1024,
    HTTP_HEAD_BYTES_MAX = 1024 * 1024,
    HTTP_FIELDS_DEFAULT = 100,
    HTTP_FIELDS_MAX = 512,
};

struct http_policy {
    size_t head_max_bytes;          /* request line and fields, with the empty line; more: 431 */
    unsigned fields_max;            /* 1 to HTTP_FIELDS_MAX; more: 431 */
    const struct http_names *strip; /* taken out of heads, trailers, and the list in Connection */
    const char *add;                /* complete field lines "Name: value\r\n", put after the last field */
    size_t add_length;
    bool append_forwarded_for; /* keep the client's X-Forwarded-For, in one field, with ", client_ip" behind; then
                                          add has none */
    const char *client_ip;     /* for that */
    bool add_forwarded_host;   /* X-Forwarded-Host: the value of Host, when there is one */
    /* In the normal form of names/sni.h: any other Host is answered 421. NULL: any will do. */
    const char *required_host;
    /* NULL; a Host (without its port) for which it is true is answered 421. */
    bool (*host_is_barred)(const void *arg, const uint8_t *host, size_t length);
    const void *host_arg; /* for that */
};

/* The least out_size that request_stream_step() works with. */
static inline size_t http_policy_out_bytes(const struct http_policy *policy)
{
    return 2 * policy->head_max_bytes + policy->add_length + 1024;
}

#endif
