/*
 * http_bytes.h: which bytes may stand where in HTTP/1 (RFC 9110 5.1, 5.5, 5.6.2; RFC 9112 3.2), and comparisons without
 * case.
 */
#ifndef HALTER_HTTP_BYTES_H
#define HALTER_HTTP_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BYTE_TOKEN = 1,  /* tchar */
    BYTE_TARGET = 2, /* visible ASCII without '#' */
    BYTE_VALUE = 4,  /* HTAB, SP, visible ASCII, 0x80 and above */
    BYTE_HOST = 8,   /* letters, digits, "-._~" */
    BYTE_HEX = 16,
};

extern const uint8_t http_bytes_class[256];

/*
 * Letters in lower case, digits as they are, every other byte '-': as backends that make variables of names see them.
 */
extern const uint8_t http_bytes_fold[256];

static inline bool http_byte_is(uint8_t byte, unsigned class)
{
    return (http_bytes_class[byte] & class) != 0;
}

/* Are the length bytes, folded, the folded text of the same length? */
bool http_bytes_folds_to(const uint8_t *bytes, size_t length, const char *folded);

/* Equal but for the case of ASCII letters? */
bool http_bytes_equal(const uint8_t *a, const uint8_t *b, size_t length);

/* The same against a text, lengths included. */
static inline bool http_bytes_are(const uint8_t *bytes, size_t length, const char *text, size_t text_length)
{
    return length == text_length && http_bytes_equal(bytes, (const uint8_t *)text, length);
}

#define HTTP_BYTES_ARE(bytes, length, literal) http_bytes_are(bytes, length, literal, sizeof(literal) - 1)

#endif
