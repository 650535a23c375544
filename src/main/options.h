/*
 * options.h: from argv to a struct config: the command line, and the files that it names.
 *
 * The command line is parsed once; the files are read anew at each load, so that a reload sees their changes (standard
 * input, which cannot be read twice, is remembered).
 */
#ifndef HALTER_SRC_MAIN_OPTIONS_H
#define HALTER_SRC_MAIN_OPTIONS_H

#include "base/error.h"
#include "conf/cli.h"
#include "conf/config.h"

struct options {
    struct config_cli cli;
    char *standard_input; /* its text, once read; NULL */
    size_t standard_input_length;
};

/* 0, or -1 with all faults added. Call options_clear() in any case. */
int options_parse(struct options *options, int argc, char *const argv[], struct error *errors)
    __attribute__((warn_unused_result));
void options_clear(struct options *options);

/* A load_config_function (master/prepare.h): arg is the struct options. */
int options_load(void *arg, struct config *config, struct error *errors) __attribute__((warn_unused_result));

#endif
