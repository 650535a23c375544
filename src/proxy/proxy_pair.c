#include "proxy_pair.h"

#include <string.h>

static struct addr map_to_ipv6(const struct addr *addr)
{
    if (addr->family != ADDR_IPV4)
        return *addr;

    struct addr mapped = {.family = ADDR_IPV6, .port = addr->port};

    mapped.bytes[10] = 0xff;
    mapped.bytes[11] = 0xff;
    memcpy(mapped.bytes + 12, addr->bytes, 4);
    return mapped;
}

struct proxy_pair proxy_pair_make(const struct addr *source, const struct addr *destination)
{
    struct proxy_pair pair = {.family = ADDR_NONE};

    if (source->family == ADDR_NONE || destination->family == ADDR_NONE)
        return pair;
    pair.source = *source;
    pair.destination = *destination;
    pair.family = source->family;
    if (source->family != destination->family) {
        pair.source = map_to_ipv6(source);
        pair.destination = map_to_ipv6(destination);
        pair.family = ADDR_IPV6;
    }
    return pair;
}
