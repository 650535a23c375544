/*
 * tls_verify.h: whom a host believes: client-verify and its bundle of authorities.
 *
 * A bundle is loaded once and shared by all hosts that name it. A bundle that cannot be read is a fault of the
 * configuration: nothing is ever served with its checks left out.
 */
#ifndef HALTER_TLS_TLS_VERIFY_H
#define HALTER_TLS_TLS_VERIFY_H

#include <openssl/ssl.h>

#include "base/error.h"
#include "conf/config.h"

struct tls_authorities {
    char *path;
    X509_STORE *store;
    STACK_OF(X509_NAME) * names; /* told to clients in the CertificateRequest: RFC 8446, section 4.2.4 */
    unsigned char digest[32];    /* SHA-256 of the file, so that sessions do not outlive a change of it */
};

struct tls_authority_list {
    struct tls_authorities **items;
    size_t count;
};

/* Whom one host asks for a certificate. */
struct tls_verify {
    enum client_verify mode;
    const struct tls_authorities *authorities; /* NULL when mode is none */
};

/* The bundle of path, loaded now or before; NULL with a fault. */
const struct tls_authorities *tls_authorities_find(struct tls_authority_list *list, const char *path,
                                                   const struct place *place, struct error *errors)
    __attribute__((warn_unused_result));
void tls_authority_list_clear(struct tls_authority_list *list);

/* Applies it to a context. 0, or -1 with the reason in the library's queue. */
int tls_verify_set(SSL_CTX *ctx, const struct tls_verify *verify) __attribute__((warn_unused_result));

/* Whether a connection whose handshake is complete, resumed or not, satisfies the policy of its host. Fails closed. */
bool tls_verify_is_satisfied(const SSL *ssl);

#endif
