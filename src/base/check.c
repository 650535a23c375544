#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

static check_reporter *current_reporter;

void check_set_reporter(check_reporter *reporter)
{
    current_reporter = reporter;
}

void check_failed(const char *file, int line, const char *condition)
{
    char text[512];

    snprintf(text, sizeof text, "%s:%d: bug: CHECK(%s) failed", file, line, condition);
    if (current_reporter != NULL)
        current_reporter(text);
    else
        fprintf(stderr, "halter: %s\n", text);
    abort();
}
