#include "master/prepare.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "master/config_check.h"
#include "os/cpu.h"
#include "os/log_output.h"

/* What is to be listened on, for a frontend or, with the number behind theirs, for http-redirect. */
struct listener_wish {
    size_t frontend;
    const char *host;
    const char *port;
    const struct place *place;
};

static void add_wanted(struct prepared *prepared, const struct listener_wish *wish, const struct endpoint *endpoint,
                       bool optional)
{
    prepared->addresses = mem_resize(prepared->addresses, prepared->address_count + 1, sizeof *prepared->addresses);
    prepared->addresses[prepared->address_count++] = (struct listen_wanted){
        .endpoint = *endpoint, .frontend = wish->frontend, .optional = optional, .place = wish->place};
}

static int resolve_listener(struct prepared *prepared, const struct listener_wish *wish, struct error *errors)
{
    bool is_any = wish->host == NULL || strcmp(wish->host, "*") == 0;
    struct resolved found = {0};
    struct endpoint any;
    uint16_t port;

    if (resolve_port(wish->port, wish->place, &port, errors) < 0)
        return -1;
    if (is_any) {
        if (resolve_numeric("0.0.0.0", port, &any))
            add_wanted(prepared, wish, &any, true);
        if (resolve_numeric("::", port, &any))
            add_wanted(prepared, wish, &any, true);
        return 0;
    }
    int result = resolve_host(wish->host, port, wish->place, &found, errors);
    for (size_t i = 0; result == 0 && i < found.count; i++)
        add_wanted(prepared, wish, &found.endpoints[i], false);
    resolved_clear(&found);
    return result;
}

static int resolve_listeners(struct prepared *prepared, struct error *errors)
{
    const struct config *config = &prepared->config;
    const struct conf_backend *redirect = &config->http_redirect;
    int result = 0;

    for (size_t i = 0; i < config->frontend_count; i++) {
        const struct conf_frontend *frontend = &config->frontends[i];
        struct listener_wish wish = {i, frontend->host, frontend->port, &frontend->place};

        result |= resolve_listener(prepared, &wish, errors);
    }
    if (redirect->port != NULL) {
        struct listener_wish wish = {config->frontend_count, redirect->host, redirect->port, &redirect->place};

        result |= resolve_listener(prepared, &wish, errors);
    }
    return result;
}

/* With SO_REUSEPORT two frontends on one address would share its connections by chance. */
static int check_doubles(const struct prepared *prepared, struct error *errors)
{
    const struct conf_frontend *frontends = prepared->config.frontends;
    size_t redirect = prepared->config.frontend_count; /* its listeners come last */
    int result = 0;
    char text[ENDPOINT_TEXT_MAX];

    for (size_t i = 0; i < prepared->address_count; i++) {
        const struct listen_wanted *later = &prepared->addresses[i];

        for (size_t j = 0; j < i && endpoint_port(&later->endpoint) != 0; j++) {
            const struct listen_wanted *earlier = &prepared->addresses[j];

            if (!endpoint_equal(&earlier->endpoint, &later->endpoint))
                continue;
            /* config_finish() has told of those that are written alike. */
            if (later->frontend == redirect)
                result = error_add(errors, later->place, "http-redirect: %s is the address of a frontend already",
                                   endpoint_text(&later->endpoint, text));
            else if (!conf_frontend_is_same(&frontends[earlier->frontend], &frontends[later->frontend]))
                result = error_add(errors, later->place, "frontend: %s is the address of another frontend already",
                                   endpoint_text(&later->endpoint, text));
            break;
        }
    }
    return result;
}

static int resolve_backend(struct prepared *prepared, struct error *errors)
{
    const struct conf_backend *backend = &prepared->config.backend;
    struct endpoint endpoint;
    uint16_t port;

    if (backend->path != NULL) {
        /* config_check() has complained when it does not fit. */
        if (endpoint_set_unix(&endpoint, backend->path))
            resolved_add(&prepared->backends, &endpoint);
        return 0;
    }
    if (resolve_port(backend->port, &backend->place, &port, errors) < 0)
        return -1;
    return resolve_host(backend->host, port, &backend->place, &prepared->backends, errors);
}

/* In a test the faults of running here and now become warnings: the test may run as someone else. */
static int check_privileges(const struct prepared *prepared, enum prepare_purpose purpose, struct error *errors)
{
    struct error own = ERROR_INIT;
    int result = privileges_check(&prepared->who, prepared->config.chroot_dir, &own);

    for (size_t i = 0; i < own.count; i++) {
        if (purpose == PREPARE_RUN && own.faults[i].kind == FAULT_ERROR)
            error_add(errors, NULL, "%s", own.faults[i].text);
        else
            error_warn(errors, NULL, "%s", own.faults[i].text);
    }
    error_clear(&own);
    return purpose == PREPARE_RUN ? result : 0;
}

/* May a missing record be the reason of this fault? Then it is none: what was faulty may have been that record. */
static bool lacks_certificates(const struct config *config)
{
    size_t count = config->pem_count;

    for (size_t i = 0; i < config->frontend_count; i++)
        count += config->frontends[i].pem_count;
    return count == 0 && config->pem_dir == NULL;
}

static int build_filters(struct prepared *prepared, struct error *errors)
{
    const struct config *config = &prepared->config;
    size_t faults_before = errors->error_count;

    prepared->filter_site_count = config->frontend_count + 1; /* the last one is http-redirect's */
    prepared->filter_sites = mem_new(prepared->filter_site_count, sizeof *prepared->filter_sites);
    for (size_t i = 0; i < prepared->filter_site_count; i++) {
        bool is_redirect = i == config->frontend_count;

        if (is_redirect ? config->http_redirect.port == NULL : !config->frontends[i].http.on)
            continue;
        if (prepared->filter_ops == NULL)
            return error_add(errors, is_redirect ? &config->http_redirect.place : &config->frontends[i].place,
                             "%s: this program is built without HTTP; start halter-http instead",
                             is_redirect ? "http-redirect" : "http = on");
        prepared->filter_sites[i] = prepared->filter_ops->site_new(config, i, errors);
    }
    return errors->error_count > faults_before ? -1 : 0;
}

/* All checks and loads, in any case: the operator sees all faults in one run. */
static int build(struct prepared *prepared, const struct prepare_options *options, struct error *errors)
{
    const struct config *config = &prepared->config;
    int result = config_check(config, &prepared->who, errors);

    /* An unknown user is reported once, not once more as a missing one. */
    if (prepared->who.has_user || (config->user == NULL && !config->is_faulty))
        result |= check_privileges(prepared, options->purpose, errors);
    result |= resolve_listeners(prepared, errors);
    result |= check_doubles(prepared, errors);
    result |= resolve_backend(prepared, errors);
    result |= build_filters(prepared, errors);
    if (config->is_faulty && lacks_certificates(config))
        return -1;
    prepared->server = tls_server_new(config, options->keys, errors);
    return prepared->server != NULL ? result : -1;
}

struct prepared *prepared_new(const struct prepare_options *options, bool *log_is_faulty, struct error *errors)
{
    struct prepared *prepared = mem_new(1, sizeof *prepared);
    struct config *config = &prepared->config;
    struct error ignored = ERROR_INIT;

    prepared->filter_ops = options->filter_ops;
    config_init(config);
    int result = options->load(options->arg, config, errors);
    *log_is_faulty = config->log_filename != NULL && !log_output_can_open(config->log_filename, NULL, &ignored);
    error_clear(&ignored);
    prepared->worker_count = config->workers == WORKERS_AUTO ? cpu_workers_auto() : config->workers;
    if (config->frontend_count > 0) /* else there is nothing to check */
        result |= build(prepared, options, errors);
    if (options->pidfile != NULL && config->pidfile != NULL)
        result |= pidfile_lock(options->pidfile, config->pidfile, errors);
    if (result == 0)
        return prepared;
    prepared_free(prepared);
    return NULL;
}

void prepared_free(struct prepared *prepared)
{
    if (prepared == NULL)
        return;
    if (prepared->server != NULL)
        tls_server_free(prepared->server);
    for (size_t i = 0; i < prepared->filter_site_count; i++)
        if (prepared->filter_sites[i] != NULL)
            prepared->filter_ops->site_free(prepared->filter_sites[i]);
    free(prepared->filter_sites);
    resolved_clear(&prepared->backends);
    free(prepared->addresses);
    config_clear(&prepared->config);
    free(prepared);
}
