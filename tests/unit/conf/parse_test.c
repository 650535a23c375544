#include "conf_test.h"

/* The grammar: records, values, places, recovery. */

static void sets_every_kind_of_value(void **state)
{
    struct fixture *f = *state;
    struct config *c = &f->config;

    parse_clean(f, "# all kinds\n"
                   "frontend = \"[192.0.2.1]:443+/etc/own.pem\"\n"
                   "backend = \"/run/backend.sock\"\n"
                   "pem-file = \"/etc/a.pem\"\n"
                   "pem-file = { cert = \"/etc/b.pem\" private-key = \"/etc/b.key\" }\n"
                   "workers = auto  backlog = 7\tkeepalive = 60\r\n"
                   "daemon = YES syslog = T quiet = \"on\" write-proxy=on\n"
                   "tls-protos = TLSv1.0 TLSv1.3\n"
                   "alpn-protos = \"h2, http/1.1,\"\n"
                   "pem-dir = \"/etc/pem\"\n"
                   "syslog-facility = \"local3\"\n"
                   "client-verify = optional\n"
                   "ciphers = \"HIGH:!aNULL\"\n"
                   "ecdh-curve = \"X25519:P-256\" # the end");
    assert_int_equal(c->frontend_count, 1);
    assert_string_equal(c->frontends[0].host, "192.0.2.1");
    assert_string_equal(c->frontends[0].port, "443");
    assert_int_equal(c->frontends[0].pem_count, 1);
    assert_string_equal(c->frontends[0].pems[0].cert, "/etc/own.pem");
    assert_string_equal(c->backend.path, "/run/backend.sock");
    assert_null(c->backend.host);
    assert_int_equal(c->pem_count, 2);
    assert_string_equal(c->pems[1].cert, "/etc/b.pem");
    assert_string_equal(c->pems[1].private_key, "/etc/b.key");
    assert_int_equal(c->pems[1].place.line, 5);
    assert_string_equal(c->pems[1].place.file, "t.conf");
    assert_int_equal(c->workers, WORKERS_AUTO);
    assert_int_equal(c->backlog, 7);
    assert_int_equal(c->keepalive_s, 60);
    assert_true(c->daemon && c->syslog);
    assert_int_equal(c->log_level, 0);
    assert_true(c->announce_wanted[ANNOUNCE_PROXY_V2]);
    assert_int_equal(c->tls.versions, TLS_VERSION_1_0 | TLS_VERSION_1_3);
    assert_string_equal(c->alpn_protos, "h2,http/1.1");
    assert_string_equal(c->pem_dir, "/etc/pem/");
    assert_string_equal(c->syslog_facility, "local3");
    assert_int_equal(c->tls.client_verify, CLIENT_VERIFY_OPTIONAL);
    assert_string_equal(c->tls.ciphers, "HIGH:!aNULL");
    assert_string_equal(c->tls.ecdh_curve, "X25519:P-256");
}

static void defaults_are_hitchs(void **state)
{
    struct fixture *f = *state;
    struct config *c = &f->config;

    assert_int_equal(c->frontend_count, 0);
    assert_string_equal(c->backend.host, "127.0.0.1");
    assert_string_equal(c->backend.port, "8000");
    assert_int_equal(c->tls.versions, TLS_VERSION_1_2 | TLS_VERSION_1_3);
    assert_non_null(c->tls.ciphers);
    assert_null(c->tls.ciphersuites);
    assert_null(c->tls.ecdh_curve);
    assert_int_equal(c->workers, 1);
    assert_int_equal(c->backlog, 100);
    assert_int_equal(c->keepalive_s, 3600);
    assert_int_equal(c->backend_connect_timeout_s, 30);
    assert_int_equal(c->ssl_handshake_timeout_s, 30);
    assert_int_equal(c->recv_bufsize, -1);
    assert_int_equal(c->log_level, 1);
    assert_true(c->proxy_tlv && c->proxy_authority && !c->proxy_client_cert);
    assert_string_equal(c->syslog_facility, "daemon");
    assert_int_equal(c->ocsp_resp_tmo_s, 10);
    assert_int_equal(c->ocsp_connect_tmo_s, 4);
    assert_int_equal(c->ocsp_refresh_interval_s, 1800);
    /* ours */
    assert_true(c->tls.prefer_server_ciphers);
    assert_null(strstr(c->tls.ciphers, ":DHE"));
    assert_int_equal(c->first_data_timeout_s, 60);
    assert_int_equal(c->idle_timeout_s, 600);
    assert_int_equal(c->half_close_timeout_s, 60);
    assert_int_equal(c->close_timeout_s, 5);
    assert_int_equal(c->drain_timeout_s, 300);
}

/* name = value, in the block where it may stand; the caller frees the text. */
static char *record(const struct keyword *k, enum keyword_scope at, const char *value, bool has_quotes)
{
    static const char *const before[] = {"", "frontend = { ", "pem-file = { "};
    static const char *const after[] = {"", " port = \"1\" }", " cert = \"x\" }"};
    bool is_needed = strcmp(k->name, "port") == 0 || strcmp(k->name, "cert") == 0;
    struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text, "%s%s = %s%s%s%s\n", before[at], k->name, has_quotes ? "\"" : "", value, has_quotes ? "\"" : "",
                is_needed ? " }" : after[at]);
    return strbuf_take(&text);
}

static bool is_quoted(const struct keyword *k)
{
    switch (k->type) {
    case KEYWORD_BOOL:
    case KEYWORD_UINT:
    case KEYWORD_INT:
    case KEYWORD_WORKERS:
    case KEYWORD_PROTOCOLS:
    case KEYWORD_PROTOCOLS_TLS:
    case KEYWORD_PROTOCOLS_SSL:
    case KEYWORD_CLIENT_VERIFY:
    case KEYWORD_QUIET:
    case KEYWORD_IGNORED:
    case KEYWORD_ACTION:
        return false;
    case KEYWORD_STRING:
    case KEYWORD_PATH:
    case KEYWORD_PATH_OR_NONE:
    case KEYWORD_DIRECTORY:
    case KEYWORD_STRING_OR_AUTO:
    case KEYWORD_ALPN:
    case KEYWORD_FACILITY:
    case KEYWORD_FRONTEND:
    case KEYWORD_REDIRECT:
    case KEYWORD_BACKEND:
    case KEYWORD_PEM_FILE:
    case KEYWORD_HOST:
    case KEYWORD_PORT:
    case KEYWORD_ENDPOINT:
    case KEYWORD_ENDPOINT_LIST:
        return true;
    }
    return false;
}

static void every_example_is_valid(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *k = keyword_at(i);

        for (unsigned at = 0; at < SCOPE_COUNT; at++) {
            if (k->at[at] == KEYWORD_NOT_HERE)
                continue;
            for (int has_quotes = 0; has_quotes < 2; has_quotes++) { /* bare values are our addition */
                char *text = record(k, (enum keyword_scope)at, k->example, has_quotes == 1);

                fixture_reset(f);
                if (parse(f, text) != 0) {
                    show_faults(f);
                    fail_msg("invalid: %s", text);
                }
                if (k->default_text != NULL && k->same_as == NULL && at == SCOPE_TOP)
                    assert_non_null(conf_marks_find(&f->config.marks, k));
                free(text);
            }
        }
    }
}

/* "" leaves a text alone, and is no number, switch or word. */
static void every_empty_value_is_judged(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *k = keyword_at(i);

        for (unsigned at = 0; at < SCOPE_COUNT; at++) {
            if (k->at[at] == KEYWORD_NOT_HERE)
                continue;
            bool is_needed = strcmp(k->name, "port") == 0 || strcmp(k->name, "cert") == 0;
            char *text = record(k, (enum keyword_scope)at, "", true);

            fixture_reset(f);
            int result = parse(f, text);
            if (result != (is_quoted(k) && !is_needed ? 0 : -1))
                fail_msg("wrongly judged: %s", text);
            free(text);
        }
    }
}

static void every_wrong_type_says_what_is_wanted(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *k = keyword_at(i);

        for (unsigned at = 0; at < SCOPE_COUNT; at++) {
            struct strbuf expected = STRBUF_INIT;

            if (k->at[at] == KEYWORD_NOT_HERE)
                continue;
            strbuf_addf(&expected, "%s wants ", k->name);
            for (int round = 0; round < 2; round++) {
                bool takes_block = k->type == KEYWORD_FRONTEND || k->type == KEYWORD_PEM_FILE;
                const char *value = round == 0 ? "{ }" : "maybe";
                char *text = record(k, (enum keyword_scope)at, value, false);

                fixture_reset(f);
                if (!(round == 0 && takes_block) && !(round == 1 && is_quoted(k))) {
                    assert_int_equal(parse(f, text), -1);
                    expect_fault(f, FAULT_ERROR, expected.data);
                    expect_fault(f, FAULT_ERROR, "; for example: ");
                }
                free(text);
            }
            strbuf_clear(&expected);
        }
    }
}

static void every_missing_value_is_told(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *k = keyword_at(i);

        if (k->at[SCOPE_TOP] == KEYWORD_NOT_HERE)
            continue;
        char *text = record(k, SCOPE_TOP, "\nuser = \"me\"", false);
        fixture_reset(f);
        assert_int_equal(parse(f, text), -1);
        assert_int_equal(f->error.count, 1);
        expect_fault(f, FAULT_ERROR, "but its value is missing");
        assert_string_equal(f->config.user, "me");
        free(text);
    }
}

static void switches_know_hitchs_words(void **state)
{
    static const char *const on[] = {"on", "yes", "y", "true", "t", "ON", "Yes", "tRuE", "\"on\"", "\"Y\"", "1"};
    static const char *const off[] = {"off", "no", "n", "false", "f", "OFF", "No", "\"off\"", "\"F\"", "0"};
    struct fixture *f = *state;
    char text[64];

    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
        snprintf(text, sizeof text, "daemon = %s\n", on[i]);
        parse_clean(f, text);
        assert_true(f->config.daemon);
    }
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        snprintf(text, sizeof text, "proxy-tlv = %s\n", off[i]);
        parse_clean(f, text);
        assert_false(f->config.proxy_tlv);
    }
}

/* A quoted switch word is a switch in hitch, and cannot be used as a text; here it can. */
static void words_may_be_texts(void **state)
{
    struct fixture *f = *state;

    parse_clean(f, "user = \"on\" group = daemon syslog-facility = daemon\nchroot = /srv/t\n"
                   "frontend = { port = 443 host = t }\nfrontend = [*]:8443 backend = localhost:80\n"
                   "ciphers = HIGH:!aNULL\nalpn-protos = h2,http/1.1\n");
    assert_string_equal(f->config.user, "on");
    assert_string_equal(f->config.group, "daemon");
    assert_string_equal(f->config.chroot_dir, "/srv/t");
    assert_string_equal(f->config.frontends[0].host, "t");
    assert_string_equal(f->config.frontends[0].port, "443");
    assert_string_equal(f->config.frontends[1].port, "8443");
    assert_string_equal(f->config.backend.host, "localhost");
    assert_string_equal(f->config.tls.ciphers, "HIGH:!aNULL");
    assert_string_equal(f->config.alpn_protos, "h2,http/1.1");
}

static void empty_leaves_unset(void **state)
{
    struct fixture *f = *state;

    parse_clean(f, "user = \"a\" user = \"\" ciphers = \"\" pem-file = \"\" backend = \"\" frontend = \"\"\n"
                   "pem-dir = \"/x\" pem-dir = \"\" ocsp-dir = \"/y\" ocsp-dir = \"\" client-verify-ca = \"\"\n"
                   "frontend = { host = \"\" port = \"1\" pem-file = \"\" ciphers = \"\" }\n");
    assert_string_equal(f->config.user, "a");
    assert_non_null(f->config.tls.ciphers);
    assert_int_equal(f->config.pem_count, 0);
    assert_null(f->config.pem_dir);
    assert_null(f->config.ocsp_dir);
    assert_null(f->config.tls.client_verify_ca);
    assert_int_equal(f->config.frontend_count, 1);
    assert_null(f->config.frontends[0].host);
    assert_int_equal(f->config.frontends[0].pem_count, 0);
}

static void strings_end_at_the_first_inner_quote(void **state)
{
    struct fixture *f = *state;

    parse_clean(f, "user = \"a\\\"b\"\ngroup = \"c\\d\"\n");
    assert_string_equal(f->config.user, "a\\");
    assert_string_equal(f->config.group, "c\\d");
}

static void strays_are_skipped_with_a_warning(void **state)
{
    struct fixture *f = *state;

    EXPECT_FAULTS(f, "ocsp-resp-tmo = 10;\n", "W t.conf:1:19: stray ';' is skipped, as hitch does; remove it");
    assert_int_equal(f->config.ocsp_resp_tmo_s, 10);
    EXPECT_FAULTS(f, "workers = 4;backlog = 5,\n", "W t.conf:1:12: stray ';' is skipped, as hitch does; remove it",
                  "W t.conf:1:24: stray ',' is skipped, as hitch does; remove it");
    assert_int_equal(f->config.workers, 4);
    assert_int_equal(f->config.backlog, 5);
    EXPECT_FAULTS(f, "  [;]\nuser = me; group = \"x\", ",
                  "W t.conf:1:3: stray '[;]' is skipped, as hitch does; remove it",
                  "W t.conf:2:10: stray ';' is skipped, as hitch does; remove it",
                  "W t.conf:2:23: stray ',' is skipped, as hitch does; remove it");
    assert_string_equal(f->config.user, "me");
    EXPECT_FAULTS(f, "frontend = { port = \"1\"; }", "W t.conf:1:24: stray ';' is skipped, as hitch does; remove it");
    EXPECT_FAULTS(f, "user = 'me'\ndaemon = 'on'\n",
                  "W t.conf:1:8: single quotes are not part of the syntax; write \"me\"",
                  "W t.conf:2:10: stray ''' is skipped, as hitch does; remove it",
                  "W t.conf:2:13: stray ''' is skipped, as hitch does; remove it");
    assert_string_equal(f->config.user, "me");
    assert_true(f->config.daemon);
}

static void nothing_is_a_configuration(void **state)
{
    struct fixture *f = *state;

    parse_clean(f, "");
    parse_clean(f, "\n\n   \t\r\n");
    parse_clean(f, "# only a comment");
    parse_clean(f, "\xef\xbb\xbf# a byte order mark\nworkers = 2 # without a newline at the end");
    assert_int_equal(f->config.workers, 2);
}

static void unknown_keywords_get_a_hint(void **state)
{
    struct fixture *f = *state;

    EXPECT_FAULTS(f, "wrokers = 3\n  Backend = \"x\"\nxyzzy = { a = 1 }\ndaemon = on\n",
                  "E t.conf:1:1: unknown keyword 'wrokers': did you mean 'workers'?",
                  "E t.conf:2:3: unknown keyword 'Backend': did you mean 'backend'?",
                  "E t.conf:3:1: unknown keyword 'xyzzy'");
    assert_true(f->config.daemon);
    EXPECT_FAULTS(f, "frontnd =\n{\n  host = ; \"x\"\n  port = \"1\"\n}\nworkers = 3",
                  "E t.conf:1:1: unknown keyword 'frontnd': did you mean 'frontend'?");
    assert_int_equal(f->config.workers, 3);
    EXPECT_FAULTS(f, "version = on", "E t.conf:1:1: unknown keyword 'version'");
}

static void scopes_are_kept(void **state)
{
    struct fixture *f = *state;

    EXPECT_FAULTS(f,
                  "host = \"x\"\nfrontend = {\n port = \"1\"\n workers = 3\n frontend = { port = \"2\" }\n}\n"
                  "pem-file = { cert = \"x\" port = \"1\" }\n",
                  "E t.conf:1:1: host cannot stand at the top level, only in a frontend block",
                  "E t.conf:4:2: workers cannot stand in a frontend block, only at the top level",
                  "E t.conf:5:2: frontend cannot stand in a frontend block, only at the top level",
                  "E t.conf:7:25: port cannot stand in a pem-file block, only in a frontend block");
    assert_int_equal(f->config.frontend_count, 1);
    assert_string_equal(f->config.frontends[0].port, "1");
    EXPECT_FAULTS(
        f, "pem-file = { cert = \"x\" ciphers = \"y\" }",
        "E t.conf:1:25: ciphers cannot stand in a pem-file block, only at the top level or in a frontend block");
}

static void all_faults_in_one_run(void **state)
{
    struct fixture *f = *state;

    EXPECT_FAULTS(
        f,
        "workers = -1\n"
        "backlog =a50\n"
        "keepalive = \"x y\"\n"
        "user me\n"
        "workers = 2 3\n"
        "daemon == on\n"
        "group = \"unclosed\n"
        "syslog = on\n"
        "}\n"
        "{ junk }\n"
        "backend = \"[::1]\"\n"
        "frontend = {\n"
        "  host = \"h\"\n",
        "E t.conf:1:11: workers wants a number from 1 to 1024, or auto, not '-1'; for example: workers = auto",
        "E t.conf:2:10: backlog wants a number from -1 to 2147483647, not 'a50'; for example: backlog = 1000",
        "E t.conf:3:13: keepalive wants a number from 0 to 32767, not 'x y'; for example: keepalive = 3600",
        "E t.conf:4:1: a '=' is missing after user",
        "E t.conf:5:13: '3' is not expected here: a record is KEYWORD = VALUE, and a text with blanks needs \"\"",
        "E t.conf:6:9: daemon wants on or off, not '='; for example: daemon = on",
        "E t.conf:7:9: this string is not closed: a '\"' must follow on the same line",
        "E t.conf:9:1: this '}' closes nothing: no block is open",
        "E t.conf:10:1: '{' is not expected here: a record is KEYWORD = VALUE, and a text with blanks needs \"\"",
        "E t.conf:11:11: backend wants [HOST]:PORT or the path of a unix socket, not '[::1]' (the port is "
        "missing); for example: backend = \"[127.0.0.1]:6086\"",
        "E t.conf:12:12: this block is not closed: a '}' is missing");
    assert_int_equal(f->config.workers, 2);
    assert_true(f->config.syslog);
    assert_true(f->config.is_faulty);
}

static void blocks_need_their_essentials(void **state)
{
    struct fixture *f = *state;

    EXPECT_FAULTS(f, "frontend = { host = \"x\" port = \"\" }\nfrontend = {}\n",
                  "E t.conf:1:1: this frontend has no port; for example: port = \"443\"",
                  "E t.conf:2:1: this frontend has no port; for example: port = \"443\"");
    assert_int_equal(f->config.frontend_count, 0);
    EXPECT_FAULTS(f, "pem-file = {\n private-key = \"x\" }\nfrontend = { port = \"1\" pem-file = { } }",
                  "E t.conf:1:1: this pem-file has no certificate; for example: cert = \"/etc/halter/site.pem\"",
                  "E t.conf:3:25: this pem-file has no certificate; for example: cert = \"/etc/halter/site.pem\"");
    assert_int_equal(f->config.pem_count, 0);
    assert_int_equal(f->config.frontends[0].pem_count, 0);
}

static void numbers_have_limits(void **state)
{
    struct fixture *f = *state;

    parse_clean(f, "backlog = 2147483647 backlog = -1 recv-bufsize = 0 workers = 1024 keepalive = 007");
    assert_int_equal(f->config.backlog, -1);
    assert_int_equal(f->config.keepalive_s, 7);
    assert_int_equal(parse(f, "backlog = 2147483648"), -1);
    assert_int_equal(parse(f, "recv-bufsize = 99999999999999999999999999999999"), -1);
    assert_int_equal(parse(f, "workers = 0"), -1);
    assert_int_equal(parse(f, "workers = 1025"), -1);
    assert_int_equal(parse(f, "idle-timeout = -1"), -1);
    assert_int_equal(parse(f, "idle-timeout = 0x10"), -1);
    assert_int_equal(parse(f, "idle-timeout = -"), -1);
    /* what the kernel or the program would cut anyway is no reason not to start */
    EXPECT_FAULTS(f, "keepalive = 86400\nlog-level = 9\nidle-timeout = 99999999999999999999\n",
                  "W t.conf:1:13: keepalive is at most 32767, which is taken in place of 86400",
                  "W t.conf:2:13: log-level is at most 3, which is taken in place of 9",
                  "W t.conf:3:16: idle-timeout is at most 31536000, which is taken in place of 99999999999999999999");
    assert_int_equal(f->config.keepalive_s, 32767);
    assert_int_equal(f->config.log_level, 3);
}

static void endpoints_in_all_spellings(void **state)
{
    static const struct {
        const char *text, *host, *port;
    } good[] = {
        {"[127.0.0.1]:80", "127.0.0.1", "80"},     {"[::1]:65535", "::1", "65535"},
        {"[localhost]:http", "localhost", "http"}, {"localhost:8080", "localhost", "8080"},
        {"127.0.0.1,80", "127.0.0.1", "80"},       {"[fe80::1%eth0]:1", "fe80::1%eth0", "1"},
    };
    static const char *const bad[] = {
        "[127.0.0.1]",
        "[127.0.0.1]:",
        "[127.0.0.1]:65536",
        "[127.0.0.1]80",
        "[127.0.0.1:80",
        "[]:80",
        "[*]:80",
        "[127.0.0.1]:-1",
        "[127.0.0.1]:0",
        "[1.2.3.4]:8 0",
        "::1:80",
        "80",
        ":80",
        "host",
        "[a b]:80",
        "[x]:99999999999999999999",
        "relative/path",
        "[x]:80+/cert",
        "[x]:a-service-name-that-is-too-long",
    };
    struct fixture *f = *state;
    char text[128];

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        snprintf(text, sizeof text, "backend = \"%s\"", good[i].text);
        parse_clean(f, text);
        assert_string_equal(f->config.backend.host, good[i].host);
        assert_string_equal(f->config.backend.port, good[i].port);
        assert_null(f->config.backend.path);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "backend = \"%s\"", bad[i]);
        if (parse(f, text) != -1)
            fail_msg("accepted: %s", text);
    }
    parse_clean(f, "frontend = \"[*]:0+/a+b\" frontend = { host = \"[::1]\" port = \"0\" }");
    assert_null(f->config.frontends[0].host);
    assert_string_equal(f->config.frontends[0].pems[0].cert, "/a+b");
    assert_string_equal(f->config.frontends[1].host, "::1");
    assert_int_equal(parse(f, "frontend = \"[*]:1+\""), -1);
    assert_int_equal(parse(f, "frontend = { host = \"a*\" port = \"1\" }"), -1);
    assert_int_equal(parse(f, "frontend = { port = \"65536\" }"), -1);
    expect_fault(f, FAULT_ERROR, "(the port must be from 0 to 65535)");
    assert_int_equal(parse(f, "backend = \"[127.0.0.1]:99999\""), -1);
    expect_fault(f, FAULT_ERROR, "(the port must be from 1 to 65535)"); /* 0 would be refused */
}

static void alpn_lists(void **state)
{
    struct fixture *f = *state;
    char long_name[300], text[400];

    parse_clean(f, "alpn-protos = \" h2 ,\thttp/1.1 , \"");
    assert_string_equal(f->config.alpn_protos, "h2,http/1.1");
    assert_int_equal(parse(f, "alpn-protos = \"h2,,http/1.1\""), -1);
    assert_int_equal(parse(f, "alpn-protos = \",\""), -1);
    memset(long_name, 'a', sizeof long_name);
    long_name[256] = '\0';
    snprintf(text, sizeof text, "alpn-protos = \"%s\"", long_name);
    assert_int_equal(parse(f, text), -1);
    long_name[255] = '\0';
    snprintf(text, sizeof text, "alpn-protos = \"%s\"", long_name);
    parse_clean(f, text);
}

static void protocols_and_their_old_switches(void **state)
{
    struct fixture *f = *state;

    parse_clean(f, "tls = on");
    assert_int_equal(f->config.tls.versions, 15);
    EXPECT_FAULTS(
        f, "ssl = on",
        "W t.conf:1:7: SSLv3 is not available: it has been broken since 2014 and is not part of this program; "
        "ssl = on stands for TLSv1.0 to TLSv1.3");
    assert_int_equal(f->config.tls.versions, 15);
    EXPECT_FAULTS(
        f, "tls-protos = SSLv3 TLSv1.1",
        "W t.conf:1:14: SSLv3 is not available: it has been broken since 2014 and is not part of this program; "
        "the other protocols are used");
    assert_int_equal(f->config.tls.versions, TLS_VERSION_1_1);
    EXPECT_FAULTS(
        f, "tls-protos = SSLv3",
        "E t.conf:1:14: tls-protos wants a list of TLSv1.0 TLSv1.1 TLSv1.2 TLSv1.3, not 'SSLv3' (SSLv3 is not "
        "available: it has been broken since 2014 and is not part of this program); for example: tls-protos = "
        "TLSv1.2 TLSv1.3");
    EXPECT_FAULTS(f, "tls = off\ntls-protos = TLSv1.2\n",
                  "W t.conf:1:7: tls = off is deprecated and has no effect; use tls-protos");
    EXPECT_FAULTS(f, "tls-protos = TLSv1.2 TLSv1.4\nworkers = 2",
                  "E t.conf:1:22: tls-protos wants a list of TLSv1.0 TLSv1.1 TLSv1.2 TLSv1.3, not 'TLSv1.4'; for "
                  "example: tls-protos = TLSv1.2 TLSv1.3");
    EXPECT_FAULTS(f, "tls-protos = TLSv1.2\ntls-protos = TLSv1.3\n",
                  "E t.conf:2:14: tls-protos cannot follow tls-protos, tls or ssl, of which one stands at t.conf:1; "
                  "keep one");
    parse_clean(f, "tls-protos =\n  TLSv1.2 # newlines mean nothing\n  TLSv1.3\nworkers = 2");
    parse_clean(f, "tls-protos = \"TLSv1.1,tlsv1.2\"");
    assert_int_equal(f->config.tls.versions, TLS_VERSION_1_1 | TLS_VERSION_1_2);
}

/* Each scope has its own choice. */
static void protocols_of_frontends(void **state)
{
    struct fixture *f = *state;

    parse_clean(f, "tls = on frontend = { port = \"1\" tls-protos = TLSv1.3 } frontend = { port = \"2\" }");
    finish_ok((parse(f, "pem-file = \"x\""), f));
    assert_int_equal(f->config.frontends[0].tls.versions, TLS_VERSION_1_3);
    assert_int_equal(f->config.frontends[1].tls.versions, 15);
    assert_int_equal(parse(f, "frontend = { port = \"1\" tls = on tls-protos = TLSv1.3 }"), -1);
    assert_int_equal(parse(f, "frontend = { port = \"1\" ssl = on tls = off }"), -1);
    assert_int_equal(parse(f, "frontend = { port = \"1\" tls-protos = TLSv1.3 ssl = on }"), -1);
}

static void later_records_win(void **state)
{
    struct fixture *f = *state;

    parse_clean(f, "quiet = on log-level = 2 user = \"a\" user = \"b\" write-proxy = on write-proxy-v2 = off\n"
                   "backend = \"/x\" backend = \"[h]:1\"");
    assert_int_equal(f->config.log_level, 2);
    assert_string_equal(f->config.user, "b");
    assert_false(f->config.announce_wanted[ANNOUNCE_PROXY_V2]);
    assert_null(f->config.backend.path);
    assert_string_equal(f->config.backend.host, "h");
    assert_int_equal(parse(f, "quiet = off"), 0);
    assert_int_equal(f->config.log_level, 1);
}

static void control_characters_are_refused(void **state)
{
    static const char nul[] = "user = \"a\0b\"\nworkers = 2\n";
    struct fixture *f = *state;

    assert_int_equal(config_parse_text(&f->config, "t.conf", nul, sizeof nul - 1, &f->error), -1);
    assert_string_equal(f->error.faults[0].text,
                        "t.conf:1:8: user wants a text, not 'a?b' (a value cannot contain '\"' or control characters); "
                        "for example: user = \"nobody\"");
    assert_int_equal(f->config.workers, 2);
    assert_int_equal(parse(f, "user = \"\x1b[31m\""), -1);
}

static void garbage_ends_soon(void **state)
{
    struct fixture *f = *state;
    struct strbuf text = STRBUF_INIT;

    for (int i = 0; i < 100000; i++)
        strbuf_adds(&text, "x = ; } { = \"\n");
    assert_int_equal(config_parse_text(&f->config, "t.conf", text.data, text.length, &f->error), -1);
    assert_true(f->error.count < 220);
    expect_fault(f, FAULT_ERROR, "too many faults");
    strbuf_clear(&text);
}

static void ring_settings_have_no_effect(void **state)
{
    struct fixture *f = *state;

    EXPECT_FAULTS(
        f, "ring-slots = 3\nring-data-len = x",
        "W t.conf:1:14: ring-slots has no effect: there are no ring buffers here; remove it",
        "E t.conf:2:17: ring-data-len wants a number from 0 to 2147483647, not 'x'; for example: ring-data-len "
        "= 0");
}

static void two_files_make_one_config(void **state)
{
    struct fixture *f = *state;

    static const char a[] = "workers = 2 tls = on", b[] = "workers = 3\ntls-protos = TLSv1.3";

    assert_int_equal(config_parse_text(&f->config, "a.conf", a, strlen(a), &f->error), 0);
    assert_int_equal(config_parse_text(&f->config, "b.conf", b, strlen(b), &f->error), -1);
    assert_int_equal(f->config.workers, 3);
    assert_string_equal(f->error.faults[0].text,
                        "b.conf:2:14: tls-protos cannot follow tls-protos, tls or ssl, of which one stands at "
                        "a.conf:1; keep one");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sets_every_kind_of_value),
        TEST(defaults_are_hitchs),
        TEST(every_example_is_valid),
        TEST(every_empty_value_is_judged),
        TEST(every_wrong_type_says_what_is_wanted),
        TEST(every_missing_value_is_told),
        TEST(switches_know_hitchs_words),
        TEST(words_may_be_texts),
        TEST(empty_leaves_unset),
        TEST(strings_end_at_the_first_inner_quote),
        TEST(strays_are_skipped_with_a_warning),
        TEST(nothing_is_a_configuration),
        TEST(unknown_keywords_get_a_hint),
        TEST(scopes_are_kept),
        TEST(all_faults_in_one_run),
        TEST(blocks_need_their_essentials),
        TEST(numbers_have_limits),
        TEST(endpoints_in_all_spellings),
        TEST(alpn_lists),
        TEST(protocols_and_their_old_switches),
        TEST(protocols_of_frontends),
        TEST(later_records_win),
        TEST(control_characters_are_refused),
        TEST(garbage_ends_soon),
        TEST(ring_settings_have_no_effect),
        TEST(two_files_make_one_config),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
