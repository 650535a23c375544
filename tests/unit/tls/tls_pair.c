#include "tls_pair.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "tls/tls_selfsigned.h"

static struct conf_pem *add_pem(struct conf_pem **pems, size_t *count, const char *const names[], size_t name_count)
{
    struct error errors = ERROR_INIT;
    char fingerprint[96];
    char *text;

    CHECK(tls_selfsigned_make(&text, fingerprint, names, name_count, &errors) == 0);
    *pems = mem_resize(*pems, *count + 1, sizeof **pems);
    struct conf_pem *pem = &(*pems)[(*count)++];
    memset(pem, 0, sizeof *pem);
    pem->inline_pem = text;
    return pem;
}

void test_site_init(struct test_site *site)
{
    memset(site, 0, sizeof *site);
    config_init(&site->config);
    site->config.frontends = mem_new(1, sizeof *site->config.frontends);
    site->config.frontend_count = 1;
    struct conf_frontend *frontend = &site->config.frontends[0];
    frontend->port = mem_strdup("0");
    frontend->match_global_certs = true;
    frontend->tls.versions = TLS_VERSION_1_2 | TLS_VERSION_1_3;
    frontend->tls.ciphers = mem_strdup("ECDHE+AESGCM:ECDHE+CHACHA20");
    frontend->tls.prefer_server_ciphers = true;
}

void test_site_add_global(struct test_site *site, const char *const names[], size_t count)
{
    (void)add_pem(&site->config.pems, &site->config.pem_count, names, count);
}

void test_site_add_own(struct test_site *site, const char *const names[], size_t count)
{
    struct conf_frontend *frontend = &site->config.frontends[0];

    (void)add_pem(&frontend->pems, &frontend->pem_count, names, count);
}

void test_site_start(struct test_site *site, const struct tls_ticket_keys *keys)
{
    struct error errors = ERROR_INIT;

    if (keys != NULL)
        site->keys = *keys;
    else
        CHECK(tls_ticket_keys_make(&site->keys, &errors) == 0);
    site->server = tls_server_new(&site->config, &site->keys, &errors);
    CHECK(site->server != NULL);
    error_clear(&errors);
}

void test_site_clear(struct test_site *site)
{
    tls_server_free(site->server);
    config_clear(&site->config);
}

static void on_info(const SSL *ssl, int where, int value)
{
    struct tls_pair *pair = SSL_get_app_data(ssl);

    if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT)
        pair->client_alert = value & 0xff;
}

void pair_init(struct tls_pair *pair, const struct tls_site *site)
{
    memset(pair, 0, sizeof *pair);
    pair->client_alert = -1;
    pair->handshake = IO_WANT_READ;
    pair->read_result = IO_WANT_READ;
    pair->wire = tls_wire_new();
    pair->server = tls_conn_new(site, pair->wire);
    CHECK(pair->wire != NULL && pair->server != NULL);
    pair->ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_session_cache_mode(pair->ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    pair->client = SSL_new(pair->ctx);
    pair->to_client = BIO_new(BIO_s_mem());
    pair->from_client = BIO_new(BIO_s_mem());
    SSL_set_bio(pair->client, pair->to_client, pair->from_client);
    SSL_set_connect_state(pair->client);
    SSL_set_app_data(pair->client, pair);
    SSL_set_info_callback(pair->client, on_info);
}

void pair_clear(struct tls_pair *pair)
{
    SSL_free(pair->client);
    SSL_CTX_free(pair->ctx);
    tls_conn_free(pair->server);
    tls_wire_free(pair->wire);
}

static void take_reply(struct tls_pair *pair)
{
    size_t length;
    const uint8_t *bytes = tls_wire_take(pair->wire, &length);

    if (length > 0)
        CHECK(BIO_write(pair->to_client, bytes, (int)length) == (int)length);
}

static void read_all(struct tls_pair *pair)
{
    size_t length;

    for (;;) {
        size_t left = sizeof pair->received - pair->received_length;
        enum io io = tls_conn_decrypt(pair->server, (uint8_t *)pair->received + pair->received_length, left, &length);

        take_reply(pair);
        pair->received_length += length;
        if (io != IO_OK) {
            pair->read_result = io;
            return;
        }
        if (!tls_conn_has_ended(pair->server))
            return;
    }
}

static void feed(struct tls_pair *pair, const uint8_t *bytes, size_t length)
{
    tls_wire_feed(pair->wire, bytes, length);
    if (pair->handshake == IO_WANT_READ) {
        pair->handshake = tls_conn_handshake(pair->server);
        take_reply(pair);
        if (pair->handshake != IO_OK)
            return;
    }
    if (pair->handshake == IO_OK)
        read_all(pair);
    tls_wire_drop(pair->wire);
}

void pair_move(struct tls_pair *pair)
{
    static uint8_t bytes[32768];
    size_t step = pair->step_bytes > 0 ? pair->step_bytes : 16384;
    int length;

    while ((length = BIO_read(pair->from_client, bytes, (int)step)) > 0)
        feed(pair, bytes, (size_t)length);
}

bool pair_handshake(struct tls_pair *pair)
{
    for (int round = 0; round < 10; round++) {
        int result = SSL_do_handshake(pair->client);

        pair_move(pair);
        ERR_clear_error();
        if (result == 1 && pair->handshake == IO_OK)
            return true;
        if (pair->handshake == IO_FAILED)
            (void)SSL_do_handshake(pair->client); /* reads the alert */
    }
    ERR_clear_error();
    return false;
}

void pair_reply(struct tls_pair *pair, const char *text)
{
    char buffer[4096];

    CHECK(tls_conn_encrypt(pair->server, (const uint8_t *)text, strlen(text)) == IO_OK);
    take_reply(pair);
    int length = SSL_read(pair->client, buffer, sizeof buffer);
    CHECK(length == (int)strlen(text) && memcmp(buffer, text, (size_t)length) == 0);
}

char *pair_served_name(const struct tls_pair *pair)
{
    X509 *cert = SSL_get1_peer_certificate(pair->client);
    unsigned char *text = NULL;
    char *copy = NULL;

    if (cert == NULL)
        return NULL;
    const X509_NAME *subject = X509_get_subject_name(cert);
    const X509_NAME_ENTRY *entry = X509_NAME_get_entry((X509_NAME *)(uintptr_t)subject, 0);
    if (ASN1_STRING_to_UTF8(
            &text, (ASN1_STRING *)(uintptr_t)X509_NAME_ENTRY_get_data((X509_NAME_ENTRY *)(uintptr_t)entry)) > 0)
        copy = mem_strdup((const char *)text);
    OPENSSL_free(text);
    X509_free(cert);
    return copy;
}
