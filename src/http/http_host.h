/*
 * http_host.h: host[:port] as Host and request targets have it (RFC 3986 section 3.2.2), of that what real hosts are
 * made of: letters, digits, "-._~" and IP literals; no userinfo, no percent-encoding, no sub-delimiters.
 */
#ifndef HALTER_HTTP_HTTP_HOST_H
#define HALTER_HTTP_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_HOST_MAX = 255 };

struct http_host {
    const uint8_t *name; /* with the brackets of an IP literal */
    size_t name_length;
    const uint8_t *port; /* the digits; NULL: there is no colon */
    size_t port_length;
};

/* False: not valid; an empty name is not. */
bool http_host_parse(struct http_host *host, const uint8_t *bytes, size_t length) __attribute__((warn_unused_result));

/* Is this the host of that name, which is in normal form? One trailing dot is passed over. */
bool http_host_is(const struct http_host *host, const char *name);

#endif
