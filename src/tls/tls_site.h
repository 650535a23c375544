/*
 * tls_site.h: inside of struct tls_site, for tls_conn.c and tls_server.c.
 */
#ifndef HALTER_TLS_TLS_SITE_H
#define HALTER_TLS_TLS_SITE_H

#include <openssl/ssl.h>

#include "names/name_table.h"
#include "tls/tls_server.h"

struct tls_cert;

struct tls_site {
    SSL_CTX *base;                   /* owned; the default certificate, and where SSL_new() starts */
    const struct name_table *own;    /* normalised name -> SSL_CTX, certificates of this frontend; NULL */
    const struct name_table *shared; /* global certificates; NULL when the frontend does not match them */
    bool nomatch_abort;
    const struct tls_cert *fallback; /* the certificate of base */
    bool any_verifies;               /* it, or another host of this site */
    bool fallback_verifies;          /* base asks its clients for a certificate */
};

/* tls_conn.c: remembers for the log which name the client of ssl was refused for. */
void tls_conn_refuse_name(SSL *ssl, const char *name, size_t length);

#endif
