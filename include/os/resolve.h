/*
 * resolve.h: host and port as text into socket addresses.
 *
 * Synchronous, with a limit of time: for the master at start and reload, never for a worker. Not getaddrinfo(), which a
 * static binary cannot use: numeric addresses are read here, names by c-ares (/etc/hosts, then DNS).
 *
 *     struct resolved found = {0};
 *     if (resolve_host(host, port, &place, &found, &errors) < 0) ...
 *     resolved_clear(&found);
 */
#ifndef HALTER_OS_RESOLVE_H
#define HALTER_OS_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "os/endpoint.h"

enum { RESOLVE_TIMEOUT_MS = 5000 };

struct resolved {
    struct endpoint *endpoints; /* IPv4 first, each family in the order given by the source; no doubles */
    size_t count;
};

/* Numeric IPv4 or IPv6, also with a zone ("fe80::1%eth0"). False when host is none. */
bool resolve_numeric(const char *host, uint16_t port, struct endpoint *endpoint);

/* "443", or a name from /etc/services. 0, or -1 with a fault. */
int resolve_port(const char *text, const struct place *place, uint16_t *port, struct error *errors)
    __attribute__((warn_unused_result));

/* The same with another file, for the tests. */
int resolve_port_in(const char *services_file, const char *text, const struct place *place, uint16_t *port,
                    struct error *errors) __attribute__((warn_unused_result));

/* Adds at least one endpoint to found and returns 0; or -1 with a fault. Waits RESOLVE_TIMEOUT_MS at most. */
int resolve_host(const char *host, uint16_t port, const struct place *place, struct resolved *found,
                 struct error *errors) __attribute__((warn_unused_result));

/* Adds one more, unless it is there already. */
void resolved_add(struct resolved *found, const struct endpoint *endpoint);
void resolved_clear(struct resolved *found);

/* The version of the resolver library. */
const char *resolve_library_version(void);

#endif
