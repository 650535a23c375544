/*
 * Which of the four binaries this is: halter, halter-jem, halter-http, halter-http-jem.
 *
 * For: --version, and the line that a start logs. Not for deciding anything: what a binary can do is asked at its seam.
 *
 * variant.c is compiled with and without HALTER_HTTP; alloc_libc.c or alloc_jemalloc.c is chosen when linking.
 * All strings are static.
 */
#ifndef HALTER_MAIN_VARIANT_H
#define HALTER_MAIN_VARIANT_H

struct filter_ops; /* relay/filter.h */

/* Returns halter's own version, "0.1.0". */
const char *variant_version(void);

/* Returns the binary's name, as in the list above. */
const char *variant_name(void);

/* Returns the HTTP parser and its version, "llhttp 9.4.3", or NULL when built without HTTP. */
const char *variant_http_version(void);

/* The filter of HTTP mode; NULL in a binary that is built without HTTP. */
const struct filter_ops *variant_filter_ops(void);

/* Returns the allocator and its version, "jemalloc 5.3.1", or NULL when it is the C library's own. */
const char *variant_malloc_version(void);

#endif
