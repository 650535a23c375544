/*
 * tls_cert.h: one certificate with its chain, key and names, as loaded from PEM.
 */
#ifndef HALTER_TLS_TLS_CERT_H
#define HALTER_TLS_TLS_CERT_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stddef.h>

#include "base/error.h"
#include "conf/config.h"

struct tls_cert {
    const struct conf_pem *pem; /* borrowed */
    char *label;                /* the file's name, or "built-in certificate" */
    X509 *leaf;
    STACK_OF(X509) * chain; /* without the leaf, in the order of the file */
    EVP_PKEY *key;
    EVP_PKEY *dh_params; /* finite-field DH parameters that stand in the file; NULL */
    char **names;        /* normalised DNS names and wildcard patterns: SAN, or the CN when there is none */
    size_t name_count;
    unsigned char digest[32]; /* SHA-256 of the leaf */
};

/* Reads what pem names. NULL and faults (all that this certificate has) when it cannot be used. */
struct tls_cert *tls_cert_load(const struct conf_pem *pem, struct error *errors) __attribute__((warn_unused_result));
void tls_cert_free(struct tls_cert *cert);

#endif
