/*
 * endpoint.h: a socket address and its forms.
 *
 * struct sockaddr stays behind this header; floor 1 knows addresses as bytes (base/addr.h).
 */
#ifndef HALTER_OS_ENDPOINT_H
#define HALTER_OS_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/addr.h"

struct endpoint {
    union {
        struct sockaddr any;
        struct sockaddr_storage storage;
        struct sockaddr_un un;
    } sa;
    socklen_t length; /* 0: unset */
};

enum { ENDPOINT_TEXT_MAX = 128 };

/* IPv4-mapped IPv6 addresses become IPv4. family is ADDR_NONE for a unix socket. */
void endpoint_to_addr(const struct endpoint *endpoint, struct addr *addr);

/* The socket address of addr; addr->family is not ADDR_NONE. */
void endpoint_from_addr(struct endpoint *endpoint, const struct addr *addr);

/* path of at most sizeof sun_path - 1 bytes; false when it is longer. */
bool endpoint_set_unix(struct endpoint *endpoint, const char *path);

/* "127.0.0.1:80", "[::1]:80" or the path of a unix socket; buffer has ENDPOINT_TEXT_MAX bytes. Returns buffer. */
const char *endpoint_text(const struct endpoint *endpoint, char *buffer);

/* Same family, address, port and scope, or same path. */
bool endpoint_equal(const struct endpoint *a, const struct endpoint *b);

/* Port of an IP endpoint in host order; 0 for others. */
uint16_t endpoint_port(const struct endpoint *endpoint);
void endpoint_set_port(struct endpoint *endpoint, uint16_t port);

/* True for 0.0.0.0 and :: */
bool endpoint_is_wildcard(const struct endpoint *endpoint);

#endif
