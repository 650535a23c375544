#include "proxy/proxy_v1.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "proxy_pair.h"

size_t proxy_v1_write(uint8_t *buffer, size_t size, const struct addr *source, const struct addr *destination)
{
    char line[PROXY_V1_MAX + 1];
    char source_text[ADDR_TEXT_MAX];
    char destination_text[ADDR_TEXT_MAX];
    struct proxy_pair pair = proxy_pair_make(source, destination);
    int length = 0;

    if (pair.family == ADDR_NONE)
        length = snprintf(line, sizeof line, "PROXY UNKNOWN\r\n");
    else
        length = snprintf(line, sizeof line, "PROXY %s %s %s %u %u\r\n", pair.family == ADDR_IPV4 ? "TCP4" : "TCP6",
                          addr_host_text(&pair.source, source_text),
                          addr_host_text(&pair.destination, destination_text), (unsigned)pair.source.port,
                          (unsigned)pair.destination.port);
    CHECK(length > 0 && length <= PROXY_V1_MAX);
    if ((size_t)length > size)
        return 0;
    memcpy(buffer, line, (size_t)length);
    return (size_t)length;
}
