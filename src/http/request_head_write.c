#include <string.h>

#include "http_list.h"
#include "request_head.h"
#include "request_local.h"

static uint8_t *put(uint8_t *out, const void *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

#define PUT_TEXT(out, text) put(out, text, sizeof(text) - 1)

static bool element_stays(const struct request_head *head, const struct http_policy *policy, enum field_action action,
                          const uint8_t *element, size_t length)
{
    if (action == FIELD_UPGRADE_PART)
        return request_protocol_stays(element, length);
    if (HTTP_BYTES_ARE(element, length, "upgrade"))
        return head->kind == REQUEST_UPGRADE;
    return request_option_stays(policy, element, length);
}

/* The field with what may stay of its list; nothing when that is nothing. */
static uint8_t *put_list(uint8_t *out, const struct request_head *head, const struct http_policy *policy,
                         const uint8_t *in, const struct head_field *field)
{
    struct http_list list = {in + field->colon + 1, in + field->end};
    const uint8_t *element;
    size_t length;
    bool any = false;

    while (http_list_next(&list, &element, &length)) {
        if (!element_stays(head, policy, field->action, element, length))
            continue;
        if (any) {
            out = PUT_TEXT(out, ", ");
        } else {
            out = put(out, in + field->start, field->colon - field->start);
            out = PUT_TEXT(out, ": ");
        }
        out = put(out, element, length);
        any = true;
    }
    return any ? PUT_TEXT(out, "\r\n") : out;
}

/* The client's own values, in their order, and its address behind them, in one field. */
static uint8_t *put_forwarded_for(uint8_t *out, const struct request_head *head, const struct http_policy *policy,
                                  const uint8_t *in)
{
    out = PUT_TEXT(out, "X-Forwarded-For: ");
    for (size_t i = 0; i < head->lines.fields; i++) {
        const struct head_field *field = &head->lines.field[i];
        const uint8_t *value = in + field->colon + 1;
        const uint8_t *end = in + field->end;

        if (field->action != FIELD_FORWARDED_FOR)
            continue;
        http_trim(&value, &end);
        if (value == end)
            continue;
        out = put(out, value, (size_t)(end - value));
        out = PUT_TEXT(out, ", ");
    }
    out = put(out, policy->client_ip, strlen(policy->client_ip));
    return PUT_TEXT(out, "\r\n");
}

/* The lines up to the empty one, in runs as long as may be. */
static uint8_t *put_kept(uint8_t *out, const struct request_head *head, const struct http_policy *policy,
                         const uint8_t *in)
{
    size_t kept = 0; /* from here on nothing has been put out yet */

    for (size_t i = 0; head->edited && i < head->lines.fields; i++) {
        const struct head_field *field = &head->lines.field[i];

        if (field->action == FIELD_KEEP)
            continue;
        out = put(out, in + kept, field->start - kept);
        kept = (size_t)field->end + 2;
        if (field->action == FIELD_CONNECTION || field->action == FIELD_UPGRADE_PART)
            out = put_list(out, head, policy, in, field);
    }
    return put(out, in + kept, head->lines.end - 2 - kept);
}

size_t request_head_write(const struct request_head *head, const struct http_policy *policy, const uint8_t *in,
                          uint8_t *out)
{
    uint8_t *p = put_kept(out, head, policy, in);

    if (policy->append_forwarded_for)
        p = put_forwarded_for(p, head, policy, in);
    if (policy->add_forwarded_host && head->host_length > 0) {
        p = PUT_TEXT(p, "X-Forwarded-Host: ");
        p = put(p, head->host, head->host_length);
        p = PUT_TEXT(p, "\r\n");
    }
    if (policy->add_length > 0)
        p = put(p, policy->add, policy->add_length);
    return (size_t)(p - out);
}

size_t request_trailer_write(const struct head_lines *lines, const uint8_t *in, uint8_t *out)
{
    uint8_t *p = out;
    size_t kept = 0;

    for (size_t i = 0; i < lines->fields; i++) {
        const struct head_field *field = &lines->field[i];

        if (field->action == FIELD_KEEP)
            continue;
        p = put(p, in + kept, field->start - kept);
        kept = (size_t)field->end + 2;
    }
    p = put(p, in + kept, lines->end - 2 - kept);
    return (size_t)(p - out);
}
