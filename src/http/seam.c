#include "http/seam.h"

#include <llhttp.h>

#define TEXT(x) #x
#define VERSION_TEXT(major, minor, patch) "llhttp " TEXT(major) "." TEXT(minor) "." TEXT(patch)

/* The filter that calls the parser comes later; until then this takes the parser into the binary. */
__attribute__((used)) static void (*const parser)(llhttp_t *, llhttp_type_t, const llhttp_settings_t *) = llhttp_init;

const char *http_seam_version(void)
{
    return VERSION_TEXT(LLHTTP_VERSION_MAJOR, LLHTTP_VERSION_MINOR, LLHTTP_VERSION_PATCH);
}
