#include "conf/parse.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "conf/keyword.h"
#include "lex.h"
#include "text.h"
#include "value.h"

enum { FAULT_COUNT_MAX = 200 }; /* then the text is not a configuration, and more of them tell nothing */

struct parser {
    struct lexer lexer;
    struct error *error;
    struct value_target target;
    size_t faults_before;
    bool has_failed;
};

static void parse_records(struct parser *p);

static bool has_too_many_faults(const struct parser *p)
{
    return p->error->count - p->faults_before > FAULT_COUNT_MAX;
}

/* For messages: "'abc'", "'}'" or "the end of the file". */
static const char *token_text(char *buffer, const struct token *token)
{
    static const char end[] = "the end of the file";

    if (token->kind == TOKEN_END)
        return end;
    text_excerpt(buffer + 1, token->text, token->length > EXCERPT_MAX - 3 ? EXCERPT_MAX - 3 : token->length);
    buffer[0] = '\'';
    memcpy(buffer + strlen(buffer), "'", 2);
    return buffer;
}

enum { TOKEN_TEXT_MAX = EXCERPT_MAX + 8 };

/* The '{' has been read; reads past its '}'. Says nothing of what stands in it. */
static void skip_block(struct parser *p)
{
    bool was_silent = p->lexer.is_silent;

    p->lexer.is_silent = true;
    for (size_t depth = 1; depth > 0;) {
        struct token token = lex_next(&p->lexer, LEX_WORD);

        if (token.kind == TOKEN_END)
            break;
        if (token.kind == TOKEN_OPEN)
            depth++;
        else if (token.kind == TOKEN_CLOSE)
            depth--;
    }
    p->lexer.is_silent = was_silent;
}

/* After a fault: on to where a record begins, the block ends or a new line has begun. Says nothing more. */
static void skip_to_record(struct parser *p)
{
    bool was_silent = p->lexer.is_silent;
    unsigned line = p->lexer.place.line;

    p->lexer.is_silent = true;
    while (!lex_is_at_record(&p->lexer)) {
        struct token token = lex_peek(&p->lexer, LEX_WORD);

        if (token.kind == TOKEN_END || token.kind == TOKEN_CLOSE || token.place.line > line)
            break;
        lex_next(&p->lexer, LEX_WORD);
        if (token.kind == TOKEN_OPEN)
            skip_block(p);
    }
    p->lexer.is_silent = was_silent;
}

/* The text as a string of its own. A NUL becomes another character that no value may have. */
static char *token_copy(const struct token *token)
{
    char *text = mem_strndup(token->text, token->length);

    for (size_t i = 0; i < token->length; i++) {
        if (text[i] == '\0')
            text[i] = '\1';
    }
    return text;
}

static int store(struct parser *p, const struct keyword *keyword, const struct token *token)
{
    char *text = token_copy(token);
    int result = value_set(&p->target, keyword, text, &token->place, p->error);

    free(text);
    return result;
}

static void close_block(struct parser *p, const struct token *open)
{
    struct token token = lex_next(&p->lexer, LEX_WORD);

    if (token.kind != TOKEN_CLOSE) {
        error_add(p->error, &open->place, "this block is not closed: a '}' is missing");
        p->has_failed = true;
    }
}

static void parse_frontend_block(struct parser *p, const struct place *place)
{
    struct config *config = p->target.config;
    struct value_target outer = p->target;
    struct token open = lex_next(&p->lexer, LEX_WORD);
    struct conf_frontend *frontend = config_frontend_add(config, NULL, NULL, place);
    bool had_failed = p->has_failed;

    p->has_failed = false;
    p->target.scope = SCOPE_FRONTEND;
    p->target.frontend = frontend;
    parse_records(p);
    close_block(p, &open);
    p->target = outer;
    if (frontend->port == NULL) {
        if (!p->has_failed)
            error_add(p->error, place, "this frontend has no port; for example: port = \"443\"");
        p->has_failed = true;
        conf_frontend_clear(frontend);
        config->frontend_count--;
    }
    p->has_failed = p->has_failed || had_failed;
}

static void parse_pem_block(struct parser *p, const struct place *place)
{
    struct value_target outer = p->target;
    struct conf_frontend *frontend = outer.scope == SCOPE_FRONTEND ? outer.frontend : NULL;
    struct token open = lex_next(&p->lexer, LEX_WORD);
    struct conf_pem *pem = config_pem_add(outer.config, frontend, place);
    bool had_failed = p->has_failed;

    p->has_failed = false;
    p->target.scope = SCOPE_PEM;
    p->target.pem = pem;
    parse_records(p);
    close_block(p, &open);
    p->target = outer;
    if (pem->cert == NULL) {
        if (!p->has_failed)
            error_add(p->error, place,
                      "this pem-file has no certificate; for example: cert = \"/etc/halter/site.pem\"");
        p->has_failed = true;
        conf_pem_clear(pem);
        if (frontend == NULL)
            outer.config->pem_count--;
        else
            frontend->pem_count--;
    }
    p->has_failed = p->has_failed || had_failed;
}

/* One or more words, up to the next record. They may also stand in one string. */
static int parse_protocols(struct parser *p, const struct keyword *keyword)
{
    struct token first = lex_peek(&p->lexer, LEX_WORD);
    struct strbuf words = STRBUF_INIT;
    char buffer[TOKEN_TEXT_MAX];
    int result = 0;

    while (!lex_is_at_record(&p->lexer)) {
        struct token token = lex_peek(&p->lexer, LEX_WORD);

        if (token.kind != TOKEN_WORD && token.kind != TOKEN_STRING)
            break;
        lex_next(&p->lexer, LEX_WORD);
        if (token.kind == TOKEN_WORD && value_protocol(token.text, token.length) < 0)
            result = value_wants(keyword, false, token_text(buffer, &token), NULL, &token.place, p->error);
        strbuf_add(&words, " ", words.length > 0 ? 1 : 0);
        strbuf_add(&words, token.text, token.length);
    }
    if (result == 0) {
        first.text = words.data;
        first.length = words.length;
        result = store(p, keyword, &first);
    }
    strbuf_clear(&words);
    return result;
}

static int parse_simple_value(struct parser *p, const struct keyword *keyword)
{
    enum lex_mode mode = value_is_text(keyword) ? LEX_TEXT : LEX_WORD;
    struct token token = lex_next(&p->lexer, mode);
    char buffer[TOKEN_TEXT_MAX];

    switch (token.kind) {
    case TOKEN_WORD:
        return store(p, keyword, &token);
    case TOKEN_STRING:
        if (token.length == 0 && mode == LEX_WORD)
            return value_wants(keyword, false, "\"\"", NULL, &token.place, p->error);
        return store(p, keyword, &token);
    case TOKEN_OPEN:
        value_wants(keyword, false, "a block", NULL, &token.place, p->error);
        skip_block(p);
        return -1;
    case TOKEN_EQUAL:
        return value_wants(keyword, false, token_text(buffer, &token), NULL, &token.place, p->error);
    case TOKEN_BROKEN:
    case TOKEN_END:
    case TOKEN_CLOSE:
        break;
    }
    return -1;
}

/* The keyword and its '=' have been read. */
static int parse_value(struct parser *p, const struct keyword *keyword, const struct token *word)
{
    struct token next = lex_peek(&p->lexer, LEX_TEXT);

    if (next.kind == TOKEN_END || next.kind == TOKEN_CLOSE || lex_is_at_record(&p->lexer))
        return value_wants(keyword, false, NULL, NULL, &word->place, p->error);
    if (next.kind == TOKEN_OPEN && keyword->type == KEYWORD_FRONTEND) {
        parse_frontend_block(p, &word->place);
        return 0;
    }
    if (next.kind == TOKEN_OPEN && keyword->type == KEYWORD_PEM_FILE) {
        parse_pem_block(p, &word->place);
        return 0;
    }
    if ((next.kind == TOKEN_WORD || next.kind == TOKEN_STRING) && keyword->type == KEYWORD_PROTOCOLS)
        return parse_protocols(p, keyword);
    return parse_simple_value(p, keyword);
}

static void fail_unknown(struct parser *p, const struct token *word)
{
    char shown[EXCERPT_MAX];
    const char *likely = keyword_suggest(word->text, word->length, p->target.scope);

    text_excerpt(shown, word->text, word->length);
    if (likely != NULL)
        error_add(p->error, &word->place, "unknown keyword '%s': did you mean '%s'?", shown, likely);
    else
        error_add(p->error, &word->place, "unknown keyword '%s'", shown);
}

static void fail_scope(struct parser *p, const struct keyword *keyword, const struct token *word)
{
    static const char *const here[SCOPE_COUNT] = {"at the top level", "in a frontend block", "in a pem-file block"};
    struct strbuf scopes = STRBUF_INIT;

    keyword_scopes_print(keyword, &scopes);
    error_add(p->error, &word->place, "%s cannot stand %s, only %s", keyword->name, here[p->target.scope], scopes.data);
    strbuf_clear(&scopes);
}

/* Reads a keyword and its '='. NULL when there is none of use here; the fault has been added. */
static const struct keyword *parse_keyword(struct parser *p, struct token *word)
{
    char buffer[TOKEN_TEXT_MAX];

    *word = lex_next(&p->lexer, LEX_WORD);
    if (word->kind == TOKEN_BROKEN)
        return NULL;
    if (word->kind == TOKEN_CLOSE) {
        error_add(p->error, &word->place, "this '}' closes nothing: no block is open");
        return NULL;
    }
    if (word->kind == TOKEN_OPEN)
        skip_block(p);
    const struct keyword *keyword = word->kind == TOKEN_WORD ? keyword_find(word->text, word->length) : NULL;
    bool has_equal = word->kind == TOKEN_WORD && lex_peek(&p->lexer, LEX_WORD).kind == TOKEN_EQUAL;
    if (!has_equal && keyword != NULL) {
        error_add(p->error, &word->place, "a '=' is missing after %s", keyword->name);
        return NULL;
    }
    if (!has_equal) {
        error_add(p->error, &word->place,
                  "%s is not expected here: a record is KEYWORD = VALUE, and a text with blanks needs \"\"",
                  token_text(buffer, word));
        return NULL;
    }
    lex_next(&p->lexer, LEX_WORD);
    if (keyword == NULL || keyword->type == KEYWORD_ACTION)
        fail_unknown(p, word);
    else if (keyword->at[p->target.scope] == KEYWORD_NOT_HERE)
        fail_scope(p, keyword, word);
    else
        return keyword;
    if (lex_peek(&p->lexer, LEX_WORD).kind == TOKEN_OPEN) {
        lex_next(&p->lexer, LEX_WORD);
        skip_block(p);
    }
    return NULL;
}

static void parse_record(struct parser *p)
{
    struct token word;
    const struct keyword *keyword = parse_keyword(p, &word);

    if (keyword == NULL || parse_value(p, keyword, &word) < 0) {
        p->has_failed = true;
        skip_to_record(p);
    }
}

/* Up to the end, or to the '}' of the block. */
static void parse_records(struct parser *p)
{
    for (;;) {
        struct token token = lex_peek(&p->lexer, LEX_WORD);

        if (token.kind == TOKEN_END) {
            lex_next(&p->lexer, LEX_WORD); /* for warnings of what stands before the end */
            return;
        }
        if (token.kind == TOKEN_CLOSE && p->target.scope != SCOPE_TOP)
            return;
        if (has_too_many_faults(p)) {
            error_add(p->error, &token.place, "too many faults: the rest of the file has not been read");
            p->has_failed = true;
            p->lexer.at = p->lexer.end;
            return;
        }
        parse_record(p);
    }
}

int config_parse_text(struct config *config, const char *file_name, const char *text, size_t length,
                      struct error *error)
{
    struct parser parser = {
        .error = error,
        .target = {.scope = SCOPE_TOP, .config = config},
        .faults_before = error->count,
    };
    /* all places point to the config's own copy of the name */
    const char *own_name = config_place(config, file_name, 0, 0).file;

    lex_init(&parser.lexer, own_name, text, length, error);
    parse_records(&parser);
    if (!parser.has_failed)
        return 0;
    config->is_faulty = true;
    return -1;
}
