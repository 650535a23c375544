/* Linked into the binaries whose malloc is jemalloc's; the reference to mallctl makes the linker take it in. */
#include "variant.h"

#include <jemalloc/jemalloc.h>
#include <stdio.h>
#include <string.h>

const char *variant_malloc_version(void)
{
    static char text[64];
    const char *version = "";
    size_t size = sizeof(version);

    /* "5.3.1-0-g81034ce1...": upstream's version, commits since, commit */
    if (mallctl("version", &version, &size, NULL, 0) == 0)
        snprintf(text, sizeof(text), "jemalloc %.*s", (int)strcspn(version, "-"), version);
    else
        snprintf(text, sizeof(text), "jemalloc");
    return text;
}
