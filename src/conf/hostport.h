/*
 * hostport.h: "[HOST]:PORT" and its older spellings. For this room only. Syntax alone: nothing is resolved.
 */
#ifndef HALTER_CONF_HOSTPORT_H
#define HALTER_CONF_HOSTPORT_H

#include <stdbool.h>
#include <stddef.h>

enum hostport_flag {
    HOSTPORT_WILDCARD = 1u << 0, /* the host may be '*' */
    HOSTPORT_CERT = 1u << 1,     /* "+CERT" may follow */
    HOSTPORT_ZERO = 1u << 2,     /* the port may be 0 */
};

struct hostport {
    char *host; /* NULL for '*' */
    char *port;
    char *cert; /* NULL: none given */
};

/*
 * Accepts "[HOST]:PORT"; also "HOST:PORT" when HOST has no ':', and stud's "HOST,PORT".
 * Returns NULL, or what is wrong with text; then out is empty. hostport_clear() in any case.
 */
const char *hostport_parse(struct hostport *out, const char *text, unsigned flags);

void hostport_clear(struct hostport *hostport);

/* NULL when text is a port number or can be the name of a service, else what is wrong with it. */
const char *port_check(const char *text, bool may_be_zero);

/* NULL when text may be a name or a numeric address (without brackets), or '*' if flags say so; else what is wrong. */
const char *host_check(const char *text, size_t length, unsigned flags);

#endif
