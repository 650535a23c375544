/* The part of value.h that works on values already stored: print, compare, copy, free. */
#include "value.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

void value_print_string(struct strbuf *out, const char *text)
{
    size_t length = strlen(text), backslashes = 0;

    while (backslashes < length && text[length - 1 - backslashes] == '\\')
        backslashes++;
    /* A backslash before the closing quote would take it along; the value is cut at the first quote anyway. */
    strbuf_addf(out, "\"%s\"%s", text, backslashes % 2 == 1 ? "\"" : "");
}

void value_print_text(const struct keyword *keyword, const char *text, struct strbuf *out)
{
    if (value_is_text(keyword))
        value_print_string(out, text);
    else
        strbuf_adds(out, text);
}

static void print_versions(unsigned versions, struct strbuf *out)
{
    static const char *const names[] = {"TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"};
    const char *space = "";

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((versions & (1u << i)) == 0)
            continue;
        strbuf_addf(out, "%s%s", space, names[i]);
        space = " ";
    }
}

static void print_client_verify(enum client_verify verify, struct strbuf *out)
{
    switch (verify) {
    case CLIENT_VERIFY_NONE:
        strbuf_adds(out, "none");
        return;
    case CLIENT_VERIFY_OPTIONAL:
        strbuf_adds(out, "optional");
        return;
    case CLIENT_VERIFY_REQUIRED:
        strbuf_adds(out, "required");
        return;
    }
}

static void print_backend(const struct conf_backend *backend, struct strbuf *out)
{
    struct strbuf text = STRBUF_INIT;

    if (backend->path != NULL)
        strbuf_adds(&text, backend->path);
    else if (backend->port != NULL)
        strbuf_addf(&text, "[%s]:%s", backend->host != NULL ? backend->host : "*", backend->port);
    value_print_string(out, text.data);
    strbuf_clear(&text);
}

static const void *field_of(const struct keyword *keyword, enum keyword_scope at, const void *scope)
{
    CHECK(keyword->at[at] != KEYWORD_NOT_HERE);
    return (const char *)scope + keyword->at[at];
}

void value_print(const struct keyword *keyword, enum keyword_scope at, const void *scope, struct strbuf *out)
{
    const void *field = field_of(keyword, at, scope);
    const char *text;

    switch (keyword->type) {
    case KEYWORD_BOOL:
        strbuf_adds(out, *(const bool *)field ? "on" : "off");
        return;
    case KEYWORD_UINT:
        strbuf_addf(out, "%u", *(const unsigned *)field);
        return;
    case KEYWORD_INT:
        strbuf_addf(out, "%d", *(const int *)field);
        return;
    case KEYWORD_WORKERS:
        if (*(const unsigned *)field == WORKERS_AUTO)
            strbuf_adds(out, "auto");
        else
            strbuf_addf(out, "%u", *(const unsigned *)field);
        return;
    case KEYWORD_STRING:
    case KEYWORD_PATH:
    case KEYWORD_PATH_OR_NONE:
    case KEYWORD_DIRECTORY:
    case KEYWORD_ALPN:
    case KEYWORD_FACILITY:
    case KEYWORD_PORT:
    case KEYWORD_ENDPOINT:
        text = *(char *const *)field;
        value_print_string(out, text == NULL ? "" : text);
        return;
    case KEYWORD_STRING_OR_AUTO:
        text = *(char *const *)field;
        value_print_string(out, text == NULL ? "auto" : text);
        return;
    case KEYWORD_HOST:
        text = *(char *const *)field;
        value_print_string(out, text == NULL ? "*" : text);
        return;
    case KEYWORD_PROTOCOLS:
        print_versions(*(const unsigned *)field, out);
        return;
    case KEYWORD_CLIENT_VERIFY:
        print_client_verify(*(const enum client_verify *)field, out);
        return;
    case KEYWORD_BACKEND:
    case KEYWORD_REDIRECT:
        print_backend(field, out);
        return;
    case KEYWORD_PROTOCOLS_TLS:
    case KEYWORD_PROTOCOLS_SSL:
    case KEYWORD_QUIET:
    case KEYWORD_FRONTEND:
    case KEYWORD_PEM_FILE:
    case KEYWORD_ENDPOINT_LIST:
    case KEYWORD_IGNORED:
    case KEYWORD_ACTION:
        break;
    }
    CHECK(!"a keyword with one value");
}

bool value_is_default(const struct keyword *keyword, enum keyword_scope at, const void *scope)
{
    struct strbuf value = STRBUF_INIT, default_value = STRBUF_INIT;
    bool is_default;

    if (keyword->default_text == NULL)
        return false;
    value_print(keyword, at, scope, &value);
    value_print_text(keyword, keyword->default_text, &default_value);
    is_default = strcmp(value.data, default_value.data) == 0;
    strbuf_clear(&value);
    strbuf_clear(&default_value);
    return is_default;
}

void value_copy(const struct keyword *keyword, enum keyword_scope from_at, const void *from, enum keyword_scope to_at,
                void *to)
{
    const void *source = field_of(keyword, from_at, from);
    void *field = (char *)to + keyword->at[to_at];

    CHECK(keyword->at[to_at] != KEYWORD_NOT_HERE);
    switch (keyword->type) {
    case KEYWORD_BOOL:
        *(bool *)field = *(const bool *)source;
        return;
    case KEYWORD_UINT:
    case KEYWORD_PROTOCOLS:
        *(unsigned *)field = *(const unsigned *)source;
        return;
    case KEYWORD_CLIENT_VERIFY:
        *(enum client_verify *)field = *(const enum client_verify *)source;
        return;
    case KEYWORD_STRING:
    case KEYWORD_PATH:
    case KEYWORD_STRING_OR_AUTO:
        mem_replace(field, *(char *const *)source);
        return;
    case KEYWORD_INT:
    case KEYWORD_WORKERS:
    case KEYWORD_PATH_OR_NONE:
    case KEYWORD_DIRECTORY:
    case KEYWORD_ALPN:
    case KEYWORD_FACILITY:
    case KEYWORD_PROTOCOLS_TLS:
    case KEYWORD_PROTOCOLS_SSL:
    case KEYWORD_QUIET:
    case KEYWORD_FRONTEND:
    case KEYWORD_BACKEND:
    case KEYWORD_REDIRECT:
    case KEYWORD_PEM_FILE:
    case KEYWORD_HOST:
    case KEYWORD_PORT:
    case KEYWORD_ENDPOINT:
    case KEYWORD_ENDPOINT_LIST:
    case KEYWORD_IGNORED:
    case KEYWORD_ACTION:
        break;
    }
    CHECK(!"a type that is inherited");
}

static void clear_backend(struct conf_backend *backend)
{
    free(backend->host);
    free(backend->port);
    free(backend->path);
    memset(backend, 0, sizeof *backend);
}

static void clear_peers(struct config *config)
{
    for (size_t i = 0; i < config->shared_cache_peer_count; i++)
        free(config->shared_cache_peers[i]);
    free(config->shared_cache_peers);
    config->shared_cache_peers = NULL;
    config->shared_cache_peer_count = 0;
}

void value_clear(const struct keyword *keyword, enum keyword_scope at, void *scope)
{
    void *field = (char *)scope + keyword->at[at];

    switch (keyword->type) {
    case KEYWORD_STRING:
    case KEYWORD_PATH:
    case KEYWORD_PATH_OR_NONE:
    case KEYWORD_DIRECTORY:
    case KEYWORD_STRING_OR_AUTO:
    case KEYWORD_ALPN:
    case KEYWORD_FACILITY:
    case KEYWORD_HOST:
    case KEYWORD_PORT:
    case KEYWORD_ENDPOINT:
        mem_replace(field, NULL);
        return;
    case KEYWORD_BACKEND:
    case KEYWORD_REDIRECT:
        clear_backend(field);
        return;
    case KEYWORD_ENDPOINT_LIST:
        clear_peers(scope);
        return;
    case KEYWORD_BOOL:
    case KEYWORD_UINT:
    case KEYWORD_INT:
    case KEYWORD_WORKERS:
    case KEYWORD_PROTOCOLS:
    case KEYWORD_PROTOCOLS_TLS:
    case KEYWORD_PROTOCOLS_SSL:
    case KEYWORD_CLIENT_VERIFY:
    case KEYWORD_QUIET:
    case KEYWORD_IGNORED:
    case KEYWORD_ACTION:
    case KEYWORD_FRONTEND: /* by config_clear() */
    case KEYWORD_PEM_FILE:
        return;
    }
}
