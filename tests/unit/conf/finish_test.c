#include "conf_test.h"

/* config_finish(): defaults, inheritance, checks across keywords. */

static int finish(struct fixture *f, const char *text)
{
    fixture_reset(f);
    int result = parse(f, text);

    return config_finish(&f->config, &f->error) + result;
}

static void expect_finish_error(struct fixture *f, const char *text, const char *part)
{
    if (finish(f, text) == 0)
        fail_msg("accepted: %s", text);
    expect_fault(f, FAULT_ERROR, part);
}

static void expect_finish_clean(struct fixture *f, const char *text)
{
    if (finish(f, text) != 0 || f->error.count > 0) {
        show_faults(f);
        fail_msg("not clean: %s", text);
    }
}

static void default_frontend(void **state)
{
    struct fixture *f = *state;

    expect_finish_clean(f, "pem-file = \"x\"");
    assert_int_equal(f->config.frontend_count, 1);
    assert_null(f->config.frontends[0].host);
    assert_string_equal(f->config.frontends[0].port, "8443");
    assert_true(f->config.frontends[0].match_global_certs);
    expect_finish_clean(f, "pem-file = \"x\" frontend = \"[h]:1\"");
    assert_int_equal(f->config.frontend_count, 1);
    assert_string_equal(f->config.frontends[0].port, "1");
}

static void frontends_inherit(void **state)
{
    struct fixture *f = *state;
    struct conf_frontend *a, *b;

    expect_finish_clean(f, "frontend = { port = \"1\" ciphers = \"A\" prefer-server-ciphers = off }\n"
                           "frontend = { port = \"2\" sni-nomatch-abort = off tls-protos = TLSv1.3 }\n"
                           "pem-file = \"x\" ciphers = \"G\" ciphersuites = \"S\" sni-nomatch-abort = on\n"
                           "tls-protos = TLSv1.2 ecdh-curve = \"P-256\"\n");
    a = &f->config.frontends[0];
    b = &f->config.frontends[1];
    assert_string_equal(a->tls.ciphers, "A");
    assert_string_equal(b->tls.ciphers, "G");
    assert_string_equal(a->tls.ciphersuites, "S");
    assert_string_equal(b->tls.ecdh_curve, "P-256");
    assert_true(a->tls.sni_nomatch_abort && !b->tls.sni_nomatch_abort);
    assert_true(!a->tls.prefer_server_ciphers && b->tls.prefer_server_ciphers);
    assert_int_equal(a->tls.versions, TLS_VERSION_1_2);
    assert_int_equal(b->tls.versions, TLS_VERSION_1_3);
}

static void match_global_certs(void **state)
{
    struct fixture *f = *state;

    expect_finish_clean(f,
                        "pem-file = \"g\" frontend = { port = \"1\" } frontend = { port = \"2\" pem-file = \"o\" }\n"
                        "frontend = { port = \"3\" pem-file = \"o\" match-global-certs = on } frontend = \"[h]:4+o\"");
    assert_true(f->config.frontends[0].match_global_certs);
    assert_false(f->config.frontends[1].match_global_certs);
    assert_true(f->config.frontends[2].match_global_certs);
    assert_false(f->config.frontends[3].match_global_certs);
    expect_finish_error(f, "pem-file = \"g\" frontend = { port = \"1\" match-global-certs = off }",
                        "t.conf:1:16: No certificate configured for frontend '[*]:1'");
}

static void every_frontend_needs_a_certificate(void **state)
{
    struct fixture *f = *state;

    expect_finish_error(f, "", "No x509 certificate PEM file specified for frontend '[*]:8443'!");
    expect_finish_error(f, "frontend = \"[h]:1+c\"\nfrontend = \"[h]:2\"",
                        "t.conf:2:12: No x509 certificate PEM file specified for frontend '[h]:2'!");
    expect_finish_clean(f, "frontend = \"[h]:1+c\" frontend = { port = \"2\" pem-file = \"d\" }");
    expect_finish_clean(f, "pem-dir = \"/p\"");
    expect_finish_clean(f, "pem-file = \"p\"");
    /* a certificate that is missing because its record is in error is not told twice */
    assert_int_not_equal(finish(f, "pem-file = { }"), 0);
    assert_int_equal(f->error.count, 1);
}

static void certificates_in_memory(void **state)
{
    struct fixture *f = *state;
    struct conf_pem *pem = config_pem_add(&f->config, NULL, NULL);

    pem->inline_pem = mem_strdup("-----BEGIN");
    finish_ok(f);
    assert_int_equal(f->config.pem_count, 1);
}

static void duplicates(void **state)
{
    struct fixture *f = *state;

    expect_finish_error(f, "pem-file = \"x\" frontend = \"[*]:443\"\nfrontend = { host = \"*\" port = \"443\" }",
                        "t.conf:2:1: Redundant frontend (matching IP and port) definition: '[*]:443'; the first one "
                        "stands there: (t.conf:1)");
    expect_finish_error(f, "pem-file = \"x\" frontend = \"[::1]:443\" frontend = \"[::1]:443\"", "Redundant frontend");
    expect_finish_clean(f, "pem-file = \"x\" frontend = \"[*]:443\" frontend = \"[*]:444\" frontend = \"[::1]:443\"");
}

static void announces_exclude_each_other(void **state)
{
    static const char *const words[] = {"write-ip", "write-proxy-v1", "write-proxy-v2"};
    struct fixture *f = *state;
    char text[128];

    for (unsigned i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "pem-file = \"x\" %s = on", words[i]);
        expect_finish_clean(f, text);
        assert_int_equal(f->config.announce, ANNOUNCE_IP + i);
        for (unsigned j = 0; j < i; j++) {
            snprintf(text, sizeof text, "pem-file = \"x\" %s = on %s = on", words[i], words[j]);
            expect_finish_error(f, text, "are mutually exclusive");
        }
    }
    expect_finish_clean(f, "pem-file = \"x\" write-ip = on write-proxy = on write-ip = off");
    assert_int_equal(f->config.announce, ANNOUNCE_PROXY_V2);
    expect_finish_clean(f, "pem-file = \"x\" write-proxy = on write-proxy-v2 = on");
    expect_finish_error(
        f, "pem-file = \"x\"\nwrite-ip = on\nwrite-proxy = on",
        "t.conf:3:15: write-ip (t.conf:2) and write-proxy-v2 (t.conf:3) are mutually exclusive: keep one");
}

static void client_verify_needs_a_ca(void **state)
{
    struct fixture *f = *state;

    expect_finish_error(f, "pem-file = \"x\" client-verify = required", "client-verify needs client-verify-ca");
    expect_finish_error(f, "pem-file = \"x\" frontend = { port = \"1\" client-verify = optional }",
                        "client-verify needs client-verify-ca, in this frontend or at the top level");
    expect_finish_error(f, "pem-file = { cert = \"x\" client-verify = optional }",
                        "client-verify needs client-verify-ca, in this pem-file or further out");
    expect_finish_clean(f, "pem-file = { cert = \"x\" client-verify = none } client-verify = none");
    /* one found further out will do */
    finish(f,
           "client-verify-ca = \"ca\" frontend = { port = \"1\" client-verify = required pem-file = \"x\"\n"
           "pem-file = { cert = \"y\" client-verify = none } pem-file = { cert = \"z\" client-verify = optional } }");
    assert_false(has_fault(f, FAULT_ERROR, "needs"));
    struct conf_frontend *frontend = &f->config.frontends[0];
    assert_int_equal(frontend->tls.client_verify, CLIENT_VERIFY_REQUIRED);
    assert_int_equal(frontend->pems[0].client_verify, CLIENT_VERIFY_REQUIRED);
    assert_false(frontend->pems[0].client_verify_is_own);
    assert_string_equal(frontend->pems[0].client_verify_ca, "ca");
    assert_int_equal(frontend->pems[1].client_verify, CLIENT_VERIFY_NONE);
    assert_true(frontend->pems[1].client_verify_is_own);
    assert_int_equal(frontend->pems[2].client_verify, CLIENT_VERIFY_OPTIONAL);
}

/* Delete lines here as capabilities arrive. */
static void not_supported_yet(void **state)
{
    static const struct {
        const char *text, *keyword;
    } refused[] = {
        {"proxy-proxy = on", "proxy-proxy"},
        {"pem-file = { cert = \"y\" ocsp-resp-file = \"o\" }", "ocsp-resp-file"},
        {"ocsp-verify-staple = on", "ocsp-verify-staple"},
        {"frontend = { port = \"1\" pem-file = { cert = \"y\" ocsp-verify-staple = on } }", "ocsp-verify-staple"},
        {"session-cache = 1", "session-cache"},
        {"shared-cache-listen = \"[h]:1\"", "shared-cache-listen"},
        {"shared-cache-peer = \"[h]:1\"", "shared-cache-peer"},
        {"shared-cache-if = \"eth0\"", "shared-cache-if"},
        {"client = on", "client"},
    };
    static const char *const ignored[] = {"backend-refresh = 5", "tcp-fastopen = on", "ocsp-dir = \"/x\"",
                                          "ocsp-resp-tmo = 11"};
    struct fixture *f = *state;
    char text[256];

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        snprintf(text, sizeof text, "%s pem-file = \"x\"", refused[i].text);
        char part[64];
        snprintf(part, sizeof part, ": %s is not supported yet", refused[i].keyword);
        expect_finish_error(f, text, part);
        assert_int_equal(strncmp(f->error.faults[0].text, "t.conf:1:", 9), 0);
    }
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        snprintf(text, sizeof text, "%s pem-file = \"x\"", ignored[i]);
        assert_int_equal(finish(f, text), 0);
        assert_int_equal(f->error.count, 1);
        expect_fault(f, FAULT_WARNING, "is not supported yet and is ignored");
    }
    expect_finish_error(f, "pem-file = \"x\" ssl-engine = \"auto\"",
                        "ssl-engine is not supported: OpenSSL 4 has no engines; remove it");
}

/* Saying what is the default anyway hurts nobody. */
static void defaults_are_always_supported(void **state)
{
    struct fixture *f = *state;

    expect_finish_clean(
        f, "pem-file = \"x\" client-verify = none proxy-proxy = off proxy-client-cert = off ssl-engine = \"\"\n"
           "ocsp-verify-staple = off session-cache = 0 client = off backend-refresh = 0 tcp-fastopen = off\n"
           "ocsp-dir = \"\" ocsp-resp-tmo = 10 ocsp-connect-tmo = 4 ocsp-refresh-interval = 1800\n"
           "shared-cache-listen = \"\" pem-file = { cert = \"x\" ocsp-resp-file = \"\" client-verify = none }");
}

static void timeouts_make_sense(void **state)
{
    struct fixture *f = *state;

    expect_finish_clean(f, "pem-file = \"x\" ssl-handshake-timeout = 120 close-timeout = 0");
    assert_int_equal(f->config.first_data_timeout_s, 150);
    assert_int_equal(f->config.close_timeout_s, 1);
    expect_finish_clean(f, "pem-file = \"x\" ssl-handshake-timeout = 120 first-data-timeout = 0");
    assert_int_equal(f->config.first_data_timeout_s, 0);
    assert_int_equal(finish(f, "pem-file = \"x\"\nfirst-data-timeout = 10"), 0);
    expect_fault(f, FAULT_WARNING,
                 "t.conf:2:22: first-data-timeout (10) ends a connection before ssl-handshake-timeout (30) can");
}

/* Faults of the text do not hide the faults of the whole. */
static void finds_more_after_faults(void **state)
{
    struct fixture *f = *state;

    assert_int_not_equal(finish(f, "wrokers = 1\nproxy-proxy = on\nfrontend = \"[*]:1\" frontend = \"[*]:1\""), 0);
    assert_int_equal(f->error.count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(default_frontend),
        TEST(frontends_inherit),
        TEST(match_global_certs),
        TEST(every_frontend_needs_a_certificate),
        TEST(certificates_in_memory),
        TEST(duplicates),
        TEST(announces_exclude_each_other),
        TEST(client_verify_needs_a_ca),
        TEST(not_supported_yet),
        TEST(defaults_are_always_supported),
        TEST(timeouts_make_sense),
        TEST(finds_more_after_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
