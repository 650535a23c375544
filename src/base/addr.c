#include "base/addr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

const char *addr_host_text(const struct addr *addr, char *buffer)
{
    const char *text = NULL;

    switch (addr->family) {
    case ADDR_IPV4:
        text = inet_ntop(AF_INET, addr->bytes, buffer, ADDR_TEXT_MAX);
        break;
    case ADDR_IPV6:
        text = inet_ntop(AF_INET6, addr->bytes, buffer, ADDR_TEXT_MAX);
        break;
    case ADDR_NONE:
        snprintf(buffer, ADDR_TEXT_MAX, "-");
        text = buffer;
        break;
    }
    CHECK(text != NULL);
    return text;
}

const char *addr_text(const struct addr *addr, char *buffer)
{
    char host[ADDR_TEXT_MAX];

    addr_host_text(addr, host);
    switch (addr->family) {
    case ADDR_IPV4:
        snprintf(buffer, ADDR_TEXT_MAX, "%.48s:%u", host, (unsigned)addr->port);
        break;
    case ADDR_IPV6:
        snprintf(buffer, ADDR_TEXT_MAX, "[%.48s]:%u", host, (unsigned)addr->port);
        break;
    case ADDR_NONE:
        snprintf(buffer, ADDR_TEXT_MAX, "-");
        break;
    }
    return buffer;
}

bool addr_parse_host(struct addr *addr, const char *text, size_t length)
{
    char host[ADDR_TEXT_MAX];
    uint8_t bytes[16] = {0};
    enum addr_family family;

    if (length == 0 || length >= sizeof host || memchr(text, '\0', length) != NULL)
        return false;
    memcpy(host, text, length);
    host[length] = '\0';
    if (inet_pton(AF_INET, host, bytes) == 1)
        family = ADDR_IPV4;
    else if (inet_pton(AF_INET6, host, bytes) == 1)
        family = ADDR_IPV6;
    else
        return false;
    addr->family = family;
    memcpy(addr->bytes, bytes, sizeof addr->bytes);
    return true;
}

size_t addr_size(const struct addr *addr)
{
    size_t size = 0;

    switch (addr->family) {
    case ADDR_NONE:
        size = 0;
        break;
    case ADDR_IPV4:
        size = 4;
        break;
    case ADDR_IPV6:
        size = 16;
        break;
    }
    return size;
}
