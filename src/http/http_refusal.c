#include "http/http_refusal.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

struct row {
    unsigned status;
    const char *word;
    const char *text;
};

static const struct row rows[HTTP_REFUSAL_COUNT] = {
#define X(name, status, word, text) {status, word, text},
    HTTP_REFUSALS(X)
#undef X
};

/* RFC 9110 section 15, RFC 6585 section 5 */
static const char *reason_of(unsigned status)
{
    switch (status) {
    case 414:
        return "URI Too Long";
    case 421:
        return "Misdirected Request";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 505:
        return "HTTP Version Not Supported";
    default:
        return "Bad Request";
    }
}

const char *http_refusal_word(enum http_refusal refusal)
{
    return rows[refusal].word;
}

const char *http_refusal_text(enum http_refusal refusal)
{
    return rows[refusal].text;
}

unsigned http_refusal_status(enum http_refusal refusal)
{
    return rows[refusal].status;
}

size_t http_answer(enum http_refusal refusal, char out[HTTP_ANSWER_MAX])
{
    CHECK(refusal > HTTP_REFUSAL_NONE && refusal < HTTP_REFUSAL_COUNT);

    const struct row *row = &rows[refusal];
    int length = snprintf(out, HTTP_ANSWER_MAX,
                          "HTTP/1.1 %u %s\r\n"
                          "Content-Type: text/plain; charset=utf-8\r\n"
                          "Content-Length: %zu\r\n"
                          "Cache-Control: no-store\r\n"
                          "Connection: close\r\n"
                          "\r\n"
                          "%u %s: %s\n",
                          row->status, reason_of(row->status),
                          strlen("400 : \n") + strlen(reason_of(row->status)) + strlen(row->text), row->status,
                          reason_of(row->status), row->text);

    CHECK(length > 0 && length < HTTP_ANSWER_MAX);
    return (size_t)length;
}
