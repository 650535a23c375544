#include "conf_test.h"

/* The table itself: what its header promises. */

static void names_and_letters_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *a = keyword_at(i);

        assert_ptr_equal(keyword_find(a->name, strlen(a->name)), a);
        if (a->alias != NULL)
            assert_ptr_equal(keyword_find(a->alias, strlen(a->alias)), a);
        for (size_t j = 0; j < i; j++) {
            if (a->letter != 0)
                assert_int_not_equal(a->letter, keyword_at(j)->letter);
        }
    }
}

static void groups_stand_together(void **state)
{
    int last = -1;

    (void)state;
    for (size_t i = 0; i < keyword_count(); i++) {
        assert_true((int)keyword_at(i)->group >= last);
        last = (int)keyword_at(i)->group;
    }
}

static void rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *k = keyword_at(i);
        bool stands_in_file = k->type != KEYWORD_ACTION;

        assert_non_null(k->help);
        assert_true(strlen(k->help) > 0 && k->help[strlen(k->help) - 1] != '.');
        assert_null(strpbrk(k->help, "\t\n"));
        assert_true(stands_in_file == (k->example != NULL));
        assert_true((k->arg == KEYWORD_ARG_REQUIRED || k->arg == KEYWORD_ARG_OPTIONAL) == (k->arg_name != NULL));
        assert_true(strlen(keyword_type_text(k->type)) > 0);
        if (k->same_as != NULL)
            assert_string_equal(keyword_holder(k)->name, k->same_as);
        /* every keyword of the top level is an option, too; the ones without effect are not */
        if (stands_in_file && k->type != KEYWORD_IGNORED)
            assert_true(keyword_is_option(k) == (k->at[SCOPE_TOP] != KEYWORD_NOT_HERE));
    }
}

/* The short options of hitch 1.8, to the letter. */
static void letters_are_hitchs(void **state)
{
    static const char hitch[] = "c:e:Ob:f:n:B:l:L:C:U:p:P:M:k:r:u:g:qstVho:R:";

    (void)state;
    for (const char *p = hitch; *p != '\0'; p++) {
        const struct keyword *found = NULL;

        if (*p == ':')
            continue;
        for (size_t i = 0; i < keyword_count(); i++) {
            if (keyword_at(i)->letter == *p)
                found = keyword_at(i);
        }
        assert_non_null(found);
        assert_true((found->arg == KEYWORD_ARG_REQUIRED) == (p[1] == ':'));
    }
}

static void every_word_of_hitch_is_known(void **state)
{
    static const char *const words[] = {
        "frontend", "backend", "pem-file", "pem-dir", "pem-dir-glob", "ciphers", "ciphersuites", "tls-protos", "tls",
        "ssl", "ecdh-curve", "prefer-server-ciphers", "ssl-engine", "client-verify", "client-verify-ca", "workers",
        "backlog", "keepalive", "chroot", "user", "group", "quiet", "log-level", "log-filename", "syslog",
        "syslog-facility", "daemon", "write-ip", "write-proxy-v1", "write-proxy-v2", "write-proxy", "proxy-proxy",
        "proxy-tlv", "proxy-authority", "proxy-client-cert", "alpn-protos", "sni-nomatch-abort", "ocsp-dir",
        "ocsp-verify-staple", "ocsp-resp-tmo", "ocsp-connect-tmo", "ocsp-refresh-interval", "session-cache",
        "shared-cache-listen", "shared-cache-peer", "shared-cache-if", "recv-bufsize", "send-bufsize",
        "backend-refresh", "backend-connect-timeout", "ssl-handshake-timeout", "tcp-fastopen", "pidfile", "ring-slots",
        "ring-data-len", "host", "port", "match-global-certs", "cert", "private-key", "ocsp-resp-file",
        /* long options only */
        "config", "client", "backendrefresh", "enable-tcp-fastopen", "dbg-listen", "test", "version", "help",
        "shared-cache"};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (keyword_find(words[i], strlen(words[i])) == NULL)
            fail_msg("unknown: %s", words[i]);
    }
}

static void suggests_the_nearest(void **state)
{
    (void)state;
    assert_string_equal(keyword_suggest("frontnd", 7, SCOPE_TOP), "frontend");
    assert_string_equal(keyword_suggest("log_level", 9, SCOPE_TOP), "log-level");
    assert_string_equal(keyword_suggest("Workers", 7, SCOPE_TOP), "workers");
    assert_string_equal(keyword_suggest("WORKERS", 7, SCOPE_TOP), "workers");
    assert_string_equal(keyword_suggest("wrokers", 7, SCOPE_TOP), "workers");
    assert_string_equal(keyword_suggest("prot", 4, SCOPE_FRONTEND), "port");
    assert_string_equal(keyword_suggest("certs", 5, SCOPE_PEM), "cert");
    assert_null(keyword_suggest("completely-different", 20, SCOPE_TOP));
    assert_null(keyword_suggest("an-absurdly-long-word-that-nobody-would-ever-type-here", 54, SCOPE_TOP));
    assert_string_equal(keyword_suggest_option("bakend", 6), "backend");
    assert_string_equal(keyword_suggest_option("versoin", 7), "version");
}

static void table_has_one_line_for_each(void **state)
{
    struct strbuf text = STRBUF_INIT;
    size_t lines = 0, tabs = 0;

    (void)state;
    keyword_table_print(&text);
    for (size_t i = 0; i < text.length; i++) {
        lines += text.data[i] == '\n' ? 1 : 0;
        tabs += text.data[i] == '\t' ? 1 : 0;
    }
    assert_int_equal(lines, keyword_count());
    assert_int_equal(tabs, 8 * keyword_count());
    assert_non_null(strstr(text.data, "\nbackend\t\ttop\tendpoint\t[127.0.0.1]:8000\t-b, --backend="));
    strbuf_clear(&text);
}

static void later_list_names_what_is_missing(void **state)
{
    struct strbuf text = STRBUF_INIT;

    (void)state;
    keyword_later_print(&text);
    assert_non_null(strstr(text.data, "proxy-proxy: refused\n"));
    assert_non_null(strstr(text.data, "ocsp-dir: ignored with a warning\n"));
    assert_null(strstr(text.data, "ssl-engine"));
    strbuf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_letters_are_unique),
        cmocka_unit_test(groups_stand_together),
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(letters_are_hitchs),
        cmocka_unit_test(every_word_of_hitch_is_known),
        cmocka_unit_test(suggests_the_nearest),
        cmocka_unit_test(table_has_one_line_for_each),
        cmocka_unit_test(later_list_names_what_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
