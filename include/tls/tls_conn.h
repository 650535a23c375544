/*
 * tls_conn.h: one TLS connection as bytes in and bytes out.
 *
 * For: handshake, records, alerts. Not for: sockets, waiting, buffering: the caller moves the ciphertext.
 *
 *     tls_wire_feed(wire, received, length);
 *     enum io result = tls_conn_handshake(conn);             (or tls_conn_decrypt)
 *     const uint8_t *bytes = tls_wire_take(wire, &length);   send them, whatever the result was
 *
 * Invariant: a call to decrypt consumes all that was fed, so that no ciphertext is kept anywhere but for a partial
 * record inside the library.
 */
#ifndef HALTER_TLS_TLS_CONN_H
#define HALTER_TLS_TLS_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/io.h"
#include "tls/tls_lib.h"
#include "tls/tls_server.h"

struct tls_conn;
struct tls_wire;

enum {
    TLS_RECORD_MAX = 16 * 1024,                    /* plaintext of one record: RFC 8446, section 5.1 */
    TLS_PLAIN_MAX = 256 * 1024,                    /* most plaintext that one tls_conn_encrypt() takes */
    TLS_WIRE_OUT_SIZE = TLS_PLAIN_MAX + 128 * 1024 /* room for its records, and for a handshake flight */
};

/* What a worker's connections share. NULL when memory is exhausted. */
struct tls_wire *tls_wire_new(void) __attribute__((warn_unused_result));
void tls_wire_free(struct tls_wire *wire);

/* Makes bytes (borrowed until consumed or dropped) the ciphertext to be read. Nothing may be left from before. */
void tls_wire_feed(struct tls_wire *wire, const uint8_t *bytes, size_t length);
size_t tls_wire_left(const struct tls_wire *wire);
void tls_wire_drop(struct tls_wire *wire);

/* The ciphertext to be sent; valid until the next call into tls/. The wire is empty afterwards. */
const uint8_t *tls_wire_take(struct tls_wire *wire, size_t *length);

/* The server's side of a new connection to site; NULL when memory is exhausted. */
struct tls_conn *tls_conn_new(const struct tls_site *site, struct tls_wire *wire) __attribute__((warn_unused_result));
void tls_conn_free(struct tls_conn *conn);

/* IO_OK: complete, and ciphertext may be left on the wire, which belongs to tls_conn_decrypt(). IO_WANT_READ: more of
 * the client's bytes are needed. IO_FAILED: see tls_conn_reason(); an alert may be on the wire. */
enum io tls_conn_handshake(struct tls_conn *conn) __attribute__((warn_unused_result));

/*
 * Decrypts all that is on the wire; size must be at least what is on it plus TLS_RECORD_MAX. IO_OK with *length > 0:
 * plaintext, and there may be a word of the end behind it, which the next call gives. IO_WANT_READ: no plaintext came
 * of it. IO_EOF: close_notify. IO_FAILED: see tls_conn_reason().
 */
enum io tls_conn_decrypt(struct tls_conn *conn, uint8_t *buffer, size_t size, size_t *length)
    __attribute__((warn_unused_result));

/* True when the reading side has ended and the next tls_conn_decrypt() says how, without needing anything more. */
bool tls_conn_has_ended(const struct tls_conn *conn);

/* True when it ended by an error of TLS, not by close_notify; tls_conn_reason() says which. */
bool tls_conn_has_failed(const struct tls_conn *conn);

/* Puts bytes on the wire as records; length at most TLS_PLAIN_MAX. IO_OK or IO_FAILED. */
enum io tls_conn_encrypt(struct tls_conn *conn, const uint8_t *bytes, size_t length)
    __attribute__((warn_unused_result));

/* Puts close_notify on the wire: RFC 8446, section 6.1. */
void tls_conn_close_notify(struct tls_conn *conn);

/* Why the last call failed; never NULL. Lives as long as conn. */
const char *tls_conn_reason(const struct tls_conn *conn);

/* What was negotiated; pointers live as long as conn, texts are never NULL. Valid after the handshake. */
struct tls_facts {
    const char *version; /* "TLSv1.3" */
    const char *cipher;  /* "TLS_AES_128_GCM_SHA256" */
    const char *group;   /* "X25519MLKEM768"; "" when the key exchange had none */
    const char *sni;     /* as the client sent it; NULL when it sent none */
    const unsigned char *alpn;
    size_t alpn_length;
    bool resumed;
    bool client_cert;       /* the client has shown one, on this connection or the one that it resumes */
    uint32_t verify_result; /* X509_V_*; 0 is good */
};
void tls_conn_facts(const struct tls_conn *conn, struct tls_facts *facts);

bool tls_conn_is_resumed(const struct tls_conn *conn);

/* The certificate that the client has shown, as texts; all NULL when it has shown none, or memory is exhausted. */
struct tls_client_cert {
    char *pem;         /* with line ends */
    char *subject;     /* RFC 2253 */
    char *serial;      /* hexadecimal, upper case */
    char *fingerprint; /* SHA-256, hexadecimal, lower case */
};
void tls_conn_client_cert(const struct tls_conn *conn, struct tls_client_cert *cert);
void tls_client_cert_clear(struct tls_client_cert *cert);

/* The client's SNI as far as known at this moment, also in a handshake that has failed; NULL. */
const char *tls_conn_sni(const struct tls_conn *conn);

#endif
