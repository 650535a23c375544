/* The part of value.h that tells the operator what a keyword wants. */
#include "value.h"

#include <stdint.h>

const char *const *value_facilities(void)
{
    static const char *const facilities[] = {"auth",   "authpriv", "cron",   "daemon", "ftp",    "local0", "local1",
                                             "local2", "local3",   "local4", "local5", "local6", "local7", "lpr",
                                             "mail",   "news",     "user",   "uucp",   NULL};

    return facilities;
}

bool value_is_text(const struct keyword *keyword)
{
    switch (keyword->type) {
    case KEYWORD_STRING:
    case KEYWORD_PATH:
    case KEYWORD_PATH_OR_NONE:
    case KEYWORD_DIRECTORY:
    case KEYWORD_STRING_OR_AUTO:
    case KEYWORD_ALPN:
    case KEYWORD_FACILITY:
    case KEYWORD_FRONTEND:
    case KEYWORD_BACKEND:
    case KEYWORD_REDIRECT:
    case KEYWORD_PEM_FILE:
    case KEYWORD_HOST:
    case KEYWORD_PORT:
    case KEYWORD_ENDPOINT:
    case KEYWORD_ENDPOINT_LIST:
        return true;
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
        return false;
    }
    return false;
}

static void print_wanted(const struct keyword *keyword, struct strbuf *out)
{
    switch (keyword->type) {
    case KEYWORD_BOOL:
    case KEYWORD_QUIET:
    case KEYWORD_PROTOCOLS_TLS:
    case KEYWORD_PROTOCOLS_SSL:
        strbuf_adds(out, "on or off");
        return;
    case KEYWORD_UINT:
    case KEYWORD_INT:
    case KEYWORD_IGNORED:
        strbuf_addf(out, "a number from %jd to %jd", (intmax_t)keyword->min, (intmax_t)keyword->max);
        return;
    case KEYWORD_WORKERS:
        strbuf_addf(out, "a number from %jd to %jd, or auto", (intmax_t)keyword->min, (intmax_t)keyword->max);
        return;
    case KEYWORD_STRING:
    case KEYWORD_STRING_OR_AUTO:
        strbuf_adds(out, "a text");
        return;
    case KEYWORD_PATH:
    case KEYWORD_PATH_OR_NONE:
        strbuf_adds(out, "a path or pattern");
        return;
    case KEYWORD_DIRECTORY:
        strbuf_adds(out, "the path of a directory");
        return;
    case KEYWORD_PEM_FILE:
        strbuf_adds(out, "the path of a file or a block");
        return;
    case KEYWORD_ALPN:
        strbuf_adds(out, "a list of protocol names with commas between");
        return;
    case KEYWORD_FACILITY:
        strbuf_adds(out, "one of");
        for (const char *const *facility = value_facilities(); *facility != NULL; facility++)
            strbuf_addf(out, " %s", *facility);
        return;
    case KEYWORD_PROTOCOLS:
        strbuf_adds(out, "a list of TLSv1.0 TLSv1.1 TLSv1.2 TLSv1.3");
        return;
    case KEYWORD_CLIENT_VERIFY:
        strbuf_adds(out, "none, optional or required");
        return;
    case KEYWORD_FRONTEND:
        strbuf_adds(out, "[HOST]:PORT, [HOST]:PORT+CERT or a block");
        return;
    case KEYWORD_BACKEND:
        strbuf_adds(out, "[HOST]:PORT or the path of a unix socket");
        return;
    case KEYWORD_ENDPOINT:
    case KEYWORD_ENDPOINT_LIST:
    case KEYWORD_REDIRECT:
        strbuf_adds(out, "[HOST]:PORT");
        return;
    case KEYWORD_HOST:
        strbuf_adds(out, "a name, an address or *");
        return;
    case KEYWORD_PORT:
        strbuf_adds(out, "a port number or the name of a service");
        return;
    case KEYWORD_ACTION:
        strbuf_adds(out, "nothing");
        return;
    }
}

int value_wants(const struct keyword *keyword, bool is_option, const char *found, const char *detail,
                const struct place *place, struct error *error)
{
    struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text, "%s%s wants ", is_option ? "--" : "", keyword->name);
    print_wanted(keyword, &text);
    if (found == NULL)
        strbuf_adds(&text, ", but its value is missing");
    else
        strbuf_addf(&text, ", not %s", found);
    if (detail != NULL)
        strbuf_addf(&text, " (%s)", detail);
    if (keyword->example != NULL && is_option) {
        strbuf_addf(&text, "; for example: --%s=%s", keyword->name, keyword->example);
    } else if (keyword->example != NULL) {
        strbuf_addf(&text, "; for example: %s = ", keyword->name);
        value_print_text(keyword, keyword->example, &text);
    }
    error_add(error, place, "%s", text.data);
    strbuf_clear(&text);
    return -1;
}
