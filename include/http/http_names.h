/*
 * http_names.h: a set of field names and of beginnings of names.
 *
 * For: what is taken out of requests. Names are compared folded: letters without case, and every byte that is neither
 * letter nor digit as '-', because backends that make variables of names (CGI, WSGI, PHP) see X_Forwarded_For and
 * X-Forwarded-For as one. Built from the configuration, then read only.
 *
 *     struct http_names strip;
 *     http_names_init(&strip);
 *     http_names_parse(&strip, HTTP_NAMES_STRIP_DEFAULT, &place, &errors)
 *     http_names_add_lines(&strip, add, add_length);
 *     http_names_match(&strip, name, length)
 *     http_names_clear(&strip);
 */
#ifndef HALTER_HTTP_HTTP_NAMES_H
#define HALTER_HTTP_HTTP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct place;

#define HTTP_NAMES_STRIP_DEFAULT "X-Forwarded*, X-Forward-For, X-Forward-Proto, Forwarded, X-Real-IP"

struct http_name {
    char *folded;
    size_t length;
    bool prefix;
};

struct http_names {
    struct http_name *items;
    size_t count;
    uint64_t
        lengths[37]; /* by first letter (a-z, 0-9, other): bit N: some name of N bytes begins so; 63: of 63 or more */
};

void http_names_init(struct http_names *names);
void http_names_clear(struct http_names *names);

/*
 * Adds the names of a list: parted by commas or blanks, '*' at the end: every name that begins so. Returns 0, or -1
 * with faults added and nothing changed: for what is no field name, and for names that a request cannot do without or
 * that decide where it ends (Host, Content-Length, Transfer-Encoding, Connection, Upgrade, TE, Trailer, Expect).
 */
int http_names_parse(struct http_names *names, const char *list, const struct place *place, struct error *error)
    __attribute__((warn_unused_result));

/* Adds one whole name; not one of those that http_names_parse() refuses: false then, and nothing added. */
bool http_names_add(struct http_names *names, const char *name, size_t length) __attribute__((warn_unused_result));

/* Adds the name of each field line "Name: value\r\n" of ours. */
void http_names_add_lines(struct http_names *names, const char *lines, size_t length);

/* Is the name, or a beginning of it, in the set? */
bool http_names_match(const struct http_names *names, const uint8_t *name, size_t length);

#endif
