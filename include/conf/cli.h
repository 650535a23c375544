/*
 * cli.h: the command line, as hitch and stud have it, from the table of keywords.
 *
 * Pure and re-entrant: it may be parsed again at each reload. Not for: subcommands (main looks at argv[1] before), nor
 * for reading the files that --config names.
 *
 *     struct config_cli cli;
 *     if (config_cli_parse(&cli, argc, argv, &errors) == 0 && cli.action == CLI_RUN) {
 *         for each cli.config_files[i]: read it, config_parse_text(&config, ...)
 *         config_cli_apply(&cli, &config, &errors);
 *     }
 *     config_cli_clear(&cli);
 *
 * Syntax: options and PEM files in any order, "--" ends the options, "--name=value", "--name value", "-n value",
 * "-nvalue", "-Oqs"; a long option may be shortened as far as it stays unique (among hitch's own options first).
 * Options override the files, whatever the order. Leftover arguments are PEM files; the last one is the default.
 */
#ifndef HALTER_CONF_CLI_H
#define HALTER_CONF_CLI_H

#include <stddef.h>

#include "base/error.h"
#include "conf/config.h"
#include "conf/keyword.h"

enum cli_action {
    CLI_RUN,
    CLI_TEST,         /* -t */
    CLI_PRINT_CONFIG, /* --print-config; beats -t */
    CLI_VERSION,      /* -V or -h, whichever came first; beat all others */
    CLI_HELP,
    CLI_USAGE, /* no argument at all: print the help, but exit 1 as hitch does */
};

struct config_cli_setting {
    const struct keyword *keyword;
    char *value;
};

struct config_cli {
    enum cli_action action;
    char **config_files; /* in order; "-" is standard input */
    size_t config_file_count;
    struct config_cli_setting *settings; /* in order */
    size_t setting_count;
    char **pem_files; /* the leftover arguments, in order */
    size_t pem_file_count;
};

/*
 * argv as main() gets it; nothing of it is kept. Always initialises cli: call config_cli_clear() in any case.
 * Returns 0, or -1 with all faults added.
 */
int config_cli_parse(struct config_cli *cli, int argc, char *const argv[], struct error *error)
    __attribute__((warn_unused_result));

/*
 * Sets in config what the options say; to be called after the files have been parsed, once per config.
 * Returns 0, or -1 with all faults added (and config marked faulty).
 */
int config_cli_apply(const struct config_cli *cli, struct config *config, struct error *error)
    __attribute__((warn_unused_result));

void config_cli_clear(struct config_cli *cli);

#endif
