#include "conf_test.h"

/*
 * Whole files in the style of hitch's and stud's own examples and tests: what starts there starts here, and what they
 * refuse is refused. The capabilities that come later are left out.
 */

static int judge(struct fixture *f, const char *text)
{
    fixture_reset(f);
    int result = parse(f, text);

    return config_finish(&f->config, &f->error) + result == 0 ? 0 : 1;
}

static void good(struct fixture *f, const char *text)
{
    if (judge(f, text) != 0) {
        show_faults(f);
        fail_msg("refused: %s", text);
    }
}

static void bad(struct fixture *f, const char *text)
{
    if (judge(f, text) != 1)
        fail_msg("accepted: %s", text);
}

/* The example at the end of hitch.conf(5). */
static void example_of_the_manual(void **state)
{
    struct fixture *f = *state;

    good(f, "frontend = {\n"
            "    host = \"*\"\n"
            "    port = \"443\"\n"
            "}\n"
            "backend = \"[127.0.0.1]:6086\"    # Varnish listens there for PROXY\n"
            "workers = 4                     # one for each core\n"
            "\n"
            "daemon = on\n"
            "user = \"hitch\"\n"
            "group = \"hitch\"\n"
            "# alpn-protos = \"h2, http/1.1\"\n"
            "write-proxy-v2 = on\n"
            "pem-file = \"/etc/hitch/site.pem\"\n");
    assert_int_equal(f->error.count, 0);
    assert_int_equal(f->config.workers, 4);
    assert_int_equal(f->config.announce, ANNOUNCE_PROXY_V2);
    assert_true(f->config.daemon);
}

/* What stud and each hitch up to 1.4 shipped, with every keyword of its time. */
static const char old_common[] = "ciphers = \"\"\n"
                                 "prefer-server-ciphers = off\n"
                                 "ssl-engine = \"\"\n"
                                 "workers = 1\n"
                                 "backlog = 100\n"
                                 "keepalive = 3600\n"
                                 "chroot = \"\"\n"
                                 "user = \"\"\n"
                                 "group = \"\"\n"
                                 "quiet = off\n"
                                 "syslog = off\n"
                                 "syslog-facility = \"daemon\"\n"
                                 "daemon = off\n"
                                 "write-ip = off\n"
                                 "proxy-proxy = off\n";

static void good_with_common(struct fixture *f, const char *text)
{
    struct strbuf all = STRBUF_INIT;

    strbuf_adds(&all, text);
    strbuf_adds(&all, old_common);
    good(f, all.data);
    assert_int_equal(f->error.count, 0);
    strbuf_clear(&all);
}

static void old_configurations(void **state)
{
    struct fixture *f = *state;

    /* stud */
    good_with_common(f, "#\n# stud(8)\n#\nfrontend = \"[*]:8443\"\nbackend = \"[127.0.0.1]:80\"\n"
                        "pem-file = \"/etc/default.pem\"\n# tls = on\n# ssl = off\nwrite-proxy = off\n");
    /* hitch 1.0 */
    good_with_common(f, "frontend = \"[*]:8443\"\nbackend = \"[127.0.0.1]:80\"\npem-file = \"/etc/default.pem\"\n"
                        "write-proxy-v1 = off\nwrite-proxy-v2 = off\nsni-nomatch-abort = off\n");
    /* hitch 1.2: frontend blocks */
    good_with_common(f, "frontend = {\n    host = \"*\"\n    port = \"8443\"\n}\nbackend = \"[127.0.0.1]:80\"\n"
                        "pem-file = \"/etc/default.pem\"\nwrite-proxy-v1 = off\nwrite-proxy-v2 = off\n"
                        "sni-nomatch-abort = off\n# frontend = {\n#     match-global-certs = off\n# }\n");
    /* hitch 1.3 and 1.4: OCSP, and ';' in their examples */
    good(f, "frontend = {\n    host = \"*\"\n    port = \"8443\"\n}\npem-file = \"/etc/default.pem\"\n"
            "ocsp-resp-tmo = 10;\nocsp-connect-tmo = 4;\nocsp-verify-staple = off\n");
    assert_int_equal(f->error.count, 2);
}

static void switches_in_all_their_spellings(void **state)
{
    struct fixture *f = *state;

    good(
        f,
        "pem-file = \"x\"\nfrontend = \t\t\"[*]:8443\"\nbackend =        \"[127.0.0.1]:6086\"\t\t\nciphers = \"HIGH\"\n"
        "workers = 4\nchroot = \"\"\nuser = \"nobody\"\nquiet = yes\nsyslog = True\nsyslog-facility = \"daemon\"\n"
        "daemon = \"on\"\nwrite-ip = n\nwrite-proxy = on\n");
    bad(f, "pem-file = \"x\"\nbacklog =a50\nquiet = on\naemon = onwrite-ip =oxy = on\nsyslog = on\n");
    bad(f, "pem-file = \"x\"\nworkers = -1\nsyslog-facility = \"info\"\n");
}

/* hitch's test19: each pair in a frontend and at the top. */
static void protocols_chosen_twice(void **state)
{
    static const char *const pairs[] = {
        "tls-protos = SSLv3 TLSv1.0 TLSv1.1 TLSv1.2\nssl = on",
        "ssl = on\ntls-protos = SSLv3 TLSv1.0 TLSv1.1 TLSv1.2",
        "tls-protos = SSLv3 TLSv1.0 TLSv1.1 TLSv1.2\ntls = on",
        "tls = on\ntls-protos = SSLv3 TLSv1.0 TLSv1.1 TLSv1.2",
        "ssl = on\ntls = off",
        "tls = on\nssl = off",
    };
    struct fixture *f = *state;
    char text[256];

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        snprintf(text, sizeof text, "backend = \"[hitch-tls.org]:80\"\npem-file = \"x\"\n%s\n", pairs[i]);
        bad(f, text);
        snprintf(text, sizeof text, "frontend = {\nhost = \"localhost\"\nport = \"8443\"\npem-file = \"x\"\n%s\n}\n",
                 pairs[i]);
        bad(f, text);
    }
}

/* tests 11 to 13, 20, 22, 28, 29 and 34 */
static void files_of_hitchs_tests(void **state)
{
    struct fixture *f = *state;

    good(f, "pem-file = \"c\"\nfrontend = \"[localhost]:8443\"\nbackend = \"[hitch-tls.org]:80\"\n");
    good(f, "backend = \"[hitch-tls.org]:80\"\nbackend-connect-timeout = 20\nssl-handshake-timeout = 31\nfrontend = {\n"
            "\t host = \"*\"\n\t port = \"8443\"\n\t pem-file = \"c\"\n\t tls = on\n\t ciphers = \"HIGH\"\n"
            "\t prefer-server-ciphers = on\n}\n");
    assert_int_equal(f->config.frontends[0].tls.versions, 15);
    good(f, "sni-nomatch-abort = on\nquiet = off\nsyslog = on\nsyslog-facility = \"daemon\"\ndaemon = on\n\n"
            "write-ip = off\n"
            "write-proxy-v1 = off\n# write-proxy-v2 = on\nproxy-proxy = off\n"
            "frontend = {\n  host = \"localhost\"\n  port = \"1\"\n  pem-file = \"w\"\n  sni-nomatch-abort = off\n}\n"
            "frontend = {\n  host = \"localhost\"\n  port = \"2\"\n  pem-file = \"w\"\n  pem-file = \"s\"\n}\n");
    assert_false(f->config.frontends[0].tls.sni_nomatch_abort);
    assert_true(f->config.frontends[1].tls.sni_nomatch_abort);
    assert_string_equal(f->config.frontends[1].pems[1].cert, "s");
    bad(f, "frontend = {\n\thost = \"localhost\"\n\tport = \"\"\n\tpem-file = \"c\"\n}\n");
    good(f, "frontend = {\n\thost = \"localhost\"\n\tport = \"8443\"\n\tpem-file = \"c\"\n"
            "\ttls-protos = SSLv3 TLSv1.0 TLSv1.2\n}\n");
    assert_int_equal(f->config.frontends[0].tls.versions, TLS_VERSION_1_0 | TLS_VERSION_1_2);
    good(f, "pem-file = {\n\tcert = \"cert.crt\"\n\tprivate-key = \"priv.key\"\n}\nfrontend = \"[localhost]:8443\"\n");
    assert_string_equal(f->config.pems[0].private_key, "priv.key");
    good(f, "frontend = {\n\thost = \"localhost\"\n\tport = \"8443\"\n}\npem-dir = \"/certs/pemdirtest\"\n"
            "pem-dir-glob = \"*site*\"\nsni-nomatch-abort = on\n");
    assert_string_equal(f->config.pem_dir, "/certs/pemdirtest/");
    bad(f, "pem-file = \"c\"\nfrontend = {\nhost = \"*\"\nport = \"443\"\n}\n\n"
           "frontend = {\nhost = \"*\"\nport = \"443\"\n}\n");
    good(f, "pem-file = \"c\"\nfrontend = {\nhost = \"*\"\nport = \"443\"\n}\n\n"
            "frontend = {\nhost = \"fd22::1\"\nport = \"443\"\n}\n");
    bad(f, "pem-file = \"c\"\nfrontend = {\nhost = \"fd22::1\"\nport = \"443\"\n}\n"
           "frontend = {\nhost = \"fd22::1\"\nport = \"443\"\n}\n");
}

/* stud reads "key = value" without quotes; the fork of mattsta writes HOST,PORT. */
static void unquoted_values_of_stud(void **state)
{
    struct fixture *f = *state;

    good(f,
         "frontend = [*]:8443\nbackend = 127.0.0.1,8000\npem-file = /etc/stud/a.pem\npem-file = \"/etc/stud/b.pem\"\n"
         "ciphers = ECDHE+AESGCM:!aNULL\nworkers = \"2\"\nwrite-ip = 1\nsyslog-facility = daemon\nchroot = \"\"\n");
    assert_int_equal(f->error.count, 0);
    assert_string_equal(f->config.pems[0].cert, "/etc/stud/a.pem");
    assert_string_equal(f->config.backend.port, "8000");
    assert_int_equal(f->config.workers, 2);
    assert_int_equal(f->config.announce, ANNOUNCE_IP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(example_of_the_manual),  TEST(old_configurations),    TEST(switches_in_all_their_spellings),
        TEST(protocols_chosen_twice), TEST(files_of_hitchs_tests), TEST(unquoted_values_of_stud),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
