/*
 * proxy_v1.h: writes the human-readable header of the PROXY protocol, version 1.
 *
 * PROXY protocol specification, section 2.1:
 *
 *     PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n
 *     PROXY TCP6 2001:db8::1 ::1 56324 443\r\n
 *     PROXY UNKNOWN\r\n
 */
#ifndef HALTER_PROXY_PROXY_V1_H
#define HALTER_PROXY_PROXY_V1_H

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

enum { PROXY_V1_MAX = 107 }; /* bytes of the longest line that a receiver must take, CRLF included */

/*
 * Writes the line for a connection from source to destination. TCP4 when both are IPv4. When one is IPv6, TCP6 with the
 * other one mapped (::ffff:192.0.2.1, RFC 4291 section 2.5.5.2), as HAProxy does. UNKNOWN when one of them is
 * ADDR_NONE.
 * Returns the length; 0 when it does not fit in size bytes (PROXY_V1_MAX is always enough). No NUL is added.
 */
size_t proxy_v1_write(uint8_t *buffer, size_t size, const struct addr *source, const struct addr *destination)
    __attribute__((warn_unused_result));

#endif
