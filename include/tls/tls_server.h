/*
 * tls_server.h: everything that answers ClientHellos: one site for each frontend, certificates by name.
 *
 * Built by the master from the configuration before it forks; workers share it by copy-on-write and never change it.
 *
 *     struct tls_server *server = tls_server_new(&config, keys, &errors);
 *     const struct tls_site *site = tls_server_site(server, frontend_index);
 *     tls_server_free(server);      (only when no connection of this process uses it any more)
 */
#ifndef HALTER_TLS_TLS_SERVER_H
#define HALTER_TLS_TLS_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "conf/config.h"

struct tls_server;
struct tls_site;

/* Ticket keys, shared by all workers and generations of one master; never written anywhere. RFC 5077, section 4. */
struct tls_ticket_keys {
    unsigned char bytes[80]; /* name 16, HMAC secret 32, AES key 32: what SSL_CTX_set_tlsext_ticket_keys takes */
};

/* Fills keys from the library's random generator. 0, or -1 with a fault. */
int tls_ticket_keys_make(struct tls_ticket_keys *keys, struct error *errors) __attribute__((warn_unused_result));

/*
 * Loads every certificate and key that config names (pem-file, pem-dir, frontends' own, inline ones) and builds the
 * contexts. All faults of all files are added to errors; NULL when there was at least one.
 * config must outlive the server.
 */
struct tls_server *tls_server_new(const struct config *config, const struct tls_ticket_keys *keys, struct error *errors)
    __attribute__((warn_unused_result));
void tls_server_free(struct tls_server *server);

/* The site of config->frontends[frontend]; lives as long as the server. */
const struct tls_site *tls_server_site(const struct tls_server *server, size_t frontend);

/* Whether clients that ask for name (normal form of names/sni.h; NULL: no name) are asked for a certificate. */
bool tls_site_verifies(const struct tls_site *site, const char *name);

/* Whether any of its hosts asks for certificates. */
bool tls_site_is_guarded(const struct tls_site *site);

/* Whether a connection that was made for sni (NULL: no name) must not serve host: they are different hosts, and one of
 * them asks for a certificate. Both in normal form. */
bool tls_site_bars(const struct tls_site *site, const char *sni, const char *host);

#endif
