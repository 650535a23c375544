#include "os/faults.h"

#include <stdio.h>

#include "os/log.h"

void faults_print(const struct error *errors)
{
    for (size_t i = 0; i < errors->count; i++) {
        bool is_error = errors->faults[i].kind == FAULT_ERROR;

        fprintf(stderr, "halter: %s: %s\n", is_error ? "error" : "warning", errors->faults[i].text);
    }
    fflush(stderr);
}

void faults_log(const struct error *errors)
{
    char text[2048];

    for (size_t i = 0; i < errors->count; i++) {
        log_quote(text, sizeof text, errors->faults[i].text);
        if (errors->faults[i].kind == FAULT_ERROR)
            log_error("event=fault text=%s", text);
        else
            log_notice("event=warning text=%s", text);
    }
}
