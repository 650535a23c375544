#include "conf_test.h"

/* The command line: syntax of getopt_long(), options of hitch, order of effect. */

enum { ARGUMENTS_MAX = 40 };

/* Splits line at blanks; "''" is an empty argument. The caller frees *copy after use. */
static int split(char *copy, char **argv)
{
    int argc = 0;

    argv[argc++] = (char *)(uintptr_t)"halter";
    for (char *word = strtok(copy, " "); word != NULL && argc < ARGUMENTS_MAX; word = strtok(NULL, " ")) {
        if (strcmp(word, "''") == 0)
            *word = '\0';
        argv[argc++] = word;
    }
    return argc;
}

static int cli_parse(struct fixture *f, struct config_cli *cli, const char *line)
{
    char *copy = mem_strdup(line), *argv[ARGUMENTS_MAX + 1];
    int argc = split(copy, argv);
    int result = config_cli_parse(cli, argc, argv, &f->error);

    free(copy);
    return result;
}

/* Parses text as a file (NULL: none), then applies line. */
static int run(struct fixture *f, const char *text, const char *line)
{
    struct config_cli cli;
    int result;

    fixture_reset(f);
    result = text == NULL ? 0 : parse(f, text);
    result += cli_parse(f, &cli, line);
    result += config_cli_apply(&cli, &f->config, &f->error);
    config_cli_clear(&cli);
    return result == 0 ? 0 : -1;
}

static void run_clean(struct fixture *f, const char *line)
{
    if (run(f, NULL, line) != 0 || f->error.count > 0) {
        show_faults(f);
        fail_msg("not clean: %s", line);
    }
}

static void expect_error(struct fixture *f, const char *line, const char *text)
{
    struct config_cli cli;

    error_clear(&f->error);
    assert_int_equal(cli_parse(f, &cli, line), -1);
    config_cli_clear(&cli);
    assert_int_equal(f->error.count, 1);
    assert_string_equal(f->error.faults[0].text, text);
}

static void actions(void **state)
{
    static const struct {
        const char *line;
        enum cli_action action;
    } cases[] = {
        {"", CLI_USAGE},
        {"x.pem", CLI_RUN},
        {"-t", CLI_TEST},
        {"--test x.pem", CLI_TEST},
        {"-V", CLI_VERSION},
        {"--version", CLI_VERSION},
        {"-h", CLI_HELP},
        {"--help -V", CLI_HELP},
        {"-t -V -h", CLI_VERSION},
        {"-tV", CLI_VERSION},
        {"--vers", CLI_VERSION},
        {"--print-config -t", CLI_PRINT_CONFIG},
        {"-t --print", CLI_PRINT_CONFIG},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config_cli cli;

        assert_int_equal(cli_parse(f, &cli, cases[i].line), 0);
        assert_int_equal(cli.action, cases[i].action);
        config_cli_clear(&cli);
    }
}

static void files_and_leftovers_keep_their_order(void **state)
{
    struct fixture *f = *state;
    struct config_cli cli;

    assert_int_equal(cli_parse(f, &cli, "a.pem --config=1 --config 2 b.pem --config= --config - -- --not-an-option -n"),
                     0);
    assert_int_equal(cli.config_file_count, 4);
    assert_string_equal(cli.config_files[0], "1");
    assert_string_equal(cli.config_files[1], "2");
    assert_string_equal(cli.config_files[2], "-");
    assert_string_equal(cli.config_files[3], "-");
    assert_int_equal(cli.pem_file_count, 4);
    assert_string_equal(cli.pem_files[0], "a.pem");
    assert_string_equal(cli.pem_files[1], "b.pem");
    assert_string_equal(cli.pem_files[2], "--not-an-option");
    assert_string_equal(cli.pem_files[3], "-n");
    assert_int_equal(cli.setting_count, 0);
    config_cli_clear(&cli);

    run(f, "pem-file = \"file.pem\"", "one.pem -n2 two.pem");
    assert_int_equal(f->config.pem_count, 3);
    assert_string_equal(f->config.pems[0].cert, "file.pem");
    assert_string_equal(f->config.pems[2].cert, "two.pem");
    assert_int_equal(run(f, NULL, "''"), -1);
}

static void arguments_in_all_forms(void **state)
{
    struct fixture *f = *state;

    run_clean(f, "-n4 -B 7 --keepalive=60 --user me -Oqs -g=x");
    assert_int_equal(f->config.workers, 4);
    assert_int_equal(f->config.backlog, 7);
    assert_int_equal(f->config.keepalive_s, 60);
    assert_string_equal(f->config.user, "me");
    assert_string_equal(f->config.group, "=x");
    assert_true(f->config.tls.prefer_server_ciphers && f->config.syslog);
    assert_int_equal(f->config.log_level, 0);
    run_clean(f, "-sn auto -Oqn3 --daemon --write-ip=on --proxy-tlv=off");
    assert_int_equal(f->config.workers, 3);
    assert_true(f->config.daemon && f->config.announce_wanted[ANNOUNCE_IP]);
    assert_false(f->config.proxy_tlv);
    /* an optional argument needs the '='; here on is a PEM file */
    run_clean(f, "--daemon on");
    assert_int_equal(f->config.pem_count, 1);
    run_clean(f, "--user -n --group=--daemon"); /* an argument may look like an option */
    assert_string_equal(f->config.user, "-n");
    assert_string_equal(f->config.group, "--daemon");
}

/* Each option of hitch's help, by its long and its short name. */
static void every_option_of_hitch(void **state)
{
    struct fixture *f = *state;
    struct config *c = &f->config;

    run_clean(f, "--tls-protos=TLSv1.1,TLSv1.2 --ciphers=HIGH --prefer-server-ciphers=off --client");
    assert_int_equal(c->tls.versions, TLS_VERSION_1_1 | TLS_VERSION_1_2);
    assert_string_equal(c->tls.ciphers, "HIGH");
    assert_false(c->tls.prefer_server_ciphers);
    assert_true(c->client_mode);
    run_clean(f, "-c LOW -e auto -b /run/x -f [*]:1 -f [::1]:2+/c.pem -n auto -B -1 -k 5 -R 6");
    assert_string_equal(c->tls.ciphers, "LOW");
    assert_string_equal(c->ssl_engine, "auto");
    assert_string_equal(c->backend.path, "/run/x");
    assert_int_equal(c->frontend_count, 2);
    assert_string_equal(c->frontends[1].pems[0].cert, "/c.pem");
    assert_int_equal(c->workers, WORKERS_AUTO);
    assert_int_equal(c->backlog, -1);
    assert_int_equal(c->backend_refresh_s, 6);
    run_clean(f, "--backendrefresh=7 --backend-connect-timeout=8 --ssl-handshake-timeout=9 --recv-bufsize=10 "
                 "--send-bufsize=11 --enable-tcp-fastopen");
    assert_int_equal(c->backend_refresh_s, 7);
    assert_int_equal(c->backend_connect_timeout_s, 8);
    assert_int_equal(c->ssl_handshake_timeout_s, 9);
    assert_int_equal(c->recv_bufsize, 10);
    assert_int_equal(c->send_bufsize, 11);
    assert_true(c->tcp_fastopen);
    run_clean(f, "-r /r -u u -g g -q -L 2 -l /l -s --syslog-facility=mail -p /p --dbg-listen=/d");
    assert_string_equal(c->chroot_dir, "/r");
    assert_string_equal(c->user, "u");
    assert_string_equal(c->group, "g");
    assert_int_equal(c->log_level, 2);
    assert_string_equal(c->log_filename, "/l");
    assert_true(c->syslog);
    assert_string_equal(c->syslog_facility, "mail");
    assert_string_equal(c->pidfile, "/p");
    assert_string_equal(c->dbg_listen, "/d");
    run_clean(f, "--write-proxy-v1=off --write-proxy-v2 --write-proxy=on --proxy-proxy=off --sni-nomatch-abort "
                 "--alpn-protos=h2,http/1.1 -o /o --daemon=off");
    assert_true(c->announce_wanted[ANNOUNCE_PROXY_V2] && !c->announce_wanted[ANNOUNCE_PROXY_V1]);
    assert_true(c->tls.sni_nomatch_abort);
    assert_string_equal(c->alpn_protos, "h2,http/1.1");
    assert_string_equal(c->ocsp_dir, "/o");
    run_clean(f, "-C 100 -U [*]:1 -P [h]:2 -P [i]:3 -M eth0,2");
    assert_int_equal(c->session_cache, 100);
    assert_string_equal(c->shared_cache_listen, "[*]:1");
    assert_int_equal(c->shared_cache_peer_count, 2);
    assert_string_equal(c->shared_cache_if, "eth0,2");
    run_clean(f, "--shared-cache=5 --session-cache=6 --ssl-engine=x --backend-refresh=8 --quiet=no");
    assert_int_equal(c->session_cache, 6);
    assert_int_equal(c->log_level, 1);
}

/* hitch#379: what only the file could say. */
static void every_keyword_of_the_file_is_an_option(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *k = keyword_at(i);
        char line[256];

        if (k->at[SCOPE_TOP] == KEYWORD_NOT_HERE || k->type == KEYWORD_IGNORED ||
            strpbrk(k->example == NULL ? "" : k->example, " ") != NULL)
            continue;
        snprintf(line, sizeof line, "--%s=%s", k->name, k->example);
        if (run(f, NULL, line) != 0) {
            show_faults(f);
            fail_msg("refused: %s", line);
        }
        assert_non_null(conf_marks_find(&f->config.marks, keyword_holder(k)));
    }
    run_clean(
        f, "--ciphersuites=X --ecdh-curve=P-256 --pem-dir=/p --pem-dir-glob=*.pem --pem-file=a --proxy-authority=no");
    assert_string_equal(f->config.tls.ciphersuites, "X");
    assert_string_equal(f->config.pem_dir, "/p/");
    assert_false(f->config.proxy_authority);
}

static void abbreviations(void **state)
{
    struct fixture *f = *state;

    run_clean(f, "--front=[*]:1 --keep=5 --pid=/p --syslog --ocsp=/o --cipher=X --write-ip");
    assert_int_equal(f->config.frontend_count, 1);
    assert_int_equal(f->config.keepalive_s, 5);
    assert_string_equal(f->config.pidfile, "/p");
    assert_string_equal(f->config.ocsp_dir, "/o"); /* hitch has one --ocsp..., we have five */
    assert_string_equal(f->config.tls.ciphers, "X");
    run_clean(f, "--write-proxy");
    assert_true(f->config.announce_wanted[ANNOUNCE_PROXY_V2]);
    expect_error(f, "--log=3",
                 "command line: option '--log' is ambiguous; it may be one of --log-level --log-filename");
}

static void mistakes_get_a_hint(void **state)
{
    struct fixture *f = *state;

    expect_error(f, "--bakend=x", "command line: unknown option '--bakend': did you mean '--backend'?");
    expect_error(f, "--OBVIOUSLY_BROKEN_ARG", "command line: unknown option '--OBVIOUSLY_BROKEN_ARG'");
    expect_error(f, "--=3", "command line: unknown option '--'");
    expect_error(f, "-sX", "command line: unknown option '-X' in '-sX'");
    expect_error(f, "--backend", "command line: option '--backend' needs an argument: [HOST]:PORT or /PATH");
    expect_error(f, "-sn", "command line: option '-n' needs an argument: NUM|auto");
    expect_error(f, "--test=yes", "command line: option '--test' takes no argument");
    expect_error(f, "--private-key=x",
                 "command line: 'private-key' is no option: it stands in a pem-file block of a configuration file");
    error_clear(&f->error);
    assert_int_equal(run(f, NULL, "--workers=none --daemon=maybe"), -1);
    assert_int_equal(f->error.count, 2);
    assert_string_equal(f->error.faults[0].text, "command line: --workers wants a number from 1 to 1024, or auto, not "
                                                 "'none'; for example: --workers=auto");
    assert_string_equal(f->error.faults[1].text,
                        "command line: --daemon wants on or off, not 'maybe'; for example: --daemon=on");
    assert_true(f->config.is_faulty);
}

/* hitch ignores a wrong argument of these three, and so shall a script that has one. */
static void lax_switches(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(run(f, NULL, "--quiet=maybe --syslog=x --prefer-server-ciphers="), 0);
    assert_int_equal(f->error.count, 3);
    expect_fault(f, FAULT_WARNING, "--quiet=maybe is neither on nor off: ignored, as hitch does");
    assert_int_equal(f->config.log_level, 1);
    assert_false(f->config.syslog);
    run_clean(f, "--quiet=1 --syslog=T");
    assert_int_equal(f->config.log_level, 0);
    assert_true(f->config.syslog);
}

static void options_override_files(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(run(f, "workers = 2 backend = \"[h]:1\" tls-protos = TLSv1.2 frontend = \"[*]:1\" write-ip = on",
                         "--workers=3 -b [i]:2 --tls-protos=TLSv1.3 -f [*]:2 --write-ip=off"),
                     0);
    assert_int_equal(f->config.workers, 3);
    assert_string_equal(f->config.backend.host, "i");
    assert_int_equal(f->config.tls.versions, TLS_VERSION_1_3);
    assert_int_equal(f->config.frontend_count, 2); /* frontends add up, as in hitch */
    assert_false(f->config.announce_wanted[ANNOUNCE_IP]);
    assert_int_equal(run(f, "user = \"a\" ocsp-dir = \"/x\"", "--user= --ciphers= --ocsp-dir="), 0);
    assert_string_equal(f->config.user, "a");
    assert_null(f->config.ocsp_dir);
    assert_int_equal(run(f, NULL, "--backend="), -1);
    assert_int_equal(run(f, NULL, "--frontend="), -1);
}

static void old_protocol_options(void **state)
{
    struct fixture *f = *state;

    run_clean(f, "--tls");
    assert_int_equal(f->config.tls.versions, 15);
    assert_int_equal(run(f, NULL, "--ssl"), 0);
    expect_fault(f, FAULT_WARNING, "SSLv3 is not available");
    assert_int_equal(f->config.tls.versions, 15);
    assert_int_equal(run(f, NULL, "--tls --ssl"), -1);
    expect_fault(f, FAULT_ERROR, "--tls and --ssl are mutually exclusive");
    assert_int_equal(run(f, "tls-protos = TLSv1.2", "--tls"), -1);
    expect_fault(f, FAULT_ERROR, "cannot override tls-protos of a configuration file (t.conf:1)");
    assert_int_equal(run(f, "ssl = on", "--ssl"), -1);
    assert_int_equal(run(f, "tls = off", "--tls"), 0);
    assert_int_equal(run(f, NULL, "--tls --tls-protos=TLSv1.2"), 0);
    assert_int_equal(f->config.tls.versions, 15);
    /* names are looked for anywhere in the list */
    assert_int_equal(run(f, NULL, "--tls-protos=tlsv1.2TLSV1.3"), 0);
    assert_int_equal(f->config.tls.versions, TLS_VERSION_1_2 | TLS_VERSION_1_3);
    expect_fault(f, FAULT_WARNING, "'tlsv1.2TLSV1.3' in tls-protos is not the name of a protocol");
    assert_int_equal(run(f, NULL, "--tls-protos=TLSv9"), -1);
    assert_int_equal(run(f, NULL, "--tls-protos=SSLv3"), -1);
    assert_int_equal(run(f, NULL, "--tls-protos=SSLv3,TLSv1.2"), 0);
    assert_int_equal(f->config.tls.versions, TLS_VERSION_1_2);
}

static void values_must_be_printable(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(run(f, NULL, "--user=a\"b"), -1);
    assert_int_equal(run(f, NULL, "--user=a\nb"), -1);
    assert_int_equal(run(f, NULL, "a\033[1mb.pem"), -1);
}

/* The same argv serves every reload. */
static void may_be_parsed_again(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 3; i++) {
        run_clean(f, "--tls -n 2 x.pem");
        assert_int_equal(f->config.workers, 2);
        assert_int_equal(f->config.pem_count, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(actions),
        TEST(files_and_leftovers_keep_their_order),
        TEST(arguments_in_all_forms),
        TEST(every_option_of_hitch),
        TEST(every_keyword_of_the_file_is_an_option),
        TEST(abbreviations),
        TEST(mistakes_get_a_hint),
        TEST(lax_switches),
        TEST(options_override_files),
        TEST(old_protocol_options),
        TEST(values_must_be_printable),
        TEST(may_be_parsed_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
