/*
 * tls_key.h: the one place where private keys are read.
 *
 * A key-signing process will take the place of this file; nothing else in halter touches a key's bytes.
 */
#ifndef HALTER_TLS_TLS_KEY_H
#define HALTER_TLS_TLS_KEY_H

#include <openssl/evp.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The first private key in a PEM text. name is the file's, for faults. NULL and a fault when there is none, or it is
 * encrypted. The caller frees it with EVP_PKEY_free(), and clears the text.
 */
EVP_PKEY *tls_key_read(const char *name, const char *pem, size_t length, struct error *errors)
    __attribute__((warn_unused_result));

#endif
