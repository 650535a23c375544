/*
 * Any bytes as a configuration file: no crash, a fault for each failure, and --print-config parses to itself.
 *
 * The first byte chooses: even, the rest is a file; odd, the rest is a command line, one argument per line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "conf/cli.h"
#include "conf/config.h"
#include "conf/parse.h"
#include "conf/print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The config is in effect: print it, read that, print again. */
static void check_print(const struct config *config)
{
    struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
    struct error error = ERROR_INIT;
    struct config again;

    config_init(&again);
    config_print(config, &first);
    int result = config_parse_text(&again, "printed", first.data, first.length, &error);
    CHECK(result == 0);
    result = config_finish(&again, &error);
    CHECK(result == 0);
    config_print(&again, &second);
    CHECK(strcmp(first.data, second.data) == 0);
    config_clear(&again);
    error_clear(&error);
    strbuf_clear(&first);
    strbuf_clear(&second);
}

static void finish(struct config *config, struct error *error, bool is_good)
{
    if (config_finish(config, error) == 0 && is_good) {
        CHECK(!error_any(error));
        check_print(config);
    } else {
        CHECK(error_any(error));
    }
    for (size_t i = 0; i < error->count; i++)
        CHECK(strpbrk(error->faults[i].text, "\n\r") == NULL);
}

static void fuzz_file(const char *text, size_t size, struct config *config, struct error *error)
{
    bool is_good = config_parse_text(config, "fuzz", text, size, error) == 0;

    CHECK(is_good == !error_any(error));
    finish(config, error, is_good);
}

static void fuzz_command_line(const char *text, size_t size, struct config *config, struct error *error)
{
    enum { ARGUMENTS_MAX = 64 };
    char *copy = mem_strndup(text, size), *arguments[ARGUMENTS_MAX + 1];
    struct config_cli cli;
    int count = 0;

    arguments[count++] = copy + strlen(copy);
    for (char *line = copy; line != NULL && count < ARGUMENTS_MAX;) {
        char *newline = strchr(line, '\n');

        arguments[count++] = line;
        if (newline != NULL)
            *newline++ = '\0';
        line = newline;
    }
    arguments[count] = NULL;
    bool is_good = config_cli_parse(&cli, count, arguments, error) == 0;
    CHECK(is_good == !error_any(error));
    is_good = config_cli_apply(&cli, config, error) == 0 && is_good;
    CHECK(is_good == !error_any(error));
    finish(config, error, is_good);
    config_cli_clear(&cli);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = ERROR_INIT;
    struct config config;

    if (size == 0)
        return 0;
    config_init(&config);
    if (data[0] % 2 == 0)
        fuzz_file((const char *)data + 1, size - 1, &config, &error);
    else
        fuzz_command_line((const char *)data + 1, size - 1, &config, &error);
    config_clear(&config);
    error_clear(&error);
    return 0;
}
