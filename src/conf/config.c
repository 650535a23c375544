#include "conf/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "conf/keyword.h"
#include "value.h"

/* Makes room for one more: the capacity is the next power of two. */
static void *grow(void *items, size_t count, size_t size)
{
    bool is_full = (count & (count - 1)) == 0;

    return is_full ? mem_resize(items, count == 0 ? 1 : count * 2, size) : items;
}

void config_init(struct config *config)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (keyword->at[SCOPE_TOP] != KEYWORD_NOT_HERE && keyword->same_as == NULL && keyword->default_text != NULL &&
            keyword->type != KEYWORD_FRONTEND)
            value_set_default(config, keyword);
    }
}

static void clear_values(enum keyword_scope at, void *scope)
{
    for (size_t i = 0; i < keyword_count(); i++) {
        const struct keyword *keyword = keyword_at(i);

        if (keyword->at[at] != KEYWORD_NOT_HERE && keyword->same_as == NULL)
            value_clear(keyword, at, scope);
    }
}

void conf_pem_clear(struct conf_pem *pem)
{
    clear_values(SCOPE_PEM, pem);
    free(pem->inline_pem);
    free(pem->marks.items);
    memset(pem, 0, sizeof *pem);
}

static void clear_pems(struct conf_pem *pems, size_t count)
{
    for (size_t i = 0; i < count; i++)
        conf_pem_clear(&pems[i]);
    free(pems);
}

void conf_frontend_clear(struct conf_frontend *frontend)
{
    clear_values(SCOPE_FRONTEND, frontend);
    clear_pems(frontend->pems, frontend->pem_count);
    free(frontend->marks.items);
    memset(frontend, 0, sizeof *frontend);
}

void config_clear(struct config *config)
{
    clear_values(SCOPE_TOP, config);
    for (size_t i = 0; i < config->frontend_count; i++)
        conf_frontend_clear(&config->frontends[i]);
    free(config->frontends);
    clear_pems(config->pems, config->pem_count);
    free(config->marks.items);
    for (size_t i = 0; i < config->file_name_count; i++)
        free(config->file_names[i]);
    free(config->file_names);
    memset(config, 0, sizeof *config);
}

struct place config_place(struct config *config, const char *file, unsigned line, unsigned col)
{
    struct place place = {.file = NULL, .line = line, .col = col};

    if (file == NULL)
        return place;
    for (size_t i = 0; i < config->file_name_count; i++) {
        if (strcmp(config->file_names[i], file) == 0) {
            place.file = config->file_names[i];
            return place;
        }
    }
    config->file_names = grow(config->file_names, config->file_name_count, sizeof *config->file_names);
    config->file_names[config->file_name_count] = mem_strdup(file);
    place.file = config->file_names[config->file_name_count++];
    return place;
}

static struct place own_place(struct config *config, const struct place *place)
{
    return place == NULL ? (struct place){.file = NULL} : config_place(config, place->file, place->line, place->col);
}

struct conf_pem *config_pem_add(struct config *config, struct conf_frontend *frontend, const struct place *place)
{
    struct conf_pem **pems = frontend == NULL ? &config->pems : &frontend->pems;
    size_t *count = frontend == NULL ? &config->pem_count : &frontend->pem_count;

    *pems = grow(*pems, *count, sizeof **pems);
    struct conf_pem *pem = &(*pems)[(*count)++];
    memset(pem, 0, sizeof *pem);
    pem->place = own_place(config, place);
    return pem;
}

struct conf_frontend *config_frontend_add(struct config *config, const char *host, const char *port,
                                          const struct place *place)
{
    config->frontends = grow(config->frontends, config->frontend_count, sizeof *config->frontends);
    struct conf_frontend *frontend = &config->frontends[config->frontend_count++];
    memset(frontend, 0, sizeof *frontend);
    frontend->place = own_place(config, place);
    frontend->host = mem_strdup(host);
    frontend->port = mem_strdup(port);
    return frontend;
}

bool conf_frontend_is_same(const struct conf_frontend *a, const struct conf_frontend *b)
{
    if (strcmp(a->port, b->port) != 0 || (a->host == NULL) != (b->host == NULL))
        return false;
    return a->host == NULL || strcasecmp(a->host, b->host) == 0;
}

const struct place *conf_marks_find(const struct conf_marks *marks, const struct keyword *keyword)
{
    for (size_t i = 0; i < marks->count; i++) {
        if (marks->items[i].keyword == keyword)
            return &marks->items[i].place;
    }
    return NULL;
}

void conf_marks_set(struct conf_marks *marks, const struct keyword *keyword, const struct place *place)
{
    for (size_t i = 0; i < marks->count; i++) {
        if (marks->items[i].keyword == keyword) {
            marks->items[i].place = *place;
            return;
        }
    }
    marks->items = grow(marks->items, marks->count, sizeof *marks->items);
    marks->items[marks->count++] = (struct conf_mark){.keyword = keyword, .place = *place};
}
