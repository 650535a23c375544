/*
 * proxy_pair.h: brings the two addresses of a connection to one family, as a PROXY header needs them.
 */
#ifndef HALTER_SRC_PROXY_PROXY_PAIR_H
#define HALTER_SRC_PROXY_PROXY_PAIR_H

#include "base/addr.h"

struct proxy_pair {
    enum addr_family family; /* of both; ADDR_NONE when one of them is unknown */
    struct addr source;
    struct addr destination;
};

/* IPv4 becomes IPv4-mapped IPv6 (RFC 4291 section 2.5.5.2) only when the other side is IPv6. */
struct proxy_pair proxy_pair_make(const struct addr *source, const struct addr *destination);

#endif
