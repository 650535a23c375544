#include "chunk_line.h"

#include <stdbool.h>

#include "http_bytes.h"
#include "http_list.h"

enum { SIZE_DIGITS_MAX = 16 };

/* What is left of the line; a reader that meets the end sets short_of, one that meets a wrong byte sets refusal. */
struct reader {
    const uint8_t *p;
    const uint8_t *end;
    bool short_of;
    enum http_refusal refusal;
};

static bool wrong(struct reader *reader, enum http_refusal refusal)
{
    if (reader->p == reader->end)
        reader->short_of = true;
    else
        reader->refusal = *reader->p == '\n' ? HTTP_REFUSAL_LINE_END : refusal;
    return false;
}

static void skip_blanks(struct reader *reader)
{
    while (reader->p < reader->end && http_is_blank(*reader->p))
        reader->p++;
}

static bool read_size(struct reader *reader, uint64_t *size)
{
    const uint8_t *start = reader->p;

    *size = 0;
    for (; reader->p < reader->end && http_byte_is(*reader->p, BYTE_HEX); reader->p++) {
        uint8_t byte = *reader->p;

        if (reader->p - start == SIZE_DIGITS_MAX)
            return wrong(reader, HTTP_REFUSAL_CHUNK_SIZE);
        *size = *size << 4 | (uint64_t)(byte <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10);
    }
    if (reader->p == start || reader->p == reader->end)
        return wrong(reader, HTTP_REFUSAL_CHUNK_SIZE);
    if (*size > INT64_MAX) {
        reader->refusal = HTTP_REFUSAL_CHUNK_SIZE;
        return false;
    }
    return true;
}

static bool read_token(struct reader *reader)
{
    const uint8_t *start = reader->p;

    while (reader->p < reader->end && http_byte_is(*reader->p, BYTE_TOKEN))
        reader->p++;
    return (reader->p > start && reader->p < reader->end) || wrong(reader, HTTP_REFUSAL_CHUNK_EXTENSION);
}

/* RFC 9110 section 5.6.4; reader is at the opening quote */
static bool read_quoted(struct reader *reader)
{
    for (reader->p++; reader->p < reader->end; reader->p++) {
        if (*reader->p == '"') {
            reader->p++;
            return true;
        }
        if (*reader->p == '\\' && ++reader->p == reader->end)
            break;
        if (!http_byte_is(*reader->p, BYTE_VALUE))
            break;
    }
    return wrong(reader, HTTP_REFUSAL_CHUNK_EXTENSION);
}

/* BWS ";" BWS name [ BWS "=" BWS value ]; reader is at the ";" */
static bool read_extension(struct reader *reader)
{
    reader->p++;
    skip_blanks(reader);
    if (!read_token(reader))
        return false;

    const uint8_t *after = reader->p;

    skip_blanks(reader);
    if (reader->p == reader->end || *reader->p != '=') {
        bool ends = reader->p < reader->end && (*reader->p == ';' || (*reader->p == '\r' && reader->p == after));

        return ends || wrong(reader, HTTP_REFUSAL_CHUNK_EXTENSION);
    }
    reader->p++;
    skip_blanks(reader);
    if (reader->p == reader->end)
        return wrong(reader, HTTP_REFUSAL_CHUNK_EXTENSION);
    return *reader->p == '"' ? read_quoted(reader) : read_token(reader);
}

static bool read_line(struct reader *reader, struct chunk_line *line)
{
    const uint8_t *start = reader->p;

    if (!read_size(reader, &line->size))
        return false;
    line->digits = (size_t)(reader->p - start);
    for (;;) {
        const uint8_t *after = reader->p;
        enum http_refusal refusal = (size_t)(after - start) == line->digits ? HTTP_REFUSAL_CHUNK_SIZE
                                                                            : HTTP_REFUSAL_CHUNK_EXTENSION;

        skip_blanks(reader);
        if (reader->p < reader->end && *reader->p == ';') {
            if (!read_extension(reader))
                return false;
            continue;
        }
        if (reader->p == reader->end || *reader->p != '\r' || reader->p > after)
            return wrong(reader, refusal);
        break;
    }
    reader->p++;
    if (reader->p == reader->end || *reader->p != '\n')
        return wrong(reader, HTTP_REFUSAL_LINE_END);
    reader->p++;
    line->length = (size_t)(reader->p - start);
    return true;
}

enum scan_verdict chunk_line_parse(struct chunk_line *line, const uint8_t *in, size_t length,
                                   enum http_refusal *refusal)
{
    struct reader reader = {in, in + (length < CHUNK_LINE_MAX ? length : CHUNK_LINE_MAX), false, HTTP_REFUSAL_NONE};

    if (read_line(&reader, line))
        return SCAN_DONE;
    if (reader.short_of && length < CHUNK_LINE_MAX)
        return SCAN_MORE;
    *refusal = reader.short_of ? HTTP_REFUSAL_CHUNK_EXTENSION : reader.refusal;
    return SCAN_REFUSED;
}
