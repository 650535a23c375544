/* Linked into the binaries that use the C library's malloc. */
#include <stddef.h>

#include "variant.h"

const char *variant_malloc_version(void)
{
    return NULL;
}
