#include "value.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/mem.h"
#include "hostport.h"
#include "text.h"

/* What the functions below work on. */
struct setting {
    const struct value_target *target;
    const struct keyword *keyword;
    const char *text;
    const struct place *place;
    struct error *error;
    void *field; /* where the value goes */
};

enum outcome {
    VALUE_BAD = -1, /* a fault has been added */
    VALUE_LEFT,     /* nothing to set */
    VALUE_SET,
};

static const struct {
    const char *name;
    unsigned bit; /* 0: not available */
} protocols[] = {
    {"SSLv3", 0},
    {"TLSv1.0", TLS_VERSION_1_0},
    {"TLSv1.1", TLS_VERSION_1_1},
    {"TLSv1.2", TLS_VERSION_1_2},
    {"TLSv1.3", TLS_VERSION_1_3},
};

#define SSL3_SENTENCE "SSLv3 is not available: it has been broken since 2014 and is not part of this program"

enum { PROTOCOL_COUNT = sizeof protocols / sizeof protocols[0] };

static enum outcome wants(const struct setting *s, const char *detail)
{
    char excerpt[EXCERPT_MAX];
    struct strbuf quoted = STRBUF_INIT;

    strbuf_addf(&quoted, "'%s'", text_excerpt(excerpt, s->text, strlen(s->text)));
    value_wants(s->keyword, s->target->is_option, quoted.data, detail, s->place, s->error);
    strbuf_clear(&quoted);
    return VALUE_BAD;
}

/* Only what can be written in the file, and stands on one line of a log. */
static bool is_clean(const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;

        if ((c < ' ' && c != '\t') || c == 0x7f || c == '"')
            return false;
    }
    return true;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcasecmp(text, *words) == 0)
            return true;
    }
    return false;
}

/* hitch's words, and stud's 1 and 0. Returns 1, 0, or -1. */
static int parse_switch(const char *text)
{
    static const char *const on_words[] = {"on", "yes", "y", "true", "t", "1", NULL};
    static const char *const off_words[] = {"off", "no", "n", "false", "f", "0", NULL};

    if (is_one_of(text, on_words))
        return 1;
    return is_one_of(text, off_words) ? 0 : -1;
}

/* An optional '-' and digits; larger than any maximum when it overflows. */
static bool parse_number(const char *text, int64_t *number)
{
    const char *digits = *text == '-' ? text + 1 : text;
    int64_t value = 0;

    if (*digits == '\0')
        return false;
    for (const char *p = digits; *p != '\0'; p++) {
        if (*p < '0' || *p > '9')
            return false;
        if (value < INT64_MAX / 100)
            value = value * 10 + (*p - '0');
    }
    *number = digits == text ? value : -value;
    return true;
}

static enum outcome set_switch(const struct setting *s, bool *value)
{
    int parsed = parse_switch(s->text);

    if (parsed < 0 && s->target->is_option && (s->keyword->flags & KEYWORD_LAX) != 0) {
        char shown[EXCERPT_MAX];

        error_warn(s->error, s->place, "--%s=%s is neither on nor off: ignored, as hitch does", s->keyword->name,
                   text_excerpt(shown, s->text, strlen(s->text)));
        return VALUE_LEFT;
    }
    if (parsed < 0)
        return wants(s, NULL);
    *value = parsed == 1;
    return VALUE_SET;
}

static enum outcome read_number(const struct setting *s, int64_t *number)
{
    if (!parse_number(s->text, number))
        return wants(s, NULL);
    if (s->keyword->type == KEYWORD_INT && *number < s->keyword->min)
        *number = s->keyword->min; /* stud: less than -1 is -1 */
    if (*number > s->keyword->max && (s->keyword->flags & KEYWORD_CLAMP) != 0) {
        char shown[EXCERPT_MAX];

        error_warn(s->error, s->place, "%s is at most %jd, which is taken in place of %s", s->keyword->name,
                   (intmax_t)s->keyword->max, text_excerpt(shown, s->text, strlen(s->text)));
        *number = s->keyword->max;
    }
    if (*number < s->keyword->min || *number > s->keyword->max)
        return wants(s, NULL);
    return VALUE_SET;
}

static enum outcome set_number(const struct setting *s)
{
    int64_t number = 0;

    if (s->keyword->type == KEYWORD_WORKERS && strcasecmp(s->text, "auto") == 0) {
        *(unsigned *)s->field = WORKERS_AUTO;
        return VALUE_SET;
    }
    if (read_number(s, &number) == VALUE_BAD)
        return VALUE_BAD;
    if (s->keyword->type == KEYWORD_INT)
        *(int *)s->field = (int)number;
    else
        *(unsigned *)s->field = (unsigned)number;
    return VALUE_SET;
}

static enum outcome set_ignored(const struct setting *s)
{
    int64_t number = 0;

    if (read_number(s, &number) == VALUE_BAD)
        return VALUE_BAD;
    error_warn(s->error, s->place, "%s has no effect: there are no ring buffers here; remove it", s->keyword->name);
    return VALUE_LEFT;
}

static enum outcome set_string(const struct setting *s)
{
    enum keyword_type type = s->keyword->type;
    char **field = s->field;

    if (*s->text == '\0' && type != KEYWORD_PATH_OR_NONE && type != KEYWORD_DIRECTORY)
        return VALUE_LEFT;
    if (*s->text == '\0' || (type == KEYWORD_STRING_OR_AUTO && strcasecmp(s->text, "auto") == 0)) {
        mem_replace(field, NULL);
        return VALUE_SET;
    }
    mem_replace(field, s->text);
    size_t length = strlen(s->text);
    if (type == KEYWORD_DIRECTORY && s->text[length - 1] != '/') {
        *field = mem_resize(*field, length + 2, 1);
        memcpy(*field + length, "/", 2);
    }
    return VALUE_SET;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* RFC 7301, section 3.1: names of 1 to 255 octets, in all not more than 65535. */
static const char *normalise_alpn(const char *text, struct strbuf *list)
{
    enum { NAME_MAX_BYTES = 255, LIST_MAX_BYTES = 65535 };
    size_t length = 0;

    for (const char *p = text; *p != '\0'; p++) {
        if (is_space(*p))
            continue;
        if (*p == ',' && length == 0)
            return "an empty name";
        length = *p == ',' ? 0 : length + 1;
        if (length > NAME_MAX_BYTES)
            return "a name can have 255 characters at most";
        strbuf_add(list, p, 1);
    }
    if (list->length >= LIST_MAX_BYTES)
        return "the list is too long";
    if (list->length > 0 && list->data[list->length - 1] == ',')
        list->data[--list->length] = '\0';
    return NULL;
}

static enum outcome set_alpn(const struct setting *s)
{
    struct strbuf list = STRBUF_INIT;
    const char *problem = normalise_alpn(s->text, &list);
    enum outcome outcome = VALUE_SET;

    if (problem != NULL)
        outcome = wants(s, problem);
    else if (list.length == 0)
        outcome = VALUE_LEFT;
    else
        mem_replace(s->field, list.data);
    strbuf_clear(&list);
    return outcome;
}

static enum outcome set_facility(const struct setting *s)
{
    if (*s->text == '\0')
        return VALUE_LEFT;
    for (const char *const *facility = value_facilities(); *facility != NULL; facility++) {
        if (strcasecmp(s->text, *facility) == 0) {
            mem_replace(s->field, *facility);
            return VALUE_SET;
        }
    }
    return wants(s, NULL);
}

static enum outcome set_client_verify(const struct setting *s)
{
    static const char *const words[] = {"none", "optional", "required"};

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(s->text, words[i]) == 0) {
            *(enum client_verify *)s->field = (enum client_verify)i;
            return VALUE_SET;
        }
    }
    return wants(s, NULL);
}

int value_protocol(const char *word, size_t length)
{
    for (size_t i = 0; i < PROTOCOL_COUNT; i++) {
        if (strlen(protocols[i].name) == length && strncasecmp(word, protocols[i].name, length) == 0)
            return (int)protocols[i].bit;
    }
    return -1;
}

/* What is no protocol in an option's list; hitch looks for names anywhere and does not see the rest. */
static void warn_of_strange_protocols(const struct setting *s)
{
    static const char separators[] = " \t,:;+|";
    char shown[EXCERPT_MAX];
    size_t length;

    for (const char *p = s->text; *p != '\0'; p += length) {
        p += strspn(p, separators);
        length = strcspn(p, separators);
        if (length > 0 && value_protocol(p, length) < 0)
            error_warn(s->error, s->place, "'%s' in %s is not the name of a protocol", text_excerpt(shown, p, length),
                       s->keyword->name);
    }
}

/* "first chosen by ..." is the error of hitch's "illegal to specify tls after ssl, tls or tls-protos". */
static bool may_choose_protocols(const struct setting *s)
{
    struct conf_marks *marks = s->target->scope == SCOPE_FRONTEND ? &s->target->frontend->marks
                                                                  : &s->target->config->marks;
    const struct place *before = conf_marks_find(marks, keyword_holder(s->keyword));

    if (s->target->is_option || before == NULL)
        return true;
    error_add(s->error, s->place, "%s cannot follow tls-protos, tls or ssl, of which one stands at %s:%u; keep one",
              s->keyword->name, before->file, before->line);
    return false;
}

static enum outcome set_protocols(const struct setting *s)
{
    bool has_ssl3 = false;
    unsigned versions = 0;

    if (!may_choose_protocols(s))
        return VALUE_BAD;
    for (size_t i = 0; i < PROTOCOL_COUNT; i++) {
        if (strcasestr(s->text, protocols[i].name) == NULL)
            continue;
        has_ssl3 = has_ssl3 || protocols[i].bit == 0;
        versions |= protocols[i].bit;
    }
    if (versions == 0)
        return wants(s, has_ssl3 ? SSL3_SENTENCE : NULL);
    if (has_ssl3)
        error_warn(s->error, s->place, SSL3_SENTENCE "; the other protocols are used");
    warn_of_strange_protocols(s);
    *(unsigned *)s->field = versions;
    return VALUE_SET;
}

static enum outcome set_all_protocols(const struct setting *s)
{
    bool is_on = false;

    if (!may_choose_protocols(s) || set_switch(s, &is_on) == VALUE_BAD)
        return VALUE_BAD;
    if (!is_on) {
        error_warn(s->error, s->place, "%s = off is deprecated and has no effect; use tls-protos", s->keyword->name);
        return VALUE_LEFT;
    }
    if (s->keyword->type == KEYWORD_PROTOCOLS_SSL)
        error_warn(s->error, s->place, SSL3_SENTENCE "; %s = on stands for TLSv1.0 to TLSv1.3", s->keyword->name);
    *(unsigned *)s->field = TLS_VERSION_1_0 | TLS_VERSION_1_1 | TLS_VERSION_1_2 | TLS_VERSION_1_3;
    return VALUE_SET;
}

static enum outcome set_quiet(const struct setting *s)
{
    bool is_quiet = false;
    enum outcome outcome = set_switch(s, &is_quiet);

    if (outcome == VALUE_SET)
        *(unsigned *)s->field = is_quiet ? 0 : 1;
    return outcome;
}

static enum outcome add_pem(const struct setting *s, struct conf_frontend *frontend, const char *path)
{
    const struct keyword *cert = keyword_find("cert", 4);
    struct conf_pem *pem = config_pem_add(s->target->config, frontend, s->place);

    pem->cert = mem_strdup(path);
    conf_marks_set(&pem->marks, cert, &pem->place);
    return VALUE_SET;
}

static enum outcome set_pem_file(const struct setting *s)
{
    if (*s->text == '\0')
        return s->target->is_option ? wants(s, "the name is empty") : VALUE_LEFT;
    return add_pem(s, s->target->scope == SCOPE_FRONTEND ? s->target->frontend : NULL, s->text);
}

static enum outcome set_frontend(const struct setting *s)
{
    struct hostport parsed;

    if (*s->text == '\0' && !s->target->is_option)
        return VALUE_LEFT;
    const char *problem = hostport_parse(&parsed, s->text, HOSTPORT_WILDCARD | HOSTPORT_CERT | HOSTPORT_ZERO);
    if (problem != NULL)
        return wants(s, problem);
    struct conf_frontend *frontend = config_frontend_add(s->target->config, parsed.host, parsed.port, s->place);
    if (parsed.cert != NULL)
        add_pem(s, frontend, parsed.cert);
    hostport_clear(&parsed);
    return VALUE_SET;
}

static enum outcome set_backend(const struct setting *s)
{
    struct conf_backend *backend = s->field;
    struct hostport parsed = {NULL, NULL, NULL};

    if (*s->text == '\0' && !s->target->is_option)
        return VALUE_LEFT;
    if (*s->text != '/') {
        const char *problem = hostport_parse(&parsed, s->text, 0);

        if (problem != NULL)
            return wants(s, problem);
    }
    mem_replace(&backend->host, parsed.host);
    mem_replace(&backend->port, parsed.port);
    mem_replace(&backend->path, *s->text == '/' ? s->text : NULL);
    backend->place = *s->place;
    hostport_clear(&parsed);
    return VALUE_SET;
}

static enum outcome set_redirect(const struct setting *s)
{
    struct conf_backend *redirect = s->field;
    struct hostport parsed = {NULL, NULL, NULL};

    if (*s->text != '\0') {
        const char *problem = hostport_parse(&parsed, s->text, HOSTPORT_WILDCARD | HOSTPORT_ZERO);

        if (problem != NULL)
            return wants(s, problem);
    }
    mem_replace(&redirect->host, parsed.host);
    mem_replace(&redirect->port, parsed.port);
    redirect->place = *s->place;
    hostport_clear(&parsed);
    return VALUE_SET;
}

static enum outcome set_host(const struct setting *s)
{
    size_t length = strlen(s->text);

    if (length == 0)
        return VALUE_LEFT;
    if (strcmp(s->text, "*") == 0) {
        mem_replace(s->field, NULL);
        return VALUE_SET;
    }
    bool has_brackets = length > 2 && s->text[0] == '[' && s->text[length - 1] == ']';
    const char *problem = host_check(s->text + (has_brackets ? 1 : 0), length - (has_brackets ? 2 : 0),
                                     HOSTPORT_WILDCARD);
    if (problem != NULL)
        return wants(s, problem);
    char *host = mem_strndup(s->text + (has_brackets ? 1 : 0), length - (has_brackets ? 2 : 0));
    mem_replace(s->field, host);
    free(host);
    return VALUE_SET;
}

static enum outcome set_port(const struct setting *s)
{
    if (*s->text == '\0')
        return VALUE_LEFT;
    const char *problem = port_check(s->text, true);
    if (problem != NULL)
        return wants(s, problem);
    mem_replace(s->field, s->text);
    return VALUE_SET;
}

static enum outcome set_endpoint(const struct setting *s)
{
    struct config *config = s->target->config;
    bool is_list = s->keyword->type == KEYWORD_ENDPOINT_LIST;
    struct hostport parsed;

    if (*s->text == '\0')
        return VALUE_LEFT;
    const char *problem = hostport_parse(&parsed, s->text, is_list ? 0 : HOSTPORT_WILDCARD);
    hostport_clear(&parsed);
    if (problem == NULL && is_list && (int64_t)config->shared_cache_peer_count >= s->keyword->max)
        problem = "there are 15 already, which is the most";
    if (problem != NULL)
        return wants(s, problem);
    if (!is_list) {
        mem_replace(s->field, s->text);
        return VALUE_SET;
    }
    size_t count = ++config->shared_cache_peer_count;
    config->shared_cache_peers = mem_resize(config->shared_cache_peers, count, sizeof *config->shared_cache_peers);
    config->shared_cache_peers[count - 1] = mem_strdup(s->text);
    return VALUE_SET;
}

static enum outcome set_by_type(const struct setting *s)
{
    switch (s->keyword->type) {
    case KEYWORD_BOOL:
        return set_switch(s, s->field);
    case KEYWORD_UINT:
    case KEYWORD_INT:
    case KEYWORD_WORKERS:
        return set_number(s);
    case KEYWORD_STRING:
    case KEYWORD_PATH:
    case KEYWORD_PATH_OR_NONE:
    case KEYWORD_DIRECTORY:
    case KEYWORD_STRING_OR_AUTO:
        return set_string(s);
    case KEYWORD_ALPN:
        return set_alpn(s);
    case KEYWORD_FACILITY:
        return set_facility(s);
    case KEYWORD_PROTOCOLS:
        return set_protocols(s);
    case KEYWORD_PROTOCOLS_TLS:
    case KEYWORD_PROTOCOLS_SSL:
        return set_all_protocols(s);
    case KEYWORD_CLIENT_VERIFY:
        return set_client_verify(s);
    case KEYWORD_QUIET:
        return set_quiet(s);
    case KEYWORD_FRONTEND:
        return set_frontend(s);
    case KEYWORD_BACKEND:
        return set_backend(s);
    case KEYWORD_REDIRECT:
        return set_redirect(s);
    case KEYWORD_PEM_FILE:
        return set_pem_file(s);
    case KEYWORD_HOST:
        return set_host(s);
    case KEYWORD_PORT:
        return set_port(s);
    case KEYWORD_ENDPOINT:
    case KEYWORD_ENDPOINT_LIST:
        return set_endpoint(s);
    case KEYWORD_IGNORED:
        return set_ignored(s);
    case KEYWORD_ACTION:
        break;
    }
    CHECK(!"a keyword with a value");
    return VALUE_BAD;
}

static void *target_scope(const struct value_target *target, struct conf_marks **marks)
{
    switch (target->scope) {
    case SCOPE_TOP:
        *marks = &target->config->marks;
        return target->config;
    case SCOPE_FRONTEND:
        *marks = &target->frontend->marks;
        return target->frontend;
    case SCOPE_PEM:
        *marks = &target->pem->marks;
        return target->pem;
    }
    CHECK(!"a scope");
    return NULL;
}

int value_set(const struct value_target *target, const struct keyword *keyword, const char *text,
              const struct place *place, struct error *error)
{
    struct conf_marks *marks = NULL;
    char *scope = target_scope(target, &marks);
    int offset = keyword->at[target->scope];

    CHECK(offset != KEYWORD_NOT_HERE);
    struct setting setting = {
        .target = target, .keyword = keyword, .text = text, .place = place, .error = error, .field = scope + offset};
    if (!is_clean(text))
        return wants(&setting, "a value cannot contain '\"' or control characters");

    enum outcome outcome = set_by_type(&setting);
    if (outcome == VALUE_BAD)
        return -1;
    if (outcome == VALUE_SET)
        conf_marks_set(marks, keyword_holder(keyword), place);
    return 0;
}

void value_set_default(struct config *config, const struct keyword *keyword)
{
    static const struct place nowhere = {NULL, 0, 0};
    struct error error = ERROR_INIT;
    struct value_target target = {.scope = SCOPE_TOP, .config = config};
    struct setting setting = {.target = &target,
                              .keyword = keyword,
                              .text = keyword->default_text,
                              .place = &nowhere,
                              .error = &error,
                              .field = (char *)config + keyword->at[SCOPE_TOP]};
    enum outcome outcome = set_by_type(&setting);

    CHECK(outcome != VALUE_BAD);
    error_clear(&error);
}
