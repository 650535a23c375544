#include "variant.h"

#include <stdbool.h>
#include <stddef.h>

#include "http/seam.h"

const char *variant_version(void)
{
    return HALTER_VERSION;
}

const char *variant_http_version(void)
{
    return http_seam_version();
}

const struct filter_ops *variant_filter_ops(void)
{
    return http_seam_filter_ops();
}

const char *variant_name(void)
{
    bool http = variant_http_version() != NULL;
    bool jemalloc = variant_malloc_version() != NULL;

    if (http)
        return jemalloc ? "halter-http-jem" : "halter-http";
    return jemalloc ? "halter-jem" : "halter";
}
