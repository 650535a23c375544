/*
 * sni.h: the one normal form of host names, for those that clients ask for and those that certificates bear.
 *
 * Normal: lower case, no trailing dot, 1 to 253 bytes, labels of 1 to 63 bytes of a-z, 0-9, '-' and '_' (which hosts
 * must not have but do). Everything that compares or looks up names does so in this form only.
 * Not for: internationalised names in Unicode (they must come as A-labels, RFC 5890), nor IPv6 addresses.
 */
#ifndef HALTER_NAMES_SNI_H
#define HALTER_NAMES_SNI_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NAME_LENGTH_MAX = 253,              /* RFC 1035 section 2.3.4, in text form without the trailing dot */
    NAME_LABEL_MAX = 63,                /* the same */
    NAME_TEXT_MAX = NAME_LENGTH_MAX + 1 /* with the NUL: size of a buffer that is always enough */
};

/*
 * Writes the normal form of length bytes at in, and a NUL, to out; one trailing dot is dropped. in and out may be the
 * same memory. False, with out unspecified, when in cannot be a host name or does not fit in out_size bytes.
 */
bool name_normalise(char *out, size_t out_size, const char *in, size_t length) __attribute__((warn_unused_result));

/*
 * As name_normalise(), for names in certificates: also accepts one whole leftmost label "*" ("*.example.com",
 * RFC 6125 section 6.4.3). "*" alone, "w*.example.com" and "a.*.com" are refused.
 */
bool name_pattern_normalise(char *out, size_t out_size, const char *in, size_t length)
    __attribute__((warn_unused_result));

/* Whether a normalised pattern is a wildcard. */
static inline bool name_pattern_is_wildcard(const char *pattern)
{
    return pattern[0] == '*';
}

#endif
