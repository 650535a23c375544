/*
 * The seam between the core and HTTP: the one header that knows HALTER_HTTP.
 *
 * For: src/main/variant.c, and later the place that asks for a filter. Not for: anything else; a file that includes this
 * is compiled twice, once for each kind of binary, and all other objects are the same in both.
 *
 * With HALTER_HTTP these are functions of src/http/. Without it they are inline twins that say "built without HTTP".
 */
#ifndef HALTER_HTTP_SEAM_H
#define HALTER_HTTP_SEAM_H

struct filter_ops; /* relay/filter.h */

#ifdef HALTER_HTTP

/* Returns the parser's name and version, "llhttp 9.4.3". Static storage. */
const char *http_seam_version(void);

/* Returns the filter of http = on. */
const struct filter_ops *http_seam_filter_ops(void);

#else

/* Returns NULL: built without HTTP. */
static inline const char *http_seam_version(void)
{
    return 0;
}

/* Returns NULL. */
static inline const struct filter_ops *http_seam_filter_ops(void)
{
    return 0;
}

#endif

#endif
