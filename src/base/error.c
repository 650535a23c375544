#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

void error_init(struct error *error)
{
    memset(error, 0, sizeof *error);
}

void error_clear(struct error *error)
{
    for (size_t i = 0; i < error->count; i++)
        free(error->faults[i].text);
    free(error->faults);
    error_init(error);
}

__attribute__((format(printf, 4, 0))) static void add(struct error *error, enum fault_kind kind,
                                                      const struct place *place, const char *format, va_list args)
{
    struct strbuf text = STRBUF_INIT;

    if (place != NULL && place->file != NULL) {
        strbuf_addf(&text, "%s:", place->file);
        if (place->line > 0)
            strbuf_addf(&text, "%u:", place->line);
        if (place->line > 0 && place->col > 0)
            strbuf_addf(&text, "%u:", place->col);
        strbuf_add(&text, " ", 1);
    }
    strbuf_addv(&text, format, args);

    if (error->count == error->capacity) {
        error->capacity = error->capacity == 0 ? 8 : error->capacity * 2;
        error->faults = mem_resize(error->faults, error->capacity, sizeof *error->faults);
    }
    error->faults[error->count].kind = kind;
    error->faults[error->count].text = strbuf_take(&text);
    error->count++;
    if (kind == FAULT_ERROR)
        error->error_count++;
}

int error_add(struct error *error, const struct place *place, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(error, FAULT_ERROR, place, format, args);
    va_end(args);
    return -1;
}

void error_warn(struct error *error, const struct place *place, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(error, FAULT_WARNING, place, format, args);
    va_end(args);
}

bool error_any(const struct error *error)
{
    return error->error_count > 0;
}
