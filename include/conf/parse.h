/*
 * parse.h: hitch.conf text into a struct config.
 *
 * For: hitch.conf of hitch 1.x, stud's "key = value" files, and halter's own keywords. Not for: reading files (the
 * caller does), nor checks across keywords (config_finish()).
 *
 *     file   = { record }
 *     record = keyword '=' value
 *     value  = number | switch | word | string | '{' { record } '}'
 *
 * '#' starts a comment, newlines mean nothing, a string in '"' ends on its line and knows no escapes. Whatever hitch
 * accepts is accepted with hitch's meaning; characters that hitch silently skips are skipped with a warning. Also
 * accepted, where the meaning is clear: strings and numbers with or without quotes, an empty file.
 */
#ifndef HALTER_CONF_PARSE_H
#define HALTER_CONF_PARSE_H

#include <stddef.h>

#include "base/error.h"
#include "conf/config.h"

/*
 * Adds what the text says to config. file_name is for messages and is copied.
 * Returns 0, or -1 with every fault of the text added ("file:line:col: ..."); config then holds the good records, is
 * marked faulty, and is fit for further parsing and config_finish() in order to find more faults, but not for use.
 * Warnings may be added in either case.
 */
int config_parse_text(struct config *config, const char *file_name, const char *text, size_t length,
                      struct error *error) __attribute__((warn_unused_result));

#endif
