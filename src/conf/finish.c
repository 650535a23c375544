/* config_finish(): from what was said to what is in effect. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/mem.h"
#include "conf/config.h"
#include "conf/keyword.h"
#include "value.h"

static const struct keyword *find(const char *name)
{
    const struct keyword *keyword = keyword_find(name, strlen(name));

    CHECK(keyword != NULL);
    return keyword;
}

static const struct place *place_of(const struct config *config, const char *name)
{
    return conf_marks_find(&config->marks, find(name));
}

/* "[host]:port", as hitch names a frontend. */
static char *frontend_name(const struct conf_frontend *frontend)
{
    struct strbuf name = STRBUF_INIT;

    strbuf_addf(&name, "[%s]:%s", frontend->host == NULL ? "*" : frontend->host, frontend->port);
    return strbuf_take(&name);
}

static void add_default_frontend(struct config *config)
{
    struct value_target target = {.scope = SCOPE_TOP, .config = config};
    const struct keyword *keyword = find("frontend");
    struct error error = ERROR_INIT;
    static const struct place nowhere = {NULL, 0, 0};

    if (config->frontend_count > 0)
        return;
    int result = value_set(&target, keyword, keyword->default_text, &nowhere, &error);
    CHECK(result == 0);
    error_clear(&error);
}

static void inherit_pem(struct config *config, struct conf_frontend *frontend, struct conf_pem *pem)
{
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (keyword->at[SCOPE_PEM] == KEYWORD_NOT_HERE || conf_marks_find(&pem->marks, keyword) != NULL)
            continue;
        if (frontend != NULL && keyword->at[SCOPE_FRONTEND] != KEYWORD_NOT_HERE)
            value_copy(keyword, SCOPE_FRONTEND, frontend, SCOPE_PEM, pem);
        else if (keyword->at[SCOPE_TOP] != KEYWORD_NOT_HERE)
            value_copy(keyword, SCOPE_TOP, config, SCOPE_PEM, pem);
    }
    pem->client_verify_is_own = conf_marks_find(&pem->marks, find("client-verify")) != NULL;
}

static void inherit_frontend(struct config *config, struct conf_frontend *frontend)
{
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (keyword->at[SCOPE_TOP] == KEYWORD_NOT_HERE || keyword->at[SCOPE_FRONTEND] == KEYWORD_NOT_HERE ||
            keyword->same_as != NULL || (keyword->flags & KEYWORD_REPEATS) != 0)
            continue;
        if (conf_marks_find(&frontend->marks, keyword) == NULL)
            value_copy(keyword, SCOPE_TOP, config, SCOPE_FRONTEND, frontend);
    }
    if (conf_marks_find(&frontend->marks, find("match-global-certs")) == NULL)
        frontend->match_global_certs = frontend->pem_count == 0;
    for (size_t i = 0; i < frontend->pem_count; i++)
        inherit_pem(config, frontend, &frontend->pems[i]);
}

static void inherit(struct config *config)
{
    for (size_t i = 0; i < config->frontend_count; i++)
        inherit_frontend(config, &config->frontends[i]);
    for (size_t i = 0; i < config->pem_count; i++)
        inherit_pem(config, NULL, &config->pems[i]);
}

static void add_place(struct strbuf *text, const struct place *place)
{
    if (place == NULL || place->file == NULL)
        return;
    strbuf_addf(text, " (%s", place->file);
    if (place->line > 0)
        strbuf_addf(text, ":%u", place->line);
    strbuf_adds(text, ")");
}

/* write-ip, write-proxy-v1, write-proxy-v2 and proxy-proxy exclude each other. */
static void choose_announce(struct config *config, struct error *error)
{
    static const char *const names[ANNOUNCE_COUNT] = {
        [ANNOUNCE_IP] = "write-ip",
        [ANNOUNCE_PROXY_V1] = "write-proxy-v1",
        [ANNOUNCE_PROXY_V2] = "write-proxy-v2",
        [ANNOUNCE_PROXY_PROXY] = "proxy-proxy",
    };
    const struct place *last = NULL;
    struct strbuf list = STRBUF_INIT;
    unsigned count = 0;

    config->announce = ANNOUNCE_NOTHING;
    for (unsigned i = ANNOUNCE_NOTHING + 1; i < ANNOUNCE_COUNT; i++) {
        if (!config->announce_wanted[i])
            continue;
        last = place_of(config, names[i]);
        strbuf_addf(&list, "%s%s", count == 0 ? "" : " and ", names[i]);
        add_place(&list, last);
        config->announce = (enum announce)i;
        count++;
    }
    if (count > 1)
        error_add(error, last, "%s are mutually exclusive: keep one", list.data);
    strbuf_clear(&list);
}

static void complain_of_support(const struct keyword *keyword, const struct place *place, struct error *error)
{
    const char *colon = keyword->support_note == NULL ? "" : ": ";
    const char *note = keyword->support_note == NULL ? "" : keyword->support_note;

    switch (keyword->support) {
    case KEYWORD_SUPPORTED:
        return;
    case KEYWORD_LATER:
        error_add(error, place, "%s is not supported yet%s%s", keyword->name, colon, note);
        return;
    case KEYWORD_LATER_IGNORED:
        error_warn(error, place, "%s is not supported yet and is ignored%s%s", keyword->name, colon, note);
        return;
    case KEYWORD_NEVER:
        error_add(error, place, "%s is not supported%s%s; remove it", keyword->name, colon, note);
        return;
    }
}

static void check_support_at(const struct conf_marks *marks, enum keyword_scope at, const void *scope,
                             struct error *error)
{
    for (size_t i = 0; i < marks->count; i++) {
        const struct keyword *keyword = marks->items[i].keyword;

        if (keyword->support == KEYWORD_SUPPORTED)
            continue;
        if ((keyword->flags & KEYWORD_REPEATS) == 0 && value_is_default(keyword, at, scope))
            continue;
        complain_of_support(keyword, &marks->items[i].place, error);
    }
}

static void check_support(const struct config *config, struct error *error)
{
    check_support_at(&config->marks, SCOPE_TOP, config, error);
    for (size_t i = 0; i < config->pem_count; i++)
        check_support_at(&config->pems[i].marks, SCOPE_PEM, &config->pems[i], error);
    for (size_t i = 0; i < config->frontend_count; i++) {
        const struct conf_frontend *frontend = &config->frontends[i];

        check_support_at(&frontend->marks, SCOPE_FRONTEND, frontend, error);
        for (size_t j = 0; j < frontend->pem_count; j++)
            check_support_at(&frontend->pems[j].marks, SCOPE_PEM, &frontend->pems[j], error);
    }
}

static void check_duplicates(const struct config *config, struct error *error)
{
    for (size_t i = 0; i < config->frontend_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!conf_frontend_is_same(&config->frontends[i], &config->frontends[j]))
                continue;
            char *name = frontend_name(&config->frontends[i]);
            struct strbuf first = STRBUF_INIT;

            add_place(&first, &config->frontends[j].place);
            error_add(error, &config->frontends[i].place,
                      "Redundant frontend (matching IP and port) definition: '%s'; the first one stands there:%s", name,
                      first.data);
            strbuf_clear(&first);
            free(name);
            break;
        }
    }
}

static void check_certificates(const struct config *config, struct error *error)
{
    bool has_global = config->pem_count > 0 || config->pem_dir != NULL;

    for (size_t i = 0; i < config->frontend_count; i++) {
        const struct conf_frontend *frontend = &config->frontends[i];
        char *name = frontend_name(frontend);

        if (frontend->pem_count == 0 && !frontend->match_global_certs)
            error_add(error, &frontend->place,
                      "No certificate configured for frontend '%s': it has no pem-file, and match-global-certs is off",
                      name);
        else if (frontend->pem_count == 0 && !has_global && !config->client_mode && !config->is_faulty)
            error_add(error, &frontend->place, "No x509 certificate PEM file specified for frontend '%s'!", name);
        free(name);
    }
}

static void check_verify(enum client_verify verify, const char *ca, const struct conf_marks *marks, const char *where,
                         struct error *error)
{
    const struct place *place = conf_marks_find(marks, find("client-verify"));

    if (place != NULL && verify != CLIENT_VERIFY_NONE && ca == NULL)
        error_add(error, place,
                  "client-verify needs client-verify-ca%s; for example: "
                  "client-verify-ca = \"/etc/halter/client-ca.pem\"",
                  where);
}

/* Who verifies must know whom to trust: in the same block, or further out. */
static void check_client_verify(const struct config *config, struct error *error)
{
    static const char in_frontend[] = ", in this frontend or at the top level";
    static const char in_pem[] = ", in this pem-file or further out";

    check_verify(config->tls.client_verify, config->tls.client_verify_ca, &config->marks, "", error);
    for (size_t i = 0; i < config->pem_count; i++) {
        const struct conf_pem *pem = &config->pems[i];

        check_verify(pem->client_verify, pem->client_verify_ca, &pem->marks, in_pem, error);
    }
    for (size_t i = 0; i < config->frontend_count; i++) {
        const struct conf_frontend *frontend = &config->frontends[i];

        check_verify(frontend->tls.client_verify, frontend->tls.client_verify_ca, &frontend->marks, in_frontend, error);
        for (size_t j = 0; j < frontend->pem_count; j++) {
            const struct conf_pem *pem = &frontend->pems[j];

            check_verify(pem->client_verify, pem->client_verify_ca, &pem->marks, in_pem, error);
        }
    }
}

/* The time to the first data includes the handshake. */
static void adjust_timeouts(struct config *config, struct error *error)
{
    enum { AFTER_HANDSHAKE_S = 30 };
    const struct place *place = place_of(config, "first-data-timeout");
    unsigned handshake_s = config->ssl_handshake_timeout_s;

    if (config->close_timeout_s == 0)
        config->close_timeout_s = 1;
    if (config->first_data_timeout_s == 0 || config->first_data_timeout_s >= handshake_s)
        return;
    if (place == NULL)
        config->first_data_timeout_s = handshake_s + AFTER_HANDSHAKE_S;
    else
        error_warn(error, place, "first-data-timeout (%u) ends a connection before ssl-handshake-timeout (%u) can",
                   config->first_data_timeout_s, handshake_s);
}

int config_finish(struct config *config, struct error *error)
{
    size_t errors_before = error->error_count;

    add_default_frontend(config);
    inherit(config);
    choose_announce(config, error);
    adjust_timeouts(config, error);
    check_support(config, error);
    check_duplicates(config, error);
    check_certificates(config, error);
    check_client_verify(config, error);
    return error->error_count == errors_before ? 0 : -1;
}
