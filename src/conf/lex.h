/*
 * lex.h: the words of hitch.conf. For parse.c only.
 *
 * The reader says what it looks for, because hitch's bare words are narrower than what people write: a keyword, a plain
 * word (numbers, switches, protocol names), or text (anything up to a blank, as in stud's files).
 */
#ifndef HALTER_CONF_LEX_H
#define HALTER_CONF_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_STRING, /* text is what stands between the quotes, cut at the first inner quote */
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_EQUAL,
    TOKEN_BROKEN, /* an unclosed string; the fault has been added */
};

struct token {
    enum token_kind kind;
    const char *text; /* borrowed from the input, not terminated */
    size_t length;
    struct place place;
};

enum lex_mode {
    LEX_WORD, /* letters, digits and - _ . */
    LEX_TEXT, /* the same and most other characters, or in single quotes */
};

struct lexer {
    const char *at;
    const char *end;
    struct place place; /* of *at */
    struct error *error;
    bool is_silent; /* adds no faults: for looking ahead */
};

/* text must outlive the lexer; file is borrowed. */
void lex_init(struct lexer *lexer, const char *file, const char *text, size_t length, struct error *error);

struct token lex_next(struct lexer *lexer, enum lex_mode mode);

/* What lex_next() would return; nothing is consumed or reported. */
struct token lex_peek(const struct lexer *lexer, enum lex_mode mode);

/* True when the next two tokens are a word and '=': a record begins here. */
bool lex_is_at_record(const struct lexer *lexer);

#endif
