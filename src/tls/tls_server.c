#include "tls/tls_server.h"

#include <openssl/err.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "names/name_table.h"
#include "names/sni.h"
#include "os/file_list.h"
#include "tls/tls_lib.h"
#include "tls_cert.h"
#include "tls_context.h"
#include "tls_site.h"

/* One certificate under one set of TLS settings: what a name leads to. */
struct host {
    SSL_CTX *ctx;
    const struct tls_cert *cert;
    bool verifies; /* asks its clients for a certificate */
};

/* A list of certificates under one set of TLS settings. */
struct host_set {
    const struct conf_frontend *frontend; /* whose settings they are */
    struct host *hosts;
    size_t count;
    struct name_table names; /* -> struct host */
    bool any_verifies;
};

struct cert_list {
    struct tls_cert **certs;
    size_t count;
    const struct tls_cert *fallback; /* for clients whose name is in no certificate */
};

struct tls_server {
    const struct config *config;
    struct tls_ticket_keys keys;
    struct name_seed seed;
    struct conf_pem *dir_pems; /* made from pem-dir */
    size_t dir_pem_count;
    struct cert_list global;
    struct cert_list *own; /* for each frontend */
    struct tls_authority_list authorities;
    struct host_set **sets;
    size_t set_count;
    struct tls_site *sites;
    size_t site_count;
};

int tls_ticket_keys_make(struct tls_ticket_keys *keys, struct error *errors)
{
    char reason[TLS_REASON_MAX];

    if (RAND_priv_bytes(keys->bytes, sizeof keys->bytes) == 1)
        return 0;
    return error_add(errors, NULL, "no random bytes for ticket keys: %s", tls_lib_reason(reason, sizeof reason));
}

/* --- certificates --- */

static void cert_list_clear(struct cert_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        tls_cert_free(list->certs[i]);
    free(list->certs);
}

/* Seconds, roughly, from now to time: negative when it has passed. */
static long long time_until(const ASN1_TIME *time)
{
    int days = 0;
    int seconds = 0;

    if (ASN1_TIME_diff(&days, &seconds, NULL, time) != 1)
        return 0;
    return days * 86400LL + seconds;
}

static void warn_if_expired(const struct tls_cert *cert, struct error *errors)
{
    struct place place = {.file = cert->label};

    if (time_until(X509_get0_notAfter(cert->leaf)) < 0)
        error_warn(errors, &place, "this certificate has expired: clients will refuse it");
    else if (time_until(X509_get0_notBefore(cert->leaf)) > 0)
        error_warn(errors, &place, "this certificate is not valid yet: clients will refuse it");
}

static void cert_list_load(struct cert_list *list, const struct conf_pem *pems, size_t count, struct error *errors)
{
    for (size_t i = 0; i < count; i++) {
        struct tls_cert *cert = tls_cert_load(&pems[i], errors);

        if (cert == NULL)
            continue;
        warn_if_expired(cert, errors);
        list->certs = mem_resize(list->certs, list->count + 1, sizeof *list->certs);
        list->certs[list->count++] = cert;
    }
}

/* pem-dir: its regular files in order of their names, each as if it stood in a pem-file. */
static void list_pem_dir(struct tls_server *server, struct error *errors)
{
    const struct config *config = server->config;
    struct file_list files = {0};

    if (config->pem_dir == NULL)
        return;
    if (file_list_dir(&files, config->pem_dir, config->pem_dir_glob, errors) == 0) {
        server->dir_pems = mem_new(files.count, sizeof *server->dir_pems);
        server->dir_pem_count = files.count;
        for (size_t i = 0; i < files.count; i++) {
            server->dir_pems[i].cert = mem_strdup(files.paths[i]);
        }
    }
    file_list_clear(&files);
}

static void load_certs(struct tls_server *server, struct error *errors)
{
    const struct config *config = server->config;

    cert_list_load(&server->global, config->pems, config->pem_count, errors);
    size_t from_files = server->global.count;
    list_pem_dir(server, errors);
    cert_list_load(&server->global, server->dir_pems, server->dir_pem_count, errors);
    /* The last pem-file is the default; only when there is none is it the first file of pem-dir. */
    if (from_files > 0)
        server->global.fallback = server->global.certs[from_files - 1];
    else if (server->global.count > 0)
        server->global.fallback = server->global.certs[0];

    for (size_t i = 0; i < config->frontend_count; i++) {
        struct cert_list *own = &server->own[i];

        cert_list_load(own, config->frontends[i].pems, config->frontends[i].pem_count, errors);
        if (own->count > 0)
            own->fallback = own->certs[own->count - 1];
        else if (config->frontends[i].match_global_certs)
            own->fallback = server->global.fallback;
    }
}

/* --- hosts --- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_settings(const struct conf_frontend *one, const struct conf_frontend *other)
{
    const struct conf_tls *a = &one->tls;
    const struct conf_tls *b = &other->tls;

    return one->http.on == other->http.on && a->versions == b->versions && same_text(a->ciphers, b->ciphers) &&
           same_text(a->ciphersuites, b->ciphersuites) && same_text(a->ecdh_curve, b->ecdh_curve) &&
           a->prefer_server_ciphers == b->prefer_server_ciphers && a->client_verify == b->client_verify &&
           same_text(a->client_verify_ca, b->client_verify_ca);
}

/* Requests can only be rewritten in HTTP/1: nothing else is offered then. */
static const char *alpn_of(const struct tls_server *server, const struct conf_frontend *frontend)
{
    return frontend->http.on ? "http/1.1" : server->config->alpn_protos;
}

/* What a certificate says itself counts, else what the frontend says that it is used on. */
static int find_verify(struct tls_server *server, const struct tls_cert *cert, const struct conf_frontend *frontend,
                       struct tls_verify *verify, struct error *errors)
{
    bool is_own = cert->pem->client_verify_is_own;
    const char *path = is_own ? cert->pem->client_verify_ca : frontend->tls.client_verify_ca;

    verify->mode = is_own ? cert->pem->client_verify : frontend->tls.client_verify;
    verify->authorities = NULL;
    if (verify->mode == CLIENT_VERIFY_NONE)
        return 0;
    if (path == NULL)
        return error_add(errors, &frontend->place, "client-verify needs client-verify-ca");
    verify->authorities = tls_authorities_find(&server->authorities, path,
                                               is_own ? &cert->pem->place : &frontend->place, errors);
    return verify->authorities != NULL ? 0 : -1;
}

static SSL_CTX *new_context(struct tls_server *server, const struct tls_cert *cert,
                            const struct conf_frontend *frontend, struct tls_verify *verify, struct error *errors)
{
    if (find_verify(server, cert, frontend, verify, errors) < 0)
        return NULL;
    struct tls_context_options options = {.tls = &frontend->tls,
                                          .alpn_protos = alpn_of(server, frontend),
                                          .keys = &server->keys,
                                          .verify = verify,
                                          .own_marks = &frontend->marks,
                                          .global_marks = &server->config->marks,
                                          .place = &frontend->place};

    return tls_context_new(cert, &options, errors);
}

static void index_names(struct host_set *set, struct host *host, struct error *errors)
{
    for (size_t i = 0; i < host->cert->name_count; i++) {
        const char *name = host->cert->names[i];
        const struct host *before = name_table_put(&set->names, name, host);

        if (before != NULL && before != host) {
            struct place place = {.file = host->cert->label};
            error_warn(errors, &place, "the name %s is in %s too: this one, loaded last, is used", name,
                       before->cert->label);
        }
    }
}

static struct host_set *host_set_new(struct tls_server *server, const struct cert_list *list,
                                     const struct conf_frontend *frontend, struct error *errors)
{
    struct host_set *set = mem_new(1, sizeof *set);

    server->sets = mem_resize(server->sets, server->set_count + 1, sizeof(struct host_set *));
    server->sets[server->set_count++] = set;
    set->frontend = frontend;
    set->hosts = mem_new(list->count, sizeof *set->hosts);
    name_table_init(&set->names, &server->seed);
    for (size_t i = 0; i < list->count; i++) {
        struct host *host = &set->hosts[set->count];

        host->cert = list->certs[i];
        struct tls_verify verify;
        host->ctx = new_context(server, host->cert, frontend, &verify, errors);
        if (host->ctx == NULL)
            continue;
        host->verifies = verify.mode != CLIENT_VERIFY_NONE;
        set->any_verifies |= host->verifies;
        set->count++;
        index_names(set, host, errors);
    }
    return set;
}

/* Frontends with the same settings share the contexts of the global certificates. */
static const struct host_set *shared_set(struct tls_server *server, const struct conf_frontend *frontend,
                                         struct host_set **shared, size_t *shared_count, struct error *errors)
{
    for (size_t i = 0; i < *shared_count; i++)
        if (same_settings(shared[i]->frontend, frontend))
            return shared[i];
    shared[*shared_count] = host_set_new(server, &server->global, frontend, errors);
    return shared[(*shared_count)++];
}

/* --- choice by name --- */

/* The host_name of a server_name extension: RFC 6066, section 3. False when it is absent or malformed, which the
 * library then refuses by itself. */
static bool find_host_name(SSL *ssl, const char **name, size_t *length)
{
    const unsigned char *bytes;
    size_t left;

    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &left) != 1)
        return false;
    if (left < 5 || (size_t)(bytes[0] << 8 | bytes[1]) != left - 2 || bytes[2] != TLSEXT_NAMETYPE_host_name)
        return false;
    *length = (size_t)(bytes[3] << 8 | bytes[4]);
    *name = (const char *)bytes + 5;
    return *length <= left - 5;
}

/* The host that a normalised name chooses; NULL: the default one. */
static const struct host *find_host(const struct tls_site *site, const char *name)
{
    const struct host *host = site->own != NULL ? name_table_find(site->own, name) : NULL;

    return host == NULL && site->shared != NULL ? name_table_find(site->shared, name) : host;
}

bool tls_site_is_guarded(const struct tls_site *site)
{
    return site->any_verifies;
}

bool tls_site_verifies(const struct tls_site *site, const char *name)
{
    const struct host *host = name != NULL ? find_host(site, name) : NULL;

    return host != NULL ? host->verifies : site->fallback_verifies;
}

static const struct tls_cert *cert_of(const struct tls_site *site, const char *name)
{
    const struct host *host = name != NULL ? find_host(site, name) : NULL;

    return host != NULL ? host->cert : site->fallback;
}

bool tls_site_bars(const struct tls_site *site, const char *sni, const char *host)
{
    return cert_of(site, sni) != cert_of(site, host) && (tls_site_verifies(site, sni) || tls_site_verifies(site, host));
}

/* Before versions, sessions and extensions are looked at, so that all of them are the chosen host's. */
static int on_client_hello(SSL *ssl, int *alert, void *arg)
{
    const struct tls_site *site = arg;
    const struct host *host = NULL;
    char normal[NAME_TEXT_MAX];
    const char *name;
    size_t length;

    if (!find_host_name(ssl, &name, &length))
        return SSL_CLIENT_HELLO_SUCCESS;
    if (name_normalise(normal, sizeof normal, name, length))
        host = find_host(site, normal);
    if (host != NULL) {
        SSL_set_SSL_CTX(ssl, host->ctx);
        SSL_set_verify(ssl, SSL_CTX_get_verify_mode(host->ctx), NULL); /* which the context change leaves alone */
        return SSL_CLIENT_HELLO_SUCCESS;
    }
    if (!site->nomatch_abort)
        return SSL_CLIENT_HELLO_SUCCESS;
    tls_conn_refuse_name(ssl, name, length);
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    return SSL_CLIENT_HELLO_ERROR;
}

static void build_site(struct tls_server *server, size_t index, struct host_set **shared, size_t *shared_count,
                       struct error *errors)
{
    const struct conf_frontend *frontend = &server->config->frontends[index];
    const struct cert_list *own = &server->own[index];
    struct tls_site *site = &server->sites[index];

    site->nomatch_abort = frontend->tls.sni_nomatch_abort;
    if (own->fallback == NULL) {
        if (!error_any(errors))
            (void)error_add(errors, &frontend->place, "no x509 certificate PEM file specified for frontend '[%s]:%s'!",
                            frontend->host != NULL ? frontend->host : "*", frontend->port);
        return;
    }
    struct tls_verify verify;
    site->base = new_context(server, own->fallback, frontend, &verify, errors);
    if (site->base == NULL)
        return;
    site->fallback = own->fallback;
    site->fallback_verifies = verify.mode != CLIENT_VERIFY_NONE;
    SSL_CTX_set_client_hello_cb(site->base, on_client_hello, site);
    const struct host_set *owns = own->count > 0 ? host_set_new(server, own, frontend, errors) : NULL;
    const struct host_set *shares = frontend->match_global_certs && server->global.count > 0
                                        ? shared_set(server, frontend, shared, shared_count, errors)
                                        : NULL;
    site->own = owns != NULL ? &owns->names : NULL;
    site->shared = shares != NULL ? &shares->names : NULL;
    site->any_verifies = site->fallback_verifies || (owns != NULL && owns->any_verifies) ||
                         (shares != NULL && shares->any_verifies);
}

static void build_sites(struct tls_server *server, struct error *errors)
{
    struct host_set **shared = mem_new(server->site_count, sizeof *shared);
    size_t shared_count = 0;

    for (size_t i = 0; i < server->site_count; i++)
        build_site(server, i, shared, &shared_count, errors);
    free(shared);
}

struct tls_server *tls_server_new(const struct config *config, const struct tls_ticket_keys *keys, struct error *errors)
{
    struct tls_server *server = mem_new(1, sizeof *server);
    size_t faults_before = errors->error_count;

    server->config = config;
    server->keys = *keys;
    server->site_count = config->frontend_count;
    server->sites = mem_new(server->site_count, sizeof *server->sites);
    server->own = mem_new(server->site_count, sizeof *server->own);
    ERR_clear_error();
    if (RAND_bytes((unsigned char *)&server->seed, sizeof server->seed) != 1)
        (void)error_add(errors, NULL, "no random bytes");

    load_certs(server, errors);
    build_sites(server, errors);
    ERR_clear_error();
    if (errors->error_count > faults_before) {
        tls_server_free(server);
        return NULL;
    }
    return server;
}

static void host_set_free(struct host_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        SSL_CTX_free(set->hosts[i].ctx);
    free(set->hosts);
    name_table_clear(&set->names);
    free(set);
}

void tls_server_free(struct tls_server *server)
{
    if (server == NULL)
        return;
    for (size_t i = 0; i < server->site_count; i++) {
        SSL_CTX_free(server->sites[i].base);
        cert_list_clear(&server->own[i]);
    }
    for (size_t i = 0; i < server->set_count; i++)
        host_set_free(server->sets[i]);
    for (size_t i = 0; i < server->dir_pem_count; i++)
        free(server->dir_pems[i].cert);
    tls_authority_list_clear(&server->authorities);
    cert_list_clear(&server->global);
    free(server->dir_pems);
    free(server->sets);
    free(server->sites);
    free(server->own);
    OPENSSL_cleanse(&server->keys, sizeof server->keys);
    free(server);
}

const struct tls_site *tls_server_site(const struct tls_server *server, size_t frontend)
{
    return &server->sites[frontend];
}
