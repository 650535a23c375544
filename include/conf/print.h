/*
 * print.h: the configuration and the help as text.
 */
#ifndef HALTER_CONF_PRINT_H
#define HALTER_CONF_PRINT_H

#include "base/strbuf.h"
#include "conf/config.h"

/*
 * The effective configuration (after config_finish()) in hitch.conf's syntax. It parses to itself: reading the text,
 * finishing and printing again gives the same text. Values that are the default say so in a comment. Certificates that
 * exist only in memory are left out.
 */
void config_print(const struct config *config, struct strbuf *out);

/* The text of --help. program is argv[0]; its last component is shown. */
void config_help_print(struct strbuf *out, const char *program);

#endif
