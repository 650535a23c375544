/*
 * http_refusal.h: why a request is refused, and what the client is told.
 *
 * One row each: name, HTTP status, the word that counters and log lines use, the text of the answer. The text names no
 * internals: nothing of the configuration, the backend or the libraries. Not for: answers of the backend.
 */
#ifndef HALTER_HTTP_HTTP_REFUSAL_H
#define HALTER_HTTP_HTTP_REFUSAL_H

#include <stddef.h>

#define HTTP_REFUSALS(X)                                                                                               \
    X(NONE, 200, "none", "not refused")                                                                                \
    X(METHOD_SYNTAX, 400, "method-syntax", "this is not an HTTP request")                                              \
    X(METHOD_UNKNOWN, 501, "method-unknown", "the method is not known")                                                \
    X(REQUEST_LINE, 400, "request-line", "the request line is not METHOD TARGET VERSION")                              \
    X(TARGET, 400, "target", "the request target is not valid")                                                        \
    X(VERSION_SYNTAX, 400, "version-syntax", "the HTTP version is not valid")                                          \
    X(VERSION, 505, "version", "only HTTP/1.1 and HTTP/1.0 are spoken here")                                           \
    X(LINE_END, 400, "line-end", "a line does not end with CR LF")                                                     \
    X(VALUE_BYTE, 400, "value-byte", "a field value has a byte that is not allowed")                                   \
    X(FIELD_NAME, 400, "field-name", "a field name is not valid")                                                      \
    X(FIELD_SPELLING, 400, "field-spelling", "a field name can be taken for another one")                              \
    X(FOLDED, 400, "folded", "a line begins with a blank")                                                             \
    X(HOST_MISSING, 400, "host-missing", "there is no Host field")                                                     \
    X(HOST_REPEATED, 400, "host-repeated", "there is more than one Host field")                                        \
    X(HOST_INVALID, 400, "host-invalid", "the Host field is not valid")                                                \
    X(HOST_DIFFERS, 400, "host-differs", "the request target and the Host field differ")                               \
    X(HOST_MISDIRECTED, 421, "host-misdirected", "the Host field is not the name this connection is for")              \
    X(LENGTH_INVALID, 400, "length-invalid", "the Content-Length field is not valid")                                  \
    X(LENGTH_REPEATED, 400, "length-repeated", "there is more than one Content-Length field")                          \
    X(LENGTH_AND_CODING, 400, "length-and-coding", "there are both Content-Length and Transfer-Encoding")              \
    X(CODING_INVALID, 400, "coding-invalid", "the Transfer-Encoding field is not valid")                               \
    X(CODING_REPEATED, 400, "coding-repeated", "there is more than one Transfer-Encoding field")                       \
    X(CODING_UNKNOWN, 501, "coding-unknown", "the transfer coding is not known")                                       \
    X(CODING_VERSION, 400, "coding-version", "HTTP/1.0 has no Transfer-Encoding")                                      \
    X(CONNECTION_INVALID, 400, "connection-invalid", "the Connection field is not valid")                              \
    X(UPGRADE_INVALID, 400, "upgrade-invalid", "the Upgrade field is not valid")                                       \
    X(BODY_UNEXPECTED, 400, "body-unexpected", "a request with this method has no body")                               \
    X(CHUNK_SIZE, 400, "chunk-size", "the size of a chunk is not valid")                                               \
    X(CHUNK_EXTENSION, 400, "chunk-extension", "a chunk extension is not valid or too long")                           \
    X(CHUNK_END, 400, "chunk-end", "a chunk does not end where it should")                                             \
    X(TARGET_TOO_LONG, 414, "target-too-long", "the request target is too long")                                       \
    X(HEAD_TOO_LARGE, 431, "head-too-large", "the header fields are too large")                                        \
    X(FIELDS_TOO_MANY, 431, "fields-too-many", "there are too many header fields")                                     \
    X(AMBIGUOUS, 400, "ambiguous", "the request can be read in more than one way")

enum http_refusal {
#define X(name, status, word, text) HTTP_REFUSAL_##name,
    HTTP_REFUSALS(X)
#undef X
        HTTP_REFUSAL_COUNT
};

enum { HTTP_ANSWER_MAX = 320 };

/* The refusal's word ("length-repeated"), for metrics and log lines. Static storage. */
const char *http_refusal_word(enum http_refusal refusal);

/* One sentence for log lines and the client. Static storage. */
const char *http_refusal_text(enum http_refusal refusal);

/* 400, 414, 421, 431, 501 or 505. */
unsigned http_refusal_status(enum http_refusal refusal);

/*
 * Writes the complete response: status line, fields with "Connection: close", a body of one line in plain text. Returns
 * its length, at most HTTP_ANSWER_MAX. refusal is not NONE.
 */
size_t http_answer(enum http_refusal refusal, char out[HTTP_ANSWER_MAX]);

#endif
