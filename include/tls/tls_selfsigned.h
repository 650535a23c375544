/*
 * tls_selfsigned.h: a throw-away certificate in memory, for `halter demo` and for tests.
 */
#ifndef HALTER_TLS_TLS_SELFSIGNED_H
#define HALTER_TLS_TLS_SELFSIGNED_H

#include <stddef.h>

#include "base/error.h"

/*
 * Makes an ECDSA P-256 key and a self-signed certificate for names (DNS names or numeric addresses), valid from an hour
 * ago for thirty days. *pem is their PEM text, the caller's to free; fingerprint is the certificate's SHA-256 as
 * "AB:CD:..." (96 bytes hold it). 0, or -1 with a fault.
 */
int tls_selfsigned_make(char **pem, char fingerprint[96], const char *const names[], size_t count, struct error *errors)
    __attribute__((warn_unused_result));

#endif
