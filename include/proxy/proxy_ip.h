/*
 * proxy_ip.h: the short announcement of write-ip, as hitch and stud send it: one octet of address family, then the raw
 * address in network order. No port.
 *
 *     0x02 a b c d                AF_INET
 *     0x0a, 16 octets             AF_INET6, with Linux' number whatever this system's is
 */
#ifndef HALTER_PROXY_PROXY_IP_H
#define HALTER_PROXY_PROXY_IP_H

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

enum { PROXY_IP_MAX = 17, PROXY_IP_FAMILY_INET = 2, PROXY_IP_FAMILY_INET6 = 10 };

/* Returns 5 or 17; 0 when it does not fit, or when source is ADDR_NONE: the format cannot say "unknown". */
size_t proxy_ip_write(uint8_t *buffer, size_t size, const struct addr *source) __attribute__((warn_unused_result));

#endif
