#include "demo_request.h"

#include <string.h>
#include <strings.h>

struct text {
    const char *bytes;
    size_t length;
};

static enum demo_request_result refuse(struct demo_request *request, int status, const char *reason)
{
    request->status = status;
    request->reason = reason;
    return DEMO_REQUEST_REFUSED;
}

static bool text_is(struct text text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.bytes, word, text.length) == 0;
}

static struct text trim(struct text text)
{
    while (text.length > 0 && (text.bytes[0] == ' ' || text.bytes[0] == '\t')) {
        text.bytes++;
        text.length--;
    }
    while (text.length > 0 && (text.bytes[text.length - 1] == ' ' || text.bytes[text.length - 1] == '\t'))
        text.length--;
    return text;
}

/* Splits off what stands before the separator; all of it when there is none. */
static struct text take_until(struct text *rest, char separator)
{
    const char *end = rest->length == 0 ? NULL : memchr(rest->bytes, separator, rest->length);
    struct text taken = {rest->bytes, end == NULL ? rest->length : (size_t)(end - rest->bytes)};
    size_t used = taken.length + (end == NULL ? 0 : 1);

    rest->bytes += used;
    rest->length -= used;
    return taken;
}

/* tchar of RFC 9110, section 5.6.2. */
static bool is_token(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char byte = text.bytes[i];
        bool is_alnum = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');

        if (!is_alnum && (byte == '\0' || strchr("!#$%&'*+-.^_`|~", byte) == NULL))
            return false;
    }
    return text.length > 0;
}

/* Does a comma-separated list hold this word? Parameters behind a ';' are cut off. */
static bool list_has(struct text list, const char *word)
{
    while (list.length > 0) {
        struct text item = take_until(&list, ',');

        if (text_is(trim(take_until(&item, ';')), word))
            return true;
    }
    return false;
}

static bool parse_length(struct text text, uint64_t *length)
{
    uint64_t value = 0;

    if (text.length == 0 || text.length > 18)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text.bytes[i] - '0');
    }
    *length = value;
    return true;
}

static enum demo_request_result parse_request_line(struct text line, struct demo_request *request)
{
    struct text method = take_until(&line, ' ');
    struct text target = take_until(&line, ' ');

    if (!is_token(method) || target.length == 0 || line.length != 8)
        return refuse(request, 400, "this is not an HTTP request");
    if (memcmp(line.bytes, "HTTP/1.", 7) != 0 || line.bytes[7] < '0' || line.bytes[7] > '1')
        return refuse(request, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    if (text_is(method, "CONNECT"))
        return refuse(request, 405, "this is no proxy");
    request->is_head = method.length == 4 && memcmp(method.bytes, "HEAD", 4) == 0;
    request->keep_alive = line.bytes[7] == '1';
    return DEMO_REQUEST_DONE;
}

static enum demo_request_result parse_field(struct text line, struct demo_request *request, bool *has_length)
{
    bool has_colon = line.length > 0 && memchr(line.bytes, ':', line.length) != NULL;
    struct text name = take_until(&line, ':');
    struct text value = trim(line);

    if (!has_colon || !is_token(name))
        return refuse(request, 400, "a line of the request's head is not \"name: value\"");
    if (text_is(name, "Content-Length")) {
        if (*has_length || !parse_length(value, &request->body_length))
            return refuse(request, 400, "Content-Length is not one number");
        *has_length = true;
    } else if (text_is(name, "Transfer-Encoding")) {
        return refuse(request, 411, "this demonstration takes bodies with a Content-Length only");
    } else if (text_is(name, "Connection")) {
        if (list_has(value, "close"))
            request->keep_alive = false;
    } else if (text_is(name, "Accept")) {
        request->wants_html = request->wants_html || list_has(value, "text/html");
    } else if (text_is(name, "Expect")) {
        request->expects_continue = text_is(value, "100-continue");
    }
    return DEMO_REQUEST_DONE;
}

/* head: without the empty line, each line with its CRLF. */
static enum demo_request_result parse_head(struct text head, struct demo_request *request)
{
    bool is_first = true;
    bool has_length = false;

    while (head.length > 0) {
        struct text line = take_until(&head, '\n');
        enum demo_request_result result;

        if (line.length == 0 || line.bytes[line.length - 1] != '\r')
            return refuse(request, 400, "a line does not end with CR LF");
        line.length--;
        if (memchr(line.bytes, '\r', line.length) != NULL || memchr(line.bytes, '\0', line.length) != NULL)
            return refuse(request, 400, "a carriage return or NUL stands within a line");
        result = is_first ? parse_request_line(line, request) : parse_field(line, request, &has_length);
        if (result != DEMO_REQUEST_DONE)
            return result;
        is_first = false;
    }
    return is_first ? refuse(request, 400, "this is not an HTTP request") : DEMO_REQUEST_DONE;
}

enum demo_request_result demo_request_parse(const char *bytes, size_t length, struct demo_request *request)
{
    size_t visible = length < DEMO_HEAD_MAX ? length : DEMO_HEAD_MAX;
    const char *end = visible == 0 ? NULL : memmem(bytes, visible, "\r\n\r\n", 4);

    memset(request, 0, sizeof *request);
    if (end == NULL && visible == DEMO_HEAD_MAX)
        return refuse(request, 431, "the request's head is too long");
    if (end == NULL)
        return DEMO_REQUEST_NEED_MORE;
    request->head_length = (size_t)(end - bytes) + 4;
    return parse_head((struct text){bytes, request->head_length - 2}, request);
}
