/* tls_server and tls_conn against a client in memory. */
#include "tls/tls_conn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/err.h>

#include "tls_pair.h"

static const char *const default_names[] = {"default.example.org"};
static const char *const www_names[] = {"www.example.com", "example.com"};
static const char *const wild_names[] = {"wild.example.net", "*.example.net"};

static struct test_site site;
static struct tls_pair pair;

static int set_up(void **state)
{
    (void)state;
    test_site_init(&site);
    test_site_add_global(&site, www_names, 2);
    test_site_add_global(&site, wild_names, 2);
    test_site_add_global(&site, default_names, 1); /* the last one is the default */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_site_clear(&site);
    return 0;
}

static void start(void)
{
    if (site.server == NULL)
        test_site_start(&site, NULL);
    pair_init(&pair, tls_server_site(site.server, 0));
}

static void assert_served(const char *sni, const char *expected)
{
    start();
    if (sni != NULL)
        SSL_set_tlsext_host_name(pair.client, sni);
    assert_true(pair_handshake(&pair));
    char *served = pair_served_name(&pair);
    assert_string_equal(expected, served);
    free(served);
    pair_clear(&pair);
}

static void test_names_choose_certificates(void **state)
{
    (void)state;
    assert_served(NULL, "default.example.org");
    assert_served("www.example.com", "www.example.com");
    assert_served("example.com", "www.example.com");
    assert_served("WWW.Example.COM", "www.example.com");
    assert_served("www.example.com.", "www.example.com");
    assert_served("a.example.net", "wild.example.net");
    assert_served("wild.example.net", "wild.example.net");
    assert_served("a.b.example.net", "default.example.org");
    assert_served("example.net", "default.example.org");
    assert_served("unknown.test", "default.example.org");
    assert_served("*.example.net", "default.example.org"); /* a pattern is no name to ask for */
}

static void test_unknown_name_is_refused_when_asked_to(void **state)
{
    (void)state;
    site.config.frontends[0].tls.sni_nomatch_abort = true;
    assert_served("www.example.com", "www.example.com");
    assert_served(NULL, "default.example.org");
    start();
    SSL_set_tlsext_host_name(pair.client, "unknown.test");
    assert_false(pair_handshake(&pair));
    assert_int_equal(SSL_AD_UNRECOGNIZED_NAME, pair.client_alert);
    assert_true(tls_conn_has_failed(pair.server));
    assert_string_equal("unknown.test", tls_conn_sni(pair.server)); /* for the log */
    assert_string_equal("no certificate for this name", tls_conn_reason(pair.server));
    pair_clear(&pair);
}

static void test_own_certificates_come_before_global_ones(void **state)
{
    (void)state;
    static const char *const own[] = {"own.test", "www.example.com"};

    test_site_add_own(&site, own, 2);
    assert_served("www.example.com", "own.test");
    assert_served(NULL, "own.test");
    assert_served("x.example.net", "wild.example.net");
}

static void test_global_certificates_can_be_left_out(void **state)
{
    (void)state;
    static const char *const own[] = {"own.test"};

    test_site_add_own(&site, own, 1);
    site.config.frontends[0].match_global_certs = false;
    assert_served("www.example.com", "own.test");
}

static void exchange(int version, size_t step_bytes)
{
    start();
    pair.step_bytes = step_bytes;
    SSL_set_min_proto_version(pair.client, version);
    SSL_set_max_proto_version(pair.client, version);
    assert_true(pair_handshake(&pair));
    assert_int_equal(5, SSL_write(pair.client, "hello", 5));
    pair_move(&pair);
    assert_int_equal(5, pair.received_length);
    assert_memory_equal("hello", pair.received, 5);
    pair_reply(&pair, "and back");

    struct tls_facts facts;
    tls_conn_facts(pair.server, &facts);
    assert_string_equal(SSL_get_version(pair.client), facts.version);
    assert_string_equal(SSL_get_cipher_name(pair.client), facts.cipher);
    assert_null(facts.sni);
    assert_false(facts.resumed);
    pair_clear(&pair);
}

static void test_exchange_whole_and_in_pieces(void **state)
{
    (void)state;
    static const size_t steps[] = {0, 1, 2, 5, 17, 100};

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        exchange(TLS1_2_VERSION, steps[i]);
        exchange(TLS1_3_VERSION, steps[i]);
    }
}

static void test_first_request_with_the_finished_message(void **state)
{
    (void)state;
    start();
    assert_int_not_equal(1, SSL_do_handshake(pair.client)); /* ClientHello */
    pair_move(&pair);
    assert_int_equal(1, SSL_do_handshake(pair.client)); /* Finished, not yet moved */
    assert_int_equal(3, SSL_write(pair.client, "GET", 3));
    pair_move(&pair);
    assert_int_equal(IO_OK, pair.handshake);
    assert_memory_equal("GET", pair.received, 3);
    pair_clear(&pair);
}

static void test_half_closes(void **state)
{
    (void)state;
    start();
    assert_true(pair_handshake(&pair));
    /* the client ends, and what follows is ignored; the server still writes */
    SSL_write(pair.client, "last", 4);
    SSL_shutdown(pair.client);
    pair_move(&pair);
    assert_int_equal(4, pair.received_length);
    assert_int_equal(IO_EOF, pair.read_result);
    assert_true(tls_conn_has_ended(pair.server));
    assert_false(tls_conn_has_failed(pair.server));
    pair_reply(&pair, "reply after their end");
    pair_clear(&pair);

    /* the server ends; the client still writes */
    start();
    assert_true(pair_handshake(&pair));
    tls_conn_close_notify(pair.server);
    size_t length;
    const uint8_t *bytes = tls_wire_take(pair.wire, &length);
    assert_true(length > 0);
    BIO_write(pair.to_client, bytes, (int)length);
    char buffer[16];
    assert_int_equal(0, SSL_read(pair.client, buffer, sizeof buffer));
    assert_int_equal(SSL_RECEIVED_SHUTDOWN, SSL_get_shutdown(pair.client));
    assert_int_equal(6, SSL_write(pair.client, "upload", 6));
    pair_move(&pair);
    assert_int_equal(6, pair.received_length);
    pair_clear(&pair);
}

static void test_garbage_is_refused(void **state)
{
    (void)state;
    static const char *const garbage[] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01\xff\xff\x01 nonsense",
                                          "\x80\x2e\x01\x00\x02\x00\x15", "\x15\x03\x03\x00\x02\x02\x28"};

    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        start();
        size_t length = i == 2 ? 7 : strlen(garbage[i]);
        tls_wire_feed(pair.wire, (const uint8_t *)garbage[i], length);
        enum io io = tls_conn_handshake(pair.server);
        if (io == IO_WANT_READ)
            tls_wire_drop(pair.wire);
        else
            assert_int_equal(IO_FAILED, io);
        if (i == 0)
            assert_string_equal("http request", tls_conn_reason(pair.server));
        pair_clear(&pair);
    }
}

static void test_broken_record_fails(void **state)
{
    (void)state;
    start();
    assert_true(pair_handshake(&pair));
    static const uint8_t record[] = {0x17, 3,  3,  0,  32, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                     15,   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
    uint8_t plain[TLS_RECORD_MAX + sizeof record];
    size_t length;
    tls_wire_feed(pair.wire, record, sizeof record);
    assert_int_equal(IO_FAILED, tls_conn_decrypt(pair.server, plain, sizeof plain, &length));
    assert_true(tls_conn_has_failed(pair.server));
    assert_int_equal(0, tls_wire_left(pair.wire));
    (void)tls_wire_take(pair.wire, &length);
    assert_true(length > 0); /* an alert */
    assert_int_equal(IO_FAILED, tls_conn_encrypt(pair.server, plain, 1));
    pair_clear(&pair);
}

/* --- sessions --- */

static SSL_SESSION *saved_session;
static int session_count;

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    (void)ssl;
    SSL_SESSION_free(saved_session);
    saved_session = session;
    session_count++;
    return 1;
}

static void get_session(int version, const char *sni)
{
    SSL_SESSION_free(saved_session);
    saved_session = NULL;
    session_count = 0;
    start();
    SSL_CTX_sess_set_new_cb(pair.ctx, on_session);
    SSL_set_min_proto_version(pair.client, version);
    SSL_set_max_proto_version(pair.client, version);
    SSL_set_tlsext_host_name(pair.client, sni);
    assert_true(pair_handshake(&pair));
    pair_reply(&pair, "x");
    SSL_shutdown(pair.client);
    pair_clear(&pair);
    assert_int_equal(1, session_count); /* one ticket, not two */
    assert_non_null(saved_session);
}

static bool resumes(int version, const struct tls_site *where, const char *sni)
{
    struct tls_facts facts;

    pair_init(&pair, where);
    SSL_set_max_proto_version(pair.client, version);    /* a session of TLS 1.2 is of no use to TLS 1.3 */
    SSL_SESSION *copy = SSL_SESSION_dup(saved_session); /* the library uses one of TLS 1.3 only once */
    SSL_set_session(pair.client, copy);
    SSL_SESSION_free(copy);
    SSL_set_tlsext_host_name(pair.client, sni);
    assert_true(pair_handshake(&pair));
    bool resumed = SSL_session_reused(pair.client) == 1;
    assert_int_equal(resumed, tls_conn_is_resumed(pair.server));
    tls_conn_facts(pair.server, &facts);
    assert_string_equal(sni, facts.sni); /* known in resumed connections too */
    SSL_shutdown(pair.client);           /* else the library forgets the session */
    pair_clear(&pair);
    return resumed;
}

static void sessions(int version)
{
    struct test_site other;

    get_session(version, "www.example.com");
    assert_true(resumes(version, tls_server_site(site.server, 0), "www.example.com"));

    /* another worker or generation with the same keys and certificates */
    struct tls_server *again;
    struct error errors = ERROR_INIT;
    again = tls_server_new(&site.config, &site.keys, &errors);
    assert_non_null(again);
    assert_true(resumes(version, tls_server_site(again, 0), "www.example.com"));
    tls_server_free(again);
    error_clear(&errors);

    /* never with another host of the same server, nor where the keys are others */
    assert_false(resumes(version, tls_server_site(site.server, 0), "a.example.net"));
    assert_false(resumes(version, tls_server_site(site.server, 0), "unknown.test"));
    test_site_init(&other);
    test_site_add_global(&other, www_names, 2);
    test_site_start(&other, NULL);
    assert_false(resumes(version, tls_server_site(other.server, 0), "www.example.com"));
    test_site_clear(&other);

    /* nor where the same keys serve another certificate of the same name */
    test_site_init(&other);
    test_site_add_global(&other, www_names, 2);
    test_site_start(&other, &site.keys);
    assert_false(resumes(version, tls_server_site(other.server, 0), "www.example.com"));
    test_site_clear(&other);
    SSL_SESSION_free(saved_session);
    saved_session = NULL;
}

static void test_sessions_tls12(void **state)
{
    (void)state;
    sessions(TLS1_2_VERSION);
}

static void test_sessions_tls13(void **state)
{
    (void)state;
    sessions(TLS1_3_VERSION);
}

/* --- protocols, groups, updates --- */

static void test_alpn(void **state)
{
    (void)state;
    site.config.alpn_protos = strdup("h2,http/1.1");
    start();
    SSL_set_alpn_protos(pair.client, (const unsigned char *)"\x08http/1.1\x02h2", 12);
    assert_true(pair_handshake(&pair));
    struct tls_facts facts;
    tls_conn_facts(pair.server, &facts);
    assert_int_equal(2, facts.alpn_length);
    assert_memory_equal("h2", facts.alpn, 2); /* our order counts */
    pair_clear(&pair);

    start();
    SSL_set_alpn_protos(pair.client,
                        (const unsigned char *)"\x04"
                                               "spdy",
                        5);
    assert_false(pair_handshake(&pair));
    assert_int_equal(SSL_AD_NO_APPLICATION_PROTOCOL, pair.client_alert);
    pair_clear(&pair);

    start();
    assert_true(pair_handshake(&pair)); /* without ALPN all goes on */
    pair_clear(&pair);
}

static void test_groups(void **state)
{
    (void)state;
    static const char *const groups[] = {"X25519", "P-256", "P-384"};
    struct tls_facts facts;

    for (size_t i = 0; i < 3; i++) {
        start();
        SSL_set1_groups_list(pair.client, groups[i]);
        assert_true(pair_handshake(&pair));
        tls_conn_facts(pair.server, &facts);
        assert_true(strlen(facts.group) > 0);
        pair_clear(&pair);
    }
    start();
    if (SSL_set1_groups_list(pair.client, "X25519MLKEM768:X25519") == 1) {
        assert_true(pair_handshake(&pair));
        tls_conn_facts(pair.server, &facts);
        assert_string_equal("X25519MLKEM768", facts.group);
    }
    ERR_clear_error();
    pair_clear(&pair);
    start();
    SSL_set1_groups_list(pair.client, "P-521");
    assert_false(pair_handshake(&pair));
    pair_clear(&pair);
}

static void test_chacha_for_clients_that_prefer_it(void **state)
{
    (void)state;
    struct tls_facts facts;

    start();
    SSL_set_ciphersuites(pair.client, "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256");
    assert_true(pair_handshake(&pair));
    tls_conn_facts(pair.server, &facts);
    assert_string_equal("TLS_CHACHA20_POLY1305_SHA256", facts.cipher);
    pair_clear(&pair);
    start();
    SSL_set_ciphersuites(pair.client, "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256");
    assert_true(pair_handshake(&pair));
    tls_conn_facts(pair.server, &facts);
    assert_string_equal("TLS_AES_128_GCM_SHA256", facts.cipher);
    pair_clear(&pair);
}

static void test_key_updates_within_reason(void **state)
{
    (void)state;
    start();
    SSL_set_min_proto_version(pair.client, TLS1_3_VERSION);
    assert_true(pair_handshake(&pair));
    unsigned updates = 0;
    while (updates < 1000 && pair.read_result != IO_FAILED) {
        SSL_key_update(pair.client, SSL_KEY_UPDATE_REQUESTED);
        SSL_write(pair.client, "x", 1);
        pair_move(&pair);
        char buffer[16];
        (void)SSL_read(pair.client, buffer, sizeof buffer);
        updates++;
    }
    assert_true(updates > 8);   /* a client may do it now and then */
    assert_true(updates < 100); /* and not all the time */
    assert_string_equal("too many key updates", tls_conn_reason(pair.server));
    pair_clear(&pair);
}

static void test_no_renegotiation(void **state)
{
    (void)state;
    start();
    SSL_set_max_proto_version(pair.client, TLS1_2_VERSION);
    assert_true(pair_handshake(&pair));
    if (SSL_renegotiate(pair.client) == 1) {
        (void)SSL_do_handshake(pair.client);
        pair_move(&pair);
        (void)SSL_do_handshake(pair.client);
        assert_int_not_equal(1, SSL_num_renegotiations(pair.client) > 0 && pair.client_alert == -1);
    }
    ERR_clear_error();
    pair_clear(&pair);
}

static void test_old_versions_only_when_asked_for(void **state)
{
    (void)state;
    start();
    SSL_set_security_level(pair.client, 0);
    SSL_set_min_proto_version(pair.client, TLS1_VERSION);
    SSL_set_max_proto_version(pair.client, TLS1_1_VERSION);
    SSL_set_cipher_list(pair.client, "ALL:@SECLEVEL=0");
    assert_false(pair_handshake(&pair));
    assert_int_equal(SSL_AD_PROTOCOL_VERSION, pair.client_alert);
    pair_clear(&pair);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    tls_lib_init();
    const struct CMUnitTest tests[] = {
        TEST(test_names_choose_certificates),
        TEST(test_unknown_name_is_refused_when_asked_to),
        TEST(test_own_certificates_come_before_global_ones),
        TEST(test_global_certificates_can_be_left_out),
        TEST(test_exchange_whole_and_in_pieces),
        TEST(test_first_request_with_the_finished_message),
        TEST(test_half_closes),
        TEST(test_garbage_is_refused),
        TEST(test_broken_record_fails),
        TEST(test_sessions_tls12),
        TEST(test_sessions_tls13),
        TEST(test_alpn),
        TEST(test_groups),
        TEST(test_chacha_for_clients_that_prefer_it),
        TEST(test_key_updates_within_reason),
        TEST(test_no_renegotiation),
        TEST(test_old_versions_only_when_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
