/*
 * tls_context.h: an SSL_CTX for one certificate under one set of TLS settings.
 */
#ifndef HALTER_TLS_TLS_CONTEXT_H
#define HALTER_TLS_TLS_CONTEXT_H

#include <openssl/ssl.h>

#include "tls/tls_server.h"
#include "tls_cert.h"
#include "tls_verify.h"

/* The default list of groups, when ecdh-curve is not set: post-quantum hybrid first, then the fast ones. */
#define TLS_GROUPS_DEFAULT "X25519MLKEM768:X25519:P-256:P-384"
#define TLS_GROUPS_DEFAULT_CLASSIC "X25519:P-256:P-384" /* for libraries without ML-KEM (OpenSSL before 3.5) */

#define TLS_GROUPS_FFDHE ":ffdhe2048:ffdhe3072"

/* AES-128 first: its SHA-256 key schedule is hashed in hardware, and AES-256 adds no safety that TLS could use. */
#define TLS_CIPHERSUITES_DEFAULT "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

struct tls_context_options {
    const struct conf_tls *tls;
    const char *alpn_protos; /* "h2,http/1.1"; NULL */
    const struct tls_ticket_keys *keys;
    const struct tls_verify *verify;
    /* for faults: where a setting was given, else whose settings these are */
    const struct conf_marks *own_marks;    /* of the frontend */
    const struct conf_marks *global_marks; /* from which it inherits */
    const struct place *place;             /* the frontend itself */
};

/* All faults are added; NULL when there was one. The caller frees it with SSL_CTX_free(). */
SSL_CTX *tls_context_new(const struct tls_cert *cert, const struct tls_context_options *options, struct error *errors)
    __attribute__((warn_unused_result));

#endif
