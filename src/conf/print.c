#include "conf/print.h"

#include <string.h>

#include "conf/keyword.h"
#include "value.h"

static void print_line(const struct keyword *keyword, enum keyword_scope at, const void *scope, const char *indent,
                       struct strbuf *out)
{
    strbuf_addf(out, "%s%s = ", indent, keyword->name);
    value_print(keyword, at, scope, out);
    if (at == SCOPE_TOP && value_is_default(keyword, at, scope))
        strbuf_adds(out, "  # default");
    strbuf_adds(out, "\n");
}

/* Only what stands in its own block: the rest is inherited again when this is read. */
static void print_pem(const struct conf_pem *pem, const char *indent, const char *inner, struct strbuf *out)
{
    const struct keyword *cert = keyword_find("cert", 4);
    bool has_more = false;

    if (pem->cert == NULL)
        return;
    for (size_t i = 0; i < pem->marks.count; i++)
        has_more = has_more || pem->marks.items[i].keyword != cert;
    strbuf_addf(out, "%spem-file = ", indent);
    if (!has_more) {
        value_print_string(out, pem->cert);
        strbuf_adds(out, "\n");
        return;
    }
    strbuf_adds(out, "{\n");
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (keyword == cert || conf_marks_find(&pem->marks, keyword) != NULL)
            print_line(keyword, SCOPE_PEM, pem, inner, out);
    }
    strbuf_addf(out, "%s}\n", indent);
}

static void print_frontend(const struct conf_frontend *frontend, struct strbuf *out)
{
    strbuf_adds(out, "frontend = {\n");
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (keyword->at[SCOPE_FRONTEND] == KEYWORD_NOT_HERE || keyword->same_as != NULL)
            continue;
        if (keyword->type == KEYWORD_PEM_FILE) {
            for (size_t j = 0; j < frontend->pem_count; j++)
                print_pem(&frontend->pems[j], "    ", "        ", out);
        } else {
            print_line(keyword, SCOPE_FRONTEND, frontend, "    ", out);
        }
    }
    strbuf_adds(out, "}\n");
}

static void print_top(const struct keyword *keyword, const struct config *config, struct strbuf *out)
{
    if (keyword->type == KEYWORD_FRONTEND) {
        for (size_t i = 0; i < config->frontend_count; i++)
            print_frontend(&config->frontends[i], out);
    } else if (keyword->type == KEYWORD_PEM_FILE) {
        for (size_t i = 0; i < config->pem_count; i++)
            print_pem(&config->pems[i], "", "    ", out);
    } else if (keyword->type == KEYWORD_ENDPOINT_LIST) {
        for (size_t i = 0; i < config->shared_cache_peer_count; i++) {
            strbuf_addf(out, "%s = ", keyword->name);
            value_print_string(out, config->shared_cache_peers[i]);
            strbuf_adds(out, "\n");
        }
    } else {
        print_line(keyword, SCOPE_TOP, config, "", out);
    }
}

void config_print(const struct config *config, struct strbuf *out)
{
    int group = -1;

    strbuf_adds(out, "# The effective configuration. It may be used as a configuration file.\n");
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (keyword->at[SCOPE_TOP] == KEYWORD_NOT_HERE || keyword->same_as != NULL || keyword->type == KEYWORD_IGNORED)
            continue;
        if ((int)keyword->group != group)
            strbuf_addf(out, "\n# %s\n", keyword_group_text(keyword->group));
        group = (int)keyword->group;
        print_top(keyword, config, out);
    }
}

enum { HELP_WIDTH = 100, HELP_INDENT = 8 };

/* Words of text, broken into lines. */
static void print_wrapped(struct strbuf *out, const char *text)
{
    size_t column = HELP_INDENT;

    strbuf_addf(out, "%*s", HELP_INDENT, "");
    while (*text != '\0') {
        size_t length = strcspn(text, " ");

        if (column > HELP_INDENT && column + 1 + length > HELP_WIDTH) {
            strbuf_addf(out, "\n%*s", HELP_INDENT, "");
            column = HELP_INDENT;
        }
        strbuf_addf(out, "%s%.*s", column > HELP_INDENT ? " " : "", (int)length, text);
        column += length + (column > HELP_INDENT ? 1 : 0);
        text += length;
        text += strspn(text, " ");
    }
    strbuf_adds(out, "\n");
}

static void print_option(const struct keyword *keyword, struct strbuf *out)
{
    struct strbuf text = STRBUF_INIT;

    if (keyword->letter != 0)
        strbuf_addf(out, "  -%c, ", keyword->letter);
    else
        strbuf_adds(out, "      ");
    strbuf_addf(out, "--%s", keyword->name);
    if (keyword->arg == KEYWORD_ARG_REQUIRED)
        strbuf_addf(out, "=%s", keyword->arg_name);
    else if (keyword->arg == KEYWORD_ARG_OPTIONAL)
        strbuf_addf(out, "[=%s]", keyword->arg_name);
    strbuf_adds(out, "\n");

    strbuf_adds(&text, keyword->help);
    if (keyword->default_text != NULL && *keyword->default_text != '\0')
        strbuf_addf(&text, " (default: %s)", keyword->default_text);
    if (keyword->support == KEYWORD_LATER || keyword->support == KEYWORD_LATER_IGNORED)
        strbuf_adds(&text, " (not supported yet)");
    print_wrapped(out, text.data);
    strbuf_clear(&text);
}

void config_help_print(struct strbuf *out, const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash == NULL ? program : slash + 1;
    int group = -1;

    strbuf_addf(out,
                "Usage: %s [OPTIONS] PEM...\n"
                "       %s demo [OPTIONS]\n"
                "\n"
                "Accepts TLS connections and hands their plaintext to a backend.\n"
                "PEM is a file with a certificate chain and its key; the last one is the default.\n"
                "'%s demo' needs no files: it makes a certificate, and is its own backend.\n"
                "\n"
                "Options override the configuration file. All but those of the first group are keywords of it, too.\n",
                name, name, name);
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (!keyword_is_option(keyword) || (keyword->flags & KEYWORD_HIDDEN) != 0)
            continue;
        if ((int)keyword->group != group)
            strbuf_addf(out, "\n%s:\n", keyword_group_text(keyword->group));
        group = (int)keyword->group;
        print_option(keyword, out);
    }
}
