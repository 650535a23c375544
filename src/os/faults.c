#include "os/faults.h"

#include <stdio.h>
#include <string.h>

#include "os/log.h"

/* One mistake can show at several places, as a list of ciphers that several frontends share. */
static bool was_told(const struct error *errors, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (errors->faults[i].kind == errors->faults[index].kind &&
            strcmp(errors->faults[i].text, errors->faults[index].text) == 0)
            return true;
    return false;
}

void faults_print(const struct error *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        bool is_error = errors->faults[i].kind == FAULT_ERROR;

        if (was_told(errors, i))
            continue;
        fprintf(stderr, "halter: %s: %s\n", is_error ? "error" : "warning", errors->faults[i].text);
    }
    fflush(stderr);
}

void faults_log(const struct error *errors)
{
    char text[2048];

    for (size_t i = 0; i < errors->count; i++) {
        if (was_told(errors, i))
            continue;
        log_quote(text, sizeof text, errors->faults[i].text);
        if (errors->faults[i].kind == FAULT_ERROR)
            log_error("event=fault text=%s", text);
        else
            log_notice("event=warning text=%s", text);
    }
}
