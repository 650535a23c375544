#include "lex.h"

#include <string.h>

#include "text.h"

void lex_init(struct lexer *lexer, const char *file, const char *text, size_t length, struct error *error)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";

    if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        length -= 3;
    }
    lexer->at = text;
    lexer->end = text + length;
    lexer->place = (struct place){.file = file, .line = 1, .col = 1};
    lexer->error = error;
    lexer->is_silent = false;
}

static void advance(struct lexer *lexer, size_t count)
{
    for (; count > 0; count--) {
        if (*lexer->at == '\n') {
            lexer->place.line++;
            lexer->place.col = 1;
        } else {
            lexer->place.col++;
        }
        lexer->at++;
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
}

/* What a bare text may consist of. ';' ends it: hitch's own examples have `ocsp-resp-tmo = 10;`. */
static bool is_text(char c)
{
    unsigned char byte = (unsigned char)c;

    return byte > ' ' && byte != 0x7f && strchr("{}=#\";", c) == NULL;
}

static bool is_word_char(char c, enum lex_mode mode)
{
    return is_plain(c) || (mode == LEX_TEXT && is_text(c));
}

/* A character that hitch's lexer skips without a word. */
static bool is_stray(char c, enum lex_mode mode)
{
    return !is_blank(c) && !is_word_char(c, mode) && (c == '\0' || strchr("{}=#\"", c) == NULL);
}

static void skip_comment(struct lexer *lexer)
{
    const char *newline = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));

    advance(lexer, (size_t)((newline == NULL ? lexer->end : newline) - lexer->at));
}

static void skip_strays(struct lexer *lexer, enum lex_mode mode)
{
    const char *start = lexer->at;
    struct place place = lexer->place;
    char shown[EXCERPT_MAX];

    while (lexer->at < lexer->end && is_stray(*lexer->at, mode))
        advance(lexer, 1);
    if (!lexer->is_silent)
        error_warn(lexer->error, &place, "stray '%s' is skipped, as hitch does; remove it",
                   text_excerpt(shown, start, (size_t)(lexer->at - start)));
}

static void skip_to_token(struct lexer *lexer, enum lex_mode mode)
{
    while (lexer->at < lexer->end) {
        if (is_blank(*lexer->at))
            advance(lexer, 1);
        else if (*lexer->at == '#')
            skip_comment(lexer);
        else if (is_stray(*lexer->at, mode))
            skip_strays(lexer, mode);
        else
            return;
    }
}

/* '"' at the cursor. A backslash takes the next character with it, but stays in the value, as in hitch. */
static void lex_string(struct lexer *lexer, struct token *token)
{
    const char *p = lexer->at + 1;

    while (p < lexer->end && *p != '"' && *p != '\n')
        p += *p == '\\' && p + 1 < lexer->end && p[1] != '\n' ? 2 : 1;
    if (p >= lexer->end || *p != '"') {
        token->kind = TOKEN_BROKEN;
        if (!lexer->is_silent)
            error_add(lexer->error, &token->place, "this string is not closed: a '\"' must follow on the same line");
        p = p > lexer->end ? lexer->end : p;
        advance(lexer, (size_t)(p - lexer->at));
        return;
    }
    token->kind = TOKEN_STRING;
    token->text = lexer->at + 1;
    token->length = (size_t)((const char *)memchr(token->text, '"', (size_t)(p + 1 - token->text)) - token->text);
    advance(lexer, (size_t)(p + 1 - lexer->at));
}

/* 'text' on one line; false when the quote is not closed. */
static bool lex_single_quoted(struct lexer *lexer, struct token *token)
{
    const char *p = lexer->at + 1;
    char shown[EXCERPT_MAX];

    while (p < lexer->end && *p != '\'' && *p != '\n' && *p != '"' && *p != '#')
        p++;
    if (p >= lexer->end || *p != '\'')
        return false;
    token->kind = TOKEN_STRING;
    token->text = lexer->at + 1;
    token->length = (size_t)(p - token->text);
    if (!lexer->is_silent)
        error_warn(lexer->error, &token->place, "single quotes are not part of the syntax; write \"%s\"",
                   text_excerpt(shown, token->text, token->length));
    advance(lexer, token->length + 2);
    return true;
}

static void lex_word(struct lexer *lexer, struct token *token, enum lex_mode mode)
{
    const char *p = lexer->at;

    while (p < lexer->end && is_word_char(*p, mode))
        p++;
    /* a comma at the end separates, it does not belong to the text */
    while (p > lexer->at + 1 && p[-1] == ',')
        p--;
    token->kind = TOKEN_WORD;
    token->text = lexer->at;
    token->length = (size_t)(p - lexer->at);
    advance(lexer, token->length);
}

struct token lex_next(struct lexer *lexer, enum lex_mode mode)
{
    skip_to_token(lexer, mode);

    struct token token = {.kind = TOKEN_END, .text = lexer->at, .length = 0, .place = lexer->place};

    if (lexer->at == lexer->end)
        return token;
    switch (*lexer->at) {
    case '{':
        token.kind = TOKEN_OPEN;
        break;
    case '}':
        token.kind = TOKEN_CLOSE;
        break;
    case '=':
        token.kind = TOKEN_EQUAL;
        break;
    case '"':
        lex_string(lexer, &token);
        return token;
    case '\'':
        if (!lex_single_quoted(lexer, &token))
            lex_word(lexer, &token, mode);
        return token;
    default:
        lex_word(lexer, &token, mode);
        return token;
    }
    token.length = 1;
    advance(lexer, 1);
    return token;
}

struct token lex_peek(const struct lexer *lexer, enum lex_mode mode)
{
    struct lexer ahead = *lexer;

    ahead.is_silent = true;
    return lex_next(&ahead, mode);
}

bool lex_is_at_record(const struct lexer *lexer)
{
    struct lexer ahead = *lexer;

    ahead.is_silent = true;
    return lex_next(&ahead, LEX_WORD).kind == TOKEN_WORD && lex_next(&ahead, LEX_WORD).kind == TOKEN_EQUAL;
}
