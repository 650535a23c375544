#include "http/seam.h"

#include <llhttp.h>

#define TEXT(x) #x
#define VERSION_TEXT(major, minor, patch) "llhttp " TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *http_seam_version(void)
{
    return VERSION_TEXT(LLHTTP_VERSION_MAJOR, LLHTTP_VERSION_MINOR, LLHTTP_VERSION_PATCH);
}
