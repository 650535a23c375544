#include "tls/tls_conn.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "tls_conn_local.h"
#include "tls_site.h"
#include "tls_verify.h"
#include "tls_wire.h"

/*
 * A client may ask for fresh keys as often as this without sending as much plaintext between: RFC 8446 sets no limit,
 * and each request costs us a key derivation and a reply.
 */
enum { KEY_UPDATES_MAX = 32, KEY_UPDATE_CREDIT_BYTES = 1024 * 1024 };

enum { REFUSED_NAME_MAX = 255 }; /* bytes of it that are kept for the log */

struct tls_conn {
    SSL *ssl;
    struct tls_wire *wire;
    enum io verdict; /* IO_EOF or IO_FAILED once the reading side has ended, given by the next decrypt */
    bool established;
    unsigned key_updates;
    size_t since_key_update_bytes;
    char *refused_name; /* the name that the client asked for and was refused for; NULL */
    char reason[TLS_REASON_MAX];
};

/* Called for each handshake message; after the handshake, a client's can only be KeyUpdate (or an error). */
static void on_info(const SSL *ssl, int where, int value)
{
    (void)value;
    if (where == SSL_CB_ACCEPT_LOOP && SSL_get_state(ssl) == TLS_ST_SR_KEY_UPDATE) {
        struct tls_conn *conn = SSL_get_app_data(ssl);
        conn->key_updates++;
    }
}

struct tls_conn *tls_conn_new(const struct tls_site *site, struct tls_wire *wire)
{
    struct tls_conn *conn = calloc(1, sizeof *conn);

    if (conn == NULL)
        return NULL;
    conn->wire = wire;
    conn->verdict = IO_OK;
    conn->ssl = SSL_new(site->base);
    if (conn->ssl == NULL) {
        ERR_clear_error();
        free(conn);
        return NULL;
    }
    BIO_up_ref(wire->bio);
    SSL_set_bio(conn->ssl, wire->bio, wire->bio);
    SSL_set_app_data(conn->ssl, conn);
    SSL_set_accept_state(conn->ssl);
    return conn;
}

void tls_conn_free(struct tls_conn *conn)
{
    if (conn == NULL)
        return;
    SSL_free(conn->ssl);
    free(conn->refused_name);
    free(conn);
}

SSL *tls_conn_ssl(const struct tls_conn *conn)
{
    return conn->ssl;
}

void tls_conn_refuse_name(SSL *ssl, const char *name, size_t length)
{
    struct tls_conn *conn = SSL_get_app_data(ssl);

    free(conn->refused_name);
    conn->refused_name = strndup(name, length < REFUSED_NAME_MAX ? length : REFUSED_NAME_MAX);
}

static enum io fail_because(struct tls_conn *conn, const char *reason)
{
    ERR_clear_error();
    snprintf(conn->reason, sizeof conn->reason, "%s", reason);
    conn->verdict = IO_FAILED;
    tls_wire_drop(conn->wire);
    return IO_FAILED;
}

static enum io fail(struct tls_conn *conn)
{
    char reason[TLS_REASON_MAX];

    tls_lib_reason(reason, sizeof reason);
    return fail_because(conn, conn->refused_name != NULL ? "no certificate for this name" : reason);
}

/* The one place where a result of the library becomes an enum io. */
static enum io outcome(struct tls_conn *conn, int result)
{
    switch (SSL_get_error(conn->ssl, result)) {
    case SSL_ERROR_NONE:
        return IO_OK;
    case SSL_ERROR_WANT_READ:
        return IO_WANT_READ;
    case SSL_ERROR_ZERO_RETURN:
        tls_wire_drop(conn->wire); /* what follows a close_notify is ignored: RFC 8446, section 6.1 */
        conn->verdict = IO_EOF;
        return IO_EOF;
    case SSL_ERROR_WANT_WRITE:
        return fail_because(conn, "handshake flight is too large");
    default:
        return fail(conn);
    }
}

enum io tls_conn_handshake(struct tls_conn *conn)
{
    if (conn->verdict != IO_OK)
        return IO_FAILED;
    ERR_clear_error();
    int result = SSL_do_handshake(conn->ssl);
    if (result == 1) {
        if (!tls_verify_is_satisfied(conn->ssl))
            return fail_because(conn, "the client's certificate does not satisfy client-verify");
        conn->established = true;
        SSL_set_info_callback(conn->ssl, on_info);
        return IO_OK;
    }
    enum io io = outcome(conn, result);
    if (io == IO_EOF)
        return fail_because(conn, "closed by the client");
    if (io == IO_WANT_READ && conn->wire->in_left > 0)
        return fail_because(conn, "handshake stalled with bytes left");
    return io;
}

static bool updates_keys_too_often(struct tls_conn *conn, size_t got)
{
    conn->since_key_update_bytes += got;
    if (conn->since_key_update_bytes >= KEY_UPDATE_CREDIT_BYTES) {
        conn->since_key_update_bytes = 0;
        conn->key_updates = 0;
    }
    return conn->key_updates > KEY_UPDATES_MAX;
}

enum io tls_conn_decrypt(struct tls_conn *conn, uint8_t *buffer, size_t size, size_t *length)
{
    *length = 0;
    if (conn->verdict != IO_OK)
        return conn->verdict;
    CHECK(size >= conn->wire->in_left + TLS_RECORD_MAX);

    while (conn->wire->in_left > 0 || SSL_pending(conn->ssl) > 0) {
        size_t got = 0;

        ERR_clear_error();
        int result = SSL_read_ex(conn->ssl, buffer + *length, size - *length, &got);
        if (updates_keys_too_often(conn, got)) {
            (void)fail_because(conn, "too many key updates");
            break;
        }
        if (result == 1)
            *length += got;
        else if (outcome(conn, result) != IO_OK)
            break;
    }
    if (*length > 0)
        return IO_OK;
    return conn->verdict == IO_OK ? IO_WANT_READ : conn->verdict;
}

bool tls_conn_has_ended(const struct tls_conn *conn)
{
    return conn->verdict != IO_OK;
}

bool tls_conn_has_failed(const struct tls_conn *conn)
{
    return conn->verdict == IO_FAILED;
}

enum io tls_conn_encrypt(struct tls_conn *conn, const uint8_t *bytes, size_t length)
{
    size_t written = 0;

    CHECK(length <= TLS_PLAIN_MAX);
    if (conn->verdict == IO_FAILED)
        return IO_FAILED;
    ERR_clear_error();
    int result = SSL_write_ex(conn->ssl, bytes, length, &written);
    if (result == 1 && written == length)
        return IO_OK;
    (void)fail(conn);
    return IO_FAILED;
}

void tls_conn_close_notify(struct tls_conn *conn)
{
    if (!conn->established || conn->verdict == IO_FAILED)
        return;
    ERR_clear_error();
    (void)SSL_shutdown(conn->ssl);
    ERR_clear_error();
}

const char *tls_conn_reason(const struct tls_conn *conn)
{
    return conn->reason[0] != '\0' ? conn->reason : "no reason given";
}

const char *tls_conn_sni(const struct tls_conn *conn)
{
    return conn->refused_name != NULL ? conn->refused_name : SSL_get_servername(conn->ssl, TLSEXT_NAMETYPE_host_name);
}

bool tls_conn_is_resumed(const struct tls_conn *conn)
{
    return SSL_session_reused(conn->ssl) == 1;
}

static const char *group_name(SSL *ssl)
{
#if OPENSSL_VERSION_NUMBER >= 0x30200000L
    const char *name = SSL_get0_group_name(ssl);
#else
    const char *name = SSL_group_to_name(ssl, (int)SSL_get_negotiated_group(ssl));
#endif
    return name != NULL ? name : "";
}

void tls_conn_facts(const struct tls_conn *conn, struct tls_facts *facts)
{
    unsigned int alpn_length = 0;

    memset(facts, 0, sizeof *facts);
    facts->version = SSL_get_version(conn->ssl);
    facts->cipher = SSL_get_cipher_name(conn->ssl);
    facts->group = group_name(conn->ssl);
    facts->sni = tls_conn_sni(conn);
    SSL_get0_alpn_selected(conn->ssl, &facts->alpn, &alpn_length);
    facts->alpn_length = alpn_length;
    facts->resumed = tls_conn_is_resumed(conn);
    facts->client_cert = SSL_get0_peer_certificate(conn->ssl) != NULL;
    facts->verify_result = (uint32_t)SSL_get_verify_result(conn->ssl);
}
