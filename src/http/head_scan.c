#include "head_scan.h"

#include <string.h>

#include "http_bytes.h"

enum { METHOD_MAX = 32 };

typedef uint8_t sixteen __attribute__((vector_size(16)));

/* Vectors of the same size are the same bits; memcpy says so without aliasing. */
struct halves {
    uint64_t low;
    uint64_t high;
};

static unsigned first_byte(uint64_t mask)
{
    return (unsigned)(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_clzll(mask) : __builtin_ctzll(mask)) / 8;
}

/* Behind the bytes that may stand in a value. */
static const uint8_t *skip_value(const uint8_t *p, const uint8_t *end)
{
    while (end - p >= 16) {
        sixteen bytes;
        struct halves wrong;

        memcpy(&bytes, p, sizeof bytes);
        sixteen mask = (sixteen)(bytes < 0x20) & (sixteen)(bytes != 0x09);

        mask |= (sixteen)(bytes == 0x7f);
        memcpy(&wrong, &mask, sizeof wrong);
        if (wrong.low != 0)
            return p + first_byte(wrong.low);
        if (wrong.high != 0)
            return p + 8 + first_byte(wrong.high);
        p += 16;
    }
    while (p < end && http_byte_is(*p, BYTE_VALUE))
        p++;
    return p;
}

/* The same for a target: 0x21 to 0x7e without '#'. */
static const uint8_t *skip_target(const uint8_t *p, const uint8_t *end)
{
    while (end - p >= 16) {
        sixteen bytes;
        struct halves wrong;

        memcpy(&bytes, p, sizeof bytes);
        sixteen mask = (sixteen)(bytes <= 0x20) | (sixteen)(bytes >= 0x7f) | (sixteen)(bytes == '#');

        memcpy(&wrong, &mask, sizeof wrong);
        if (wrong.low != 0)
            return p + first_byte(wrong.low);
        if (wrong.high != 0)
            return p + 8 + first_byte(wrong.high);
        p += 16;
    }
    while (p < end && http_byte_is(*p, BYTE_TARGET))
        p++;
    return p;
}

static const uint8_t *skip_token(const uint8_t *p, const uint8_t *end)
{
    while (p < end && http_byte_is(*p, BYTE_TOKEN))
        p++;
    return p;
}

void head_scan_init(struct head_scan *scan, bool trailer)
{
    scan->offset = 0;
    scan->mark = 0;
    scan->fields = 0;
    scan->state = trailer ? SCAN_FIELD : SCAN_METHOD;
}

/* One byte of "HTTP/1.1\r", the one at place. */
static enum http_refusal check_version(const uint8_t *version, size_t place)
{
    static const char pattern[] = "HTTP/0.0\r";
    uint8_t byte = version[place];

    if (place == 5 || place == 7)
        return byte >= '0' && byte <= '9' ? HTTP_REFUSAL_NONE : HTTP_REFUSAL_VERSION_SYNTAX;
    if (byte != (uint8_t)pattern[place])
        return place == 8 && byte == '\n' ? HTTP_REFUSAL_LINE_END : HTTP_REFUSAL_VERSION_SYNTAX;
    if (place == 8 && (version[5] != '1' || version[7] > '1'))
        return HTTP_REFUSAL_VERSION;
    return HTTP_REFUSAL_NONE;
}

/* The limit was met before the end of the head. */
static enum http_refusal too_large(enum scan_state state)
{
    switch (state) {
    case SCAN_METHOD:
    case SCAN_TARGET:
    case SCAN_VERSION:
    case SCAN_LINE_LF:
        return HTTP_REFUSAL_TARGET_TOO_LONG;
    case SCAN_FIELD:
    case SCAN_NAME:
    case SCAN_VALUE:
    case SCAN_VALUE_LF:
    case SCAN_END_LF:
        break;
    }
    return HTTP_REFUSAL_HEAD_TOO_LARGE;
}

enum scan_verdict head_scan_step(struct head_scan *scan, const struct http_policy *policy, const uint8_t *in,
                                 size_t length, struct head_lines *lines, enum http_refusal *refusal)
{
    const uint8_t *end = in + (length < policy->head_max_bytes ? length : policy->head_max_bytes);
    const uint8_t *p = in + scan->offset;
    const uint8_t *mark = in + scan->mark;
    unsigned fields = scan->fields;
    enum scan_state state = scan->state;
    enum http_refusal why;

    while (p < end) {
        switch (state) {
        case SCAN_METHOD:
            p = skip_token(p, end);
            why = HTTP_REFUSAL_METHOD_SYNTAX;
            if (p - in > METHOD_MAX)
                goto refused;
            if (p == end)
                break;
            if (*p != ' ' || p == in)
                goto refused;
            lines->method_end = (uint32_t)(p - in);
            mark = ++p;
            lines->target = (uint32_t)(p - in);
            state = SCAN_TARGET;
            break;
        case SCAN_TARGET:
            p = skip_target(p, end);
            if (p == end)
                break;
            why = *p == '\r' || *p == '\n' || p == mark ? HTTP_REFUSAL_REQUEST_LINE : HTTP_REFUSAL_TARGET;
            if (*p != ' ' || p == mark)
                goto refused;
            lines->target_end = (uint32_t)(p - in);
            mark = ++p;
            state = SCAN_VERSION;
            break;
        case SCAN_VERSION:
            why = check_version(mark, (size_t)(p - mark));
            if (why != HTTP_REFUSAL_NONE)
                goto refused;
            if (p++ - mark < 8)
                break;
            lines->minor = mark[7] - (unsigned)'0';
            state = SCAN_LINE_LF;
            break;
        case SCAN_LINE_LF:
        case SCAN_VALUE_LF:
            why = HTTP_REFUSAL_LINE_END;
            if (*p++ != '\n')
                goto refused;
            state = SCAN_FIELD;
            break;
        case SCAN_FIELD:
            if (*p == '\r') {
                p++;
                state = SCAN_END_LF;
                break;
            }
            why = HTTP_REFUSAL_LINE_END;
            if (*p == '\n')
                goto refused;
            why = HTTP_REFUSAL_FOLDED;
            if (*p == ' ' || *p == '\t')
                goto refused;
            why = HTTP_REFUSAL_FIELDS_TOO_MANY;
            if (fields >= policy->fields_max || fields >= HTTP_FIELDS_MAX)
                goto refused;
            mark = p;
            state = SCAN_NAME;
            break;
        case SCAN_NAME:
            p = skip_token(p, end);
            if (p == end)
                break;
            why = HTTP_REFUSAL_FIELD_NAME;
            if (*p != ':' || p == mark)
                goto refused;
            lines->field[fields].start = (uint32_t)(mark - in);
            lines->field[fields].colon = (uint32_t)(p - in);
            p++;
            state = SCAN_VALUE;
            break;
        case SCAN_VALUE:
            p = skip_value(p, end);
            if (p == end)
                break;
            why = *p == '\n' ? HTTP_REFUSAL_LINE_END : HTTP_REFUSAL_VALUE_BYTE;
            if (*p != '\r')
                goto refused;
            lines->field[fields++].end = (uint32_t)(p++ - in);
            state = SCAN_VALUE_LF;
            break;
        case SCAN_END_LF:
            why = HTTP_REFUSAL_LINE_END;
            if (*p++ != '\n')
                goto refused;
            lines->fields = fields;
            lines->end = (uint32_t)(p - in);
            return SCAN_DONE;
        }
    }
    why = too_large(state);
    if ((size_t)(p - in) >= policy->head_max_bytes)
        goto refused;
    scan->offset = (uint32_t)(p - in);
    scan->mark = (uint32_t)(mark - in);
    scan->fields = (uint16_t)fields;
    scan->state = state;
    return SCAN_MORE;
refused:
    *refusal = why;
    return SCAN_REFUSED;
}
