/*
 * tls_pair.h: a client of the TLS library and a tls_conn, joined in memory.
 */
#ifndef HALTER_TESTS_UNIT_TLS_TLS_PAIR_H
#define HALTER_TESTS_UNIT_TLS_TLS_PAIR_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "tls/tls_conn.h"

struct tls_pair {
    SSL_CTX *ctx;
    SSL *client;
    BIO *to_client;
    BIO *from_client;
    struct tls_conn *server;
    struct tls_wire *wire;
    size_t step_bytes;    /* how much ciphertext reaches the server at a time; 0: all at once */
    enum io handshake;    /* the server's last result */
    char received[65536]; /* plaintext that reached the server */
    size_t received_length;
    enum io read_result; /* the last result of decrypt that was not data */
    int client_alert;    /* the last alert that the client got, -1: none */
};

/* A config with one frontend and these inline certificates; names NULL-terminated lists for each of count. */
struct test_site {
    struct config config;
    struct tls_ticket_keys keys;
    struct tls_server *server;
};

void test_site_init(struct test_site *site);
void test_site_add_global(struct test_site *site, const char *const names[], size_t count);
void test_site_add_own(struct test_site *site, const char *const names[], size_t count);
/* Builds the server; keys NULL: fresh ones. */
void test_site_start(struct test_site *site, const struct tls_ticket_keys *keys);
void test_site_clear(struct test_site *site);

void pair_init(struct tls_pair *pair, const struct tls_site *site);
void pair_clear(struct tls_pair *pair);

/* Runs both sides until the handshake is done or failed; true when both are through. */
bool pair_handshake(struct tls_pair *pair);

/* Moves what the client has written to the server, and what the server says to the client. */
void pair_move(struct tls_pair *pair);

/* Encrypts on the server and reads all of it on the client. */
void pair_reply(struct tls_pair *pair, const char *text);

/* The common name of the certificate that the client was shown; NULL when none. The caller frees it. */
char *pair_served_name(const struct tls_pair *pair);

#endif
