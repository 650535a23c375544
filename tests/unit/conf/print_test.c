#include "conf_test.h"

/* --print-config must parse to itself; --help must name every option. */

static char *printed(struct fixture *f, const char *text)
{
    struct strbuf out = STRBUF_INIT;

    fixture_reset(f);
    if (parse(f, text) != 0 || config_finish(&f->config, &f->error) != 0) {
        show_faults(f);
        fail_msg("invalid: %s", text);
    }
    config_print(&f->config, &out);
    return strbuf_take(&out);
}

static void expect_round_trip(struct fixture *f, const char *text)
{
    char *first = printed(f, text);
    char *second = printed(f, first);

    assert_string_equal(first, second);
    free(first);
    free(second);
}

static void round_trips(void **state)
{
    struct fixture *f = *state;

    expect_round_trip(f, "pem-file = \"x\"");
    expect_round_trip(f, "frontend = { host = \"::1\" port = \"1\" tls-protos = TLSv1.3 ciphers = \"A\"\n"
                         "  pem-file = \"a\" pem-file = { cert = \"b\" private-key = \"k\" client-verify = none } }\n"
                         "frontend = \"[*]:2\" frontend = \"[h]:3+c\" ciphersuites = \"S\" ecdh-curve = \"P-256\"\n"
                         "frontend = { port = \"4\" ecdh-curve = auto match-global-certs = on pem-file = \"z\" }\n"
                         "pem-file = \"g\" pem-file = { cert = \"h\" ocsp-verify-staple = off } pem-dir = \"/d\"\n"
                         "pem-dir-glob = \"*.pem\" write-proxy = on backend = \"/run/b\" workers = auto quiet = on\n"
                         "user = \"u\" group = \"on\" chroot = \"/c\" alpn-protos = \"h2, http/1.1\" backlog = -1\n"
                         "recv-bufsize = 5 log-level = 3 log-filename = \"a b#c\" pidfile = \"p\" dbg-listen = \"d\"\n"
                         "ssl-handshake-timeout = 500 keepalive = 0 syslog = on syslog-facility = \"local7\"\n");
    expect_round_trip(f, "pem-file = \"a\\\"b\" user = \"c\\\\\" group = \"d\\e\\\\\\\"\"");
    expect_round_trip(f, "pem-file = \"x\" shared-cache-listen = \"\" ocsp-dir = \"/later\" backend-refresh = 3");
}

static void names_defaults_and_effective_values(void **state)
{
    struct fixture *f = *state;
    char *text = printed(f, "pem-file = \"x\" workers = 3 backlog = 100 quiet = on write-proxy = on ciphers = \"G\"");

    assert_non_null(strstr(text, "\nworkers = 3\n"));
    assert_non_null(strstr(text, "\nbacklog = 100  # default\n"));
    assert_non_null(strstr(text, "\nlog-level = 0\n"));
    assert_non_null(strstr(text, "\nwrite-proxy-v2 = on\n"));
    assert_non_null(strstr(text, "\n    host = \"*\"\n    port = \"8443\"\n"));
    assert_non_null(strstr(text, "\n    ciphers = \"G\"\n"));
    assert_non_null(strstr(text, "\npem-file = \"x\"\n"));
    assert_null(strstr(text, "quiet"));
    assert_null(strstr(text, "ring-slots"));
    free(text);
}

static void certificates_in_memory_are_left_out(void **state)
{
    struct fixture *f = *state;
    struct strbuf out = STRBUF_INIT;

    config_pem_add(&f->config, NULL, NULL)->inline_pem = mem_strdup("-----BEGIN PRIVATE KEY");
    finish_ok(f);
    config_print(&f->config, &out);
    assert_null(strstr(out.data, "PRIVATE"));
    assert_null(strstr(out.data, "pem-file ="));
    strbuf_clear(&out);
}

/* The sentence above the options. */
static void help_tells_which_options_are_keywords(void **state)
{
    (void)state;
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *k = keyword_at(i);

        if (keyword_is_option(k))
            assert_int_equal(k->at[SCOPE_TOP] != KEYWORD_NOT_HERE, k->group != KEYWORD_GROUP_CONFIGURATION);
    }
    assert_int_equal(keyword_at(0)->group, KEYWORD_GROUP_CONFIGURATION);
}

static void help_names_every_option(void **state)
{
    struct strbuf out = STRBUF_INIT;

    (void)state;
    config_help_print(&out, "/usr/sbin/halter-jem");
    assert_int_equal(strncmp(out.data, "Usage: halter-jem [OPTIONS] PEM...\n", 35), 0);
    assert_non_null(strstr(out.data, "halter-jem demo"));
    assert_non_null(strstr(out.data, "All but those of the first group are keywords of it, too."));
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *k = keyword_at(i);
        char option[64];

        if (k->letter != 0)
            snprintf(option, sizeof option, "  -%c, --%s", k->letter, k->name);
        else
            snprintf(option, sizeof option, "      --%s", k->name);
        if (keyword_is_option(k) && (k->flags & KEYWORD_HIDDEN) == 0)
            assert_non_null(strstr(out.data, option));
    }
    assert_non_null(strstr(out.data, "(default: 3600)"));
    assert_null(strstr(out.data, "--dbg-listen"));
    for (const char *line = out.data; *line != '\0'; line = strchr(line, '\n') + 1) {
        /* only ciphers, which has no blank, may be longer */
        if (strcspn(line, "\n") > 100)
            assert_non_null(strstr(line, "ECDHE-ECDSA-AES128-GCM-SHA256"));
    }
    strbuf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(round_trips),
        TEST(names_defaults_and_effective_values),
        TEST(certificates_in_memory_are_left_out),
        TEST(help_tells_which_options_are_keywords),
        TEST(help_names_every_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
