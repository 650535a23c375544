#include "os/endpoint.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct sockaddr_in *view_ipv4(const struct endpoint *endpoint)
{
    return (const struct sockaddr_in *)(const void *)&endpoint->sa.storage;
}

static const struct sockaddr_in6 *view_ipv6(const struct endpoint *endpoint)
{
    return (const struct sockaddr_in6 *)(const void *)&endpoint->sa.storage;
}

void endpoint_to_addr(const struct endpoint *endpoint, struct addr *addr)
{
    memset(addr, 0, sizeof *addr);
    if (endpoint->length == 0)
        return;
    if (endpoint->sa.any.sa_family == AF_INET) {
        const struct sockaddr_in *in = view_ipv4(endpoint);

        addr->family = ADDR_IPV4;
        memcpy(addr->bytes, &in->sin_addr, 4);
        addr->port = ntohs(in->sin_port);
    } else if (endpoint->sa.any.sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = view_ipv6(endpoint);

        addr->port = ntohs(in6->sin6_port);
        if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
            addr->family = ADDR_IPV4;
            memcpy(addr->bytes, (const uint8_t *)&in6->sin6_addr + 12, 4);
        } else {
            addr->family = ADDR_IPV6;
            memcpy(addr->bytes, &in6->sin6_addr, 16);
        }
    }
}

void endpoint_from_addr(struct endpoint *endpoint, const struct addr *addr)
{
    memset(endpoint, 0, sizeof *endpoint);
    if (addr->family == ADDR_IPV4) {
        struct sockaddr_in *in = (struct sockaddr_in *)(void *)&endpoint->sa.storage;

        in->sin_family = AF_INET;
        in->sin_port = htons(addr->port);
        memcpy(&in->sin_addr, addr->bytes, 4);
        endpoint->length = sizeof *in;
    } else if (addr->family == ADDR_IPV6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)(void *)&endpoint->sa.storage;

        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(addr->port);
        memcpy(&in6->sin6_addr, addr->bytes, 16);
        endpoint->length = sizeof *in6;
    }
}

bool endpoint_set_unix(struct endpoint *endpoint, const char *path)
{
    size_t length = strlen(path);

    if (length >= sizeof endpoint->sa.un.sun_path)
        return false;
    memset(endpoint, 0, sizeof *endpoint);
    endpoint->sa.un.sun_family = AF_UNIX;
    memcpy(endpoint->sa.un.sun_path, path, length + 1);
    endpoint->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    return true;
}

const char *endpoint_text(const struct endpoint *endpoint, char *buffer)
{
    struct addr addr;
    char text[ADDR_TEXT_MAX];

    if (endpoint->length > 0 && endpoint->sa.any.sa_family == AF_UNIX) {
        snprintf(buffer, ENDPOINT_TEXT_MAX, "%.*s", (int)sizeof endpoint->sa.un.sun_path, endpoint->sa.un.sun_path);
        return buffer;
    }
    endpoint_to_addr(endpoint, &addr);
    if (addr.family == ADDR_IPV6 && view_ipv6(endpoint)->sin6_scope_id != 0) {
        char scope[IF_NAMESIZE];
        unsigned id = view_ipv6(endpoint)->sin6_scope_id;

        if (if_indextoname(id, scope) == NULL)
            snprintf(scope, sizeof scope, "%u", id);
        snprintf(buffer, ENDPOINT_TEXT_MAX, "[%s%%%s]:%u", addr_host_text(&addr, text), scope, (unsigned)addr.port);
        return buffer;
    }
    snprintf(buffer, ENDPOINT_TEXT_MAX, "%s", addr_text(&addr, text));
    return buffer;
}

bool endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
    if (a->length == 0 || b->length == 0)
        return a->length == b->length;
    if (a->sa.any.sa_family != b->sa.any.sa_family)
        return false;
    if (a->sa.any.sa_family == AF_UNIX)
        return strncmp(a->sa.un.sun_path, b->sa.un.sun_path, sizeof a->sa.un.sun_path) == 0;
    if (a->sa.any.sa_family == AF_INET)
        return view_ipv4(a)->sin_port == view_ipv4(b)->sin_port &&
               view_ipv4(a)->sin_addr.s_addr == view_ipv4(b)->sin_addr.s_addr;
    if (a->sa.any.sa_family == AF_INET6)
        return view_ipv6(a)->sin6_port == view_ipv6(b)->sin6_port &&
               view_ipv6(a)->sin6_scope_id == view_ipv6(b)->sin6_scope_id &&
               memcmp(&view_ipv6(a)->sin6_addr, &view_ipv6(b)->sin6_addr, 16) == 0;
    return false;
}

uint16_t endpoint_port(const struct endpoint *endpoint)
{
    struct addr addr;

    endpoint_to_addr(endpoint, &addr);
    return addr.port;
}

void endpoint_set_port(struct endpoint *endpoint, uint16_t port)
{
    if (endpoint->length == 0)
        return;
    if (endpoint->sa.any.sa_family == AF_INET)
        ((struct sockaddr_in *)(void *)&endpoint->sa.storage)->sin_port = htons(port);
    else if (endpoint->sa.any.sa_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)&endpoint->sa.storage)->sin6_port = htons(port);
}

bool endpoint_is_wildcard(const struct endpoint *endpoint)
{
    if (endpoint->length == 0)
        return false;
    if (endpoint->sa.any.sa_family == AF_INET)
        return view_ipv4(endpoint)->sin_addr.s_addr == htonl(INADDR_ANY);
    if (endpoint->sa.any.sa_family == AF_INET6)
        return IN6_IS_ADDR_UNSPECIFIED(&view_ipv6(endpoint)->sin6_addr);
    return false;
}
