#include "os/resolve.h"

#include <ares.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

void resolved_add(struct resolved *found, const struct endpoint *endpoint)
{
    for (size_t i = 0; i < found->count; i++)
        if (endpoint_equal(&found->endpoints[i], endpoint))
            return;
    found->endpoints = mem_resize(found->endpoints, found->count + 1, sizeof *found->endpoints);
    found->endpoints[found->count++] = *endpoint;
}

void resolved_clear(struct resolved *found)
{
    free(found->endpoints);
    found->endpoints = NULL;
    found->count = 0;
}

const char *resolve_library_version(void)
{
    return ares_version(NULL);
}

static bool parse_number(const char *text, unsigned long max, unsigned long *number)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoul(text, &end, 10);
    return errno == 0 && *end == '\0' && *number <= max;
}

bool resolve_numeric(const char *host, uint16_t port, struct endpoint *endpoint)
{
    struct addr addr = {.port = port};
    const char *zone = strchr(host, '%');
    unsigned long scope = 0;

    if (!addr_parse_host(&addr, host, zone != NULL ? (size_t)(zone - host) : strlen(host)))
        return false;
    endpoint_from_addr(endpoint, &addr);
    if (zone == NULL)
        return true;
    if (addr.family != ADDR_IPV6)
        return false;
    if (!parse_number(zone + 1, UINT32_MAX, &scope))
        scope = if_nametoindex(zone + 1);
    ((struct sockaddr_in6 *)(void *)&endpoint->sa.storage)->sin6_scope_id = (uint32_t)scope;
    return scope != 0;
}

/* Is this line of /etc/services "name 443/tcp alias alias # comment" about name? */
static bool parse_service(char *line, const char *name, unsigned long *port)
{
    char *rest = NULL;

    line[strcspn(line, "#\n")] = '\0';
    const char *service = strtok_r(line, " \t", &rest);
    char *number = strtok_r(NULL, " \t", &rest);
    if (service == NULL || number == NULL)
        return false;
    char *slash = strchr(number, '/');
    if (slash == NULL || strcmp(slash, "/tcp") != 0)
        return false;
    *slash = '\0';
    bool matches = strcmp(service, name) == 0;
    for (const char *alias = strtok_r(NULL, " \t", &rest); alias != NULL; alias = strtok_r(NULL, " \t", &rest))
        matches |= strcmp(alias, name) == 0;
    return matches && parse_number(number, UINT16_MAX, port);
}

int resolve_port_in(const char *services_file, const char *text, const struct place *place, uint16_t *port,
                    struct error *errors)
{
    unsigned long number = 0;
    char line[512];
    bool found = false;

    if (parse_number(text, UINT16_MAX, &number)) {
        *port = (uint16_t)number;
        return 0;
    }
    if (*text == '\0' || (*text >= '0' && *text <= '9'))
        return error_add(errors, place, "\"%s\" is not a port: give 0 to 65535, or a service name", text);
    FILE *file = fopen(services_file, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = parse_service(line, text, &number);
    if (file != NULL)
        fclose(file);
    if (!found)
        return error_add(errors, place, "port \"%s\": no such TCP service in %s; give the number", text, services_file);
    *port = (uint16_t)number;
    return 0;
}

int resolve_port(const char *text, const struct place *place, uint16_t *port, struct error *errors)
{
    return resolve_port_in("/etc/services", text, place, port, errors);
}

/* --- names, by c-ares --- */

enum { SOCKETS_MAX = 32 };

struct query {
    struct pollfd sockets[SOCKETS_MAX]; /* fd -1: free; kept by on_socket() */
    bool done;
    int status;
    struct resolved *found;
    uint16_t port;
};

static void on_socket(void *arg, ares_socket_t fd, int readable, int writable)
{
    struct query *query = arg;
    struct pollfd *slot = NULL;

    for (size_t i = 0; i < SOCKETS_MAX && (slot == NULL || slot->fd != fd); i++)
        if (query->sockets[i].fd == fd || (slot == NULL && query->sockets[i].fd < 0))
            slot = &query->sockets[i];
    if (slot == NULL)
        return;
    slot->fd = readable || writable ? fd : -1;
    slot->events = (short)((readable ? POLLIN : 0) | (writable ? POLLOUT : 0));
}

static void take_family(struct query *query, const struct ares_addrinfo *result, int family)
{
    for (const struct ares_addrinfo_node *node = result->nodes; node != NULL; node = node->ai_next) {
        struct endpoint endpoint;

        if (node->ai_family != family || (size_t)node->ai_addrlen > sizeof endpoint.sa)
            continue;
        memset(&endpoint, 0, sizeof endpoint);
        memcpy(&endpoint.sa, node->ai_addr, (size_t)node->ai_addrlen);
        endpoint.length = (socklen_t)node->ai_addrlen;
        endpoint_set_port(&endpoint, query->port);
        resolved_add(query->found, &endpoint);
    }
}

static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *result)
{
    struct query *query = arg;

    (void)timeouts;
    query->done = true;
    query->status = status;
    if (status == ARES_SUCCESS) {
        take_family(query, result, AF_INET);
        take_family(query, result, AF_INET6);
    }
    if (result != NULL)
        ares_freeaddrinfo(result);
}

static long milliseconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until the answer is there or time is up; what the library waits for may change in each turn. */
static void run_query(ares_channel channel, struct query *query)
{
    long end = milliseconds_now() + RESOLVE_TIMEOUT_MS;

    while (!query->done) {
        struct timeval limit = {0}, wait;
        long left = end - milliseconds_now();

        if (left <= 0) {
            ares_cancel(channel); /* calls on_answer */
            query->status = ARES_ETIMEOUT;
            return;
        }
        limit.tv_sec = left / 1000;
        limit.tv_usec = left % 1000 * 1000;
        const struct timeval *next = ares_timeout(channel, &limit, &wait);
        int ready = poll(query->sockets, SOCKETS_MAX, (int)(next->tv_sec * 1000 + next->tv_usec / 1000 + 1));

        if (ready <= 0) {
            ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
            continue;
        }
        for (size_t i = 0; i < SOCKETS_MAX; i++) {
            struct pollfd entry = query->sockets[i];

            if (entry.fd < 0 || entry.revents == 0)
                continue;
            query->sockets[i].revents = 0;
            ares_process_fd(channel, entry.revents & (POLLIN | POLLERR | POLLHUP) ? entry.fd : ARES_SOCKET_BAD,
                            entry.revents & POLLOUT ? entry.fd : ARES_SOCKET_BAD);
        }
    }
}

static int ask_library(const char *host, struct query *query)
{
    struct ares_options options;
    struct ares_addrinfo_hints hints;
    ares_channel channel;

    memset(&options, 0, sizeof options);
    options.timeout = 1500;
    options.tries = 2;
    options.sock_state_cb = on_socket;
    options.sock_state_cb_data = query;
    int status = ares_library_init(ARES_LIB_INIT_ALL);
    if (status != ARES_SUCCESS)
        return status;
    status = ares_init_options(&channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
    if (status == ARES_SUCCESS) {
        memset(&hints, 0, sizeof hints);
        hints.ai_family = AF_UNSPEC;
        hints.ai_socktype = SOCK_STREAM;
        hints.ai_flags = ARES_AI_NOSORT;
        ares_getaddrinfo(channel, host, NULL, &hints, on_answer, query);
        run_query(channel, query);
        ares_destroy(channel);
        status = query->status;
    }
    ares_library_cleanup();
    return status;
}

/* RFC 6761, section 6.3: it is this machine, whatever any name server says. */
static bool add_localhost(const char *host, uint16_t port, struct resolved *found)
{
    struct endpoint endpoint;

    if (strcmp(host, "localhost") != 0 && strcmp(host, "localhost.") != 0)
        return false;
    if (resolve_numeric("127.0.0.1", port, &endpoint))
        resolved_add(found, &endpoint);
    if (resolve_numeric("::1", port, &endpoint))
        resolved_add(found, &endpoint);
    return true;
}

int resolve_host(const char *host, uint16_t port, const struct place *place, struct resolved *found,
                 struct error *errors)
{
    struct endpoint endpoint;
    struct query query = {.found = found, .port = port};
    size_t before = found->count;

    if (resolve_numeric(host, port, &endpoint)) {
        resolved_add(found, &endpoint);
        return 0;
    }
    if (strchr(host, '%') != NULL || strchr(host, ':') != NULL || *host == '\0')
        return error_add(errors, place, "\"%s\" is neither an address nor a host name", host);
    for (size_t i = 0; i < SOCKETS_MAX; i++)
        query.sockets[i].fd = -1;
    int status = ask_library(host, &query);
    if (found->count > before || add_localhost(host, port, found))
        return 0;
    return error_add(errors, place,
                     "cannot resolve \"%s\": %s; check /etc/resolv.conf and /etc/hosts, or give an address", host,
                     status == ARES_SUCCESS ? "it has no address" : ares_strerror(status));
}
