/*
 * addr.h: an IP address and port as bytes.
 *
 * Pure: no struct sockaddr, no resolver. Numeric text only.
 */
#ifndef HALTER_BASE_ADDR_H
#define HALTER_BASE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum addr_family {
    ADDR_NONE, /* a unix socket, or unknown */
    ADDR_IPV4,
    ADDR_IPV6,
};

struct addr {
    enum addr_family family;
    uint8_t bytes[16]; /* network order; the first 4 for IPv4 */
    uint16_t port;     /* host order */
};

enum { ADDR_TEXT_MAX = 64 }; /* enough for "[v6]:65535" and the NUL */

/* The address alone ("::1"), canonical as RFC 5952. Returns buffer of ADDR_TEXT_MAX bytes. */
const char *addr_host_text(const struct addr *addr, char *buffer);

/* "1.2.3.4:5" or "[::1]:5"; "-" for ADDR_NONE. */
const char *addr_text(const struct addr *addr, char *buffer);

/* Parses a numeric IPv4 or IPv6 address of length bytes; leaves port alone. False when it is neither. */
bool addr_parse_host(struct addr *addr, const char *text, size_t length);

/* Size of the raw address: 0, 4 or 16. */
size_t addr_size(const struct addr *addr);

#endif
