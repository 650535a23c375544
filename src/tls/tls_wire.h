/*
 * tls_wire.h: the BIO through which every SSL of a worker sees its ciphertext.
 *
 * One worker handles one connection at a time, so one wire and one BIO serve all of them: before a call into the
 * library the caller points `in` at the ciphertext just received; what the library wants to send collects in `out`.
 * Between two connections both are empty.
 */
#ifndef HALTER_TLS_TLS_WIRE_H
#define HALTER_TLS_TLS_WIRE_H

#include <openssl/bio.h>

#include "tls/tls_conn.h"

struct tls_wire {
    const uint8_t *in; /* borrowed; the next byte to be consumed */
    size_t in_left;
    uint8_t *out; /* owned */
    size_t out_length;
    size_t out_capacity;
    BIO *bio;
    BIO_METHOD *method;
};

#endif
