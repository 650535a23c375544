/*
 * main.c: the entry of the process: looks at argv and hands over.
 *
 * Exit statuses are hitch's: 0, 1 for any fault, 2 when the log file cannot be opened.
 */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "conf/print.h"
#include "demo.h"
#include "master/master.h"
#include "options.h"
#include "os/faults.h"
#include "os/process.h"
#include "os/resolve.h"
#include "tls/tls_lib.h"
#include "variant.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int print_text(struct strbuf *text)
{
    int status = fwrite(text->data, 1, text->length, stdout) == text->length && fflush(stdout) == 0 ? 0 : 1;

    strbuf_clear(text);
    return status;
}

static int print_version(void)
{
    struct strbuf text = STRBUF_INIT;
    char library[128];

    strbuf_addf(&text, "halter %s\n", variant_version());
    strbuf_addf(&text, "variant: %s\n", variant_name());
    tls_lib_version(library, sizeof library);
    strbuf_addf(&text, "TLS: %s\n", library);
    master_loop_version(library, sizeof library);
    strbuf_addf(&text, "event loop: %s\n", library);
    strbuf_addf(&text, "resolver: c-ares %s\n", resolve_library_version());
    strbuf_addf(&text, "HTTP: %s\n", variant_http_version() != NULL ? variant_http_version() : "not built in");
    strbuf_addf(&text, "malloc: %s\n", variant_malloc_version() != NULL ? variant_malloc_version() : "the C library's");
    return print_text(&text);
}

static int print_help(const char *program, int status)
{
    struct strbuf text = STRBUF_INIT;

    config_help_print(&text, program);
    return print_text(&text) == 0 ? status : 1;
}

static int print_effective_config(struct options *options)
{
    struct strbuf text = STRBUF_INIT;
    struct error errors = ERROR_INIT;
    struct config config;
    int status = 1;

    config_init(&config);
    if (options_load(options, &config, &errors) == 0) {
        config_print(&config, &text);
        status = print_text(&text);
    }
    faults_print(&errors);
    error_clear(&errors);
    config_clear(&config);
    return status;
}

/* hitch's words, on standard error as there: scripts look for them. */
static int test_config(struct options *options, const char *program)
{
    struct error errors = ERROR_INIT;
    struct tls_ticket_keys keys;
    struct prepare_options prepare = {.load = options_load,
                                      .arg = options,
                                      .keys = &keys,
                                      .filter_ops = variant_filter_ops(),
                                      .purpose = PREPARE_TEST,
                                      .pidfile = NULL};
    struct prepared *prepared = NULL;
    bool log_is_faulty = false;

    fputs("Trying to initialize SSL contexts with your certificates\n", stderr);
    if (tls_ticket_keys_make(&keys, &errors) == 0)
        prepared = prepared_new(&prepare, &log_is_faulty, &errors);
    faults_print(&errors);
    error_clear(&errors);
    if (prepared == NULL)
        return log_is_faulty ? 2 : 1;
    prepared_free(prepared);
    fprintf(stderr, "%s configuration looks ok.\n", base_name(program));
    return 0;
}

static int run(struct options *options)
{
    struct master_setup setup = {
        .version = variant_version(), .filter_ops = variant_filter_ops(), .load_config = options_load, .arg = options};

    return master_run(&setup);
}

static int act(struct options *options, const char *program)
{
    int status = 1;

    switch (options->cli.action) {
    case CLI_RUN:
        status = run(options);
        break;
    case CLI_TEST:
        status = test_config(options, program);
        break;
    case CLI_PRINT_CONFIG:
        status = print_effective_config(options);
        break;
    case CLI_VERSION:
        status = print_version();
        break;
    case CLI_HELP:
        status = print_help(program, 0);
        break;
    case CLI_USAGE:
        status = print_help(program, 1);
        break;
    }
    return status;
}

int main(int argc, char **argv)
{
    const char *program = argc > 0 ? argv[0] : "halter";
    struct error errors = ERROR_INIT;
    struct options options;
    int status = 1;

    if (process_open_standard_fds() < 0)
        return 1;
    tls_lib_init();
    if (argc > 1 && strcmp(argv[1], "demo") == 0)
        return demo_run(argc - 1, argv + 1);
    int parsed = options_parse(&options, argc, argv, &errors);
    faults_print(&errors);
    error_clear(&errors);
    if (parsed == 0)
        status = act(&options, program);
    options_clear(&options);
    return status;
}
