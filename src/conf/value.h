/*
 * value.h: one keyword's value, by its type: from text, to text, copied, freed. For this room only.
 */
#ifndef HALTER_CONF_VALUE_H
#define HALTER_CONF_VALUE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "conf/config.h"
#include "conf/keyword.h"

/* What a record applies to. */
struct value_target {
    enum keyword_scope scope;
    struct config *config;          /* always */
    struct conf_frontend *frontend; /* in a frontend block, and in the pem-file blocks in it */
    struct conf_pem *pem;           /* in a pem-file block */
    bool is_option;                 /* from the command line */
};

/*
 * Parses text and stores it where target and keyword say, with a mark. An empty text leaves most values alone.
 * Returns 0, or -1 with a fault added at place and nothing changed.
 */
int value_set(const struct value_target *target, const struct keyword *keyword, const char *text,
              const struct place *place, struct error *error) __attribute__((warn_unused_result));

/* Stores the default without a mark. */
void value_set_default(struct config *config, const struct keyword *keyword);

/*
 * Adds "daemon wants on or off, not 'x' (detail); for example: daemon = on". Returns -1.
 * found is as it shall be shown; NULL: there is no value. detail may be NULL.
 */
int value_wants(const struct keyword *keyword, bool is_option, const char *found, const char *detail,
                const struct place *place, struct error *error);

/* True when a bare value of this keyword may have any characters. */
bool value_is_text(const struct keyword *keyword);

/* The names that syslog-facility may have, NULL behind the last. */
const char *const *value_facilities(void);

/* The version that a word of tls-protos names: a bit, 0 for SSLv3, -1 for no protocol. */
int value_protocol(const char *word, size_t length);

/* scope is a struct config, conf_frontend or conf_pem, as `at` says. The text is as in a file, quotes and all. */
void value_print(const struct keyword *keyword, enum keyword_scope at, const void *scope, struct strbuf *out);
bool value_is_default(const struct keyword *keyword, enum keyword_scope at, const void *scope);
void value_copy(const struct keyword *keyword, enum keyword_scope from_at, const void *from, enum keyword_scope to_at,
                void *to);
void value_clear(const struct keyword *keyword, enum keyword_scope at, void *scope);

/* text in quotes, so that it is read back as it is. */
void value_print_string(struct strbuf *out, const char *text);

/* The default or any other text of keyword as it would stand in a file. */
void value_print_text(const struct keyword *keyword, const char *text, struct strbuf *out);

#endif
