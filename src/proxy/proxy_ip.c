#include "proxy/proxy_ip.h"

#include <string.h>

size_t proxy_ip_write(uint8_t *buffer, size_t size, const struct addr *source)
{
    size_t raw_size = addr_size(source);

    if (raw_size == 0 || size < 1 + raw_size)
        return 0;
    buffer[0] = source->family == ADDR_IPV4 ? PROXY_IP_FAMILY_INET : PROXY_IP_FAMILY_INET6;
    memcpy(buffer + 1, source->bytes, raw_size);
    return 1 + raw_size;
}
