#include "request_head.h"

#include <string.h>

#include <llhttp.h>

#include "http_bytes.h"
#include "http_host.h"
#include "http_list.h"
#include "request_local.h"

/* What has been met on the way through the fields. */
struct facts {
    bool length;
    bool coding;
    bool close;
    bool keep_alive;
    bool connection_upgrade; /* "upgrade" in Connection */
    bool upgrade_field;
    bool protocol; /* one in Upgrade that may stay */
};

/* ---- one field ---- */

/* The value as it stands: one SP may be before it, nothing behind it. For fields that decide where the request ends. */
static void exact_value(const uint8_t *in, const struct head_field *field, const uint8_t **value, const uint8_t **end)
{
    *value = in + field->colon + 1;
    *end = in + field->end;
    if (*value < *end && **value == ' ')
        (*value)++;
}

static enum http_refusal read_length(struct request_head *head, struct facts *facts, const uint8_t *in,
                                     const struct head_field *field)
{
    const uint8_t *p, *end;
    uint64_t value = 0;

    if (facts->length)
        return HTTP_REFUSAL_LENGTH_REPEATED;
    facts->length = true;
    exact_value(in, field, &p, &end);
    if (p == end || end - p > 19)
        return HTTP_REFUSAL_LENGTH_INVALID;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return HTTP_REFUSAL_LENGTH_INVALID;
        value = value * 10 + (uint64_t)(*p - '0');
    }
    if (value > INT64_MAX)
        return HTTP_REFUSAL_LENGTH_INVALID;
    head->content_length = value;
    return HTTP_REFUSAL_NONE;
}

static bool is_known_coding(const uint8_t *coding, size_t length)
{
    return HTTP_BYTES_ARE(coding, length, "gzip") || HTTP_BYTES_ARE(coding, length, "x-gzip") ||
           HTTP_BYTES_ARE(coding, length, "deflate") || HTTP_BYTES_ARE(coding, length, "compress") ||
           HTTP_BYTES_ARE(coding, length, "x-compress");
}

/* RFC 9112 section 6.1: "chunked" is the last one, and only the last one. */
static enum http_refusal read_coding(struct facts *facts, const uint8_t *in, const struct head_field *field)
{
    const uint8_t *p, *end;

    if (facts->coding)
        return HTTP_REFUSAL_CODING_REPEATED;
    facts->coding = true;
    exact_value(in, field, &p, &end);
    for (;;) {
        const uint8_t *start = p;

        while (p < end && http_byte_is(*p, BYTE_TOKEN))
            p++;

        size_t length = (size_t)(p - start);
        bool chunked = HTTP_BYTES_ARE(start, length, "chunked");

        if (length == 0 || (p < end && *p != ',') || chunked != (p == end) || HTTP_BYTES_ARE(start, length, "identity"))
            return HTTP_REFUSAL_CODING_INVALID;
        if (chunked)
            return HTTP_REFUSAL_NONE;
        if (!is_known_coding(start, length))
            return HTTP_REFUSAL_CODING_UNKNOWN;
        p++;
        if (p < end && *p == ' ')
            p++;
    }
}

static enum http_refusal read_host(struct request_head *head, const uint8_t *in, const struct head_field *field)
{
    const uint8_t *value = in + field->colon + 1;
    const uint8_t *end = in + field->end;

    if (head->host != NULL)
        return HTTP_REFUSAL_HOST_REPEATED;
    http_trim(&value, &end);
    head->host = value;
    head->host_length = (size_t)(end - value);
    return HTTP_REFUSAL_NONE;
}

static enum http_refusal read_connection(struct facts *facts, const struct http_policy *policy, const uint8_t *in,
                                         struct head_field *field)
{
    struct http_list list = {in + field->colon + 1, in + field->end};
    const uint8_t *option;
    size_t length;

    while (http_list_next(&list, &option, &length)) {
        for (size_t i = 0; i < length; i++)
            if (!http_byte_is(option[i], BYTE_TOKEN))
                return HTTP_REFUSAL_CONNECTION_INVALID;
        if (HTTP_BYTES_ARE(option, length, "keep-alive")) {
            facts->keep_alive = true;
        } else if (HTTP_BYTES_ARE(option, length, "close")) {
            facts->close = true;
        } else if (HTTP_BYTES_ARE(option, length, "upgrade")) {
            facts->connection_upgrade = true;
            if (field->action == FIELD_KEEP)
                field->action = FIELD_CONNECTION_UPGRADE;
        } else if (!request_option_stays(policy, option, length)) {
            field->action = FIELD_CONNECTION;
        }
    }
    return HTTP_REFUSAL_NONE;
}

/* protocol = token [ "/" token ] */
static bool is_protocol(const uint8_t *bytes, size_t length)
{
    size_t parts = 0, part = 0;

    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '/' && part > 0 && parts == 0) {
            parts++;
            part = 0;
        } else if (http_byte_is(bytes[i], BYTE_TOKEN)) {
            part++;
        } else {
            return false;
        }
    }
    return part > 0;
}

static enum http_refusal read_upgrade(struct facts *facts, const uint8_t *in, struct head_field *field)
{
    struct http_list list = {in + field->colon + 1, in + field->end};
    const uint8_t *protocol;
    size_t length, kept = 0, count = 0;

    facts->upgrade_field = true;
    for (; http_list_next(&list, &protocol, &length); count++) {
        if (!is_protocol(protocol, length))
            return HTTP_REFUSAL_UPGRADE_INVALID;
        kept += request_protocol_stays(protocol, length);
    }
    if (kept > 0)
        facts->protocol = true;
    field->action = kept == 0 ? FIELD_DROP : kept < count ? FIELD_UPGRADE_PART : FIELD_UPGRADE;
    return HTTP_REFUSAL_NONE;
}

/* ---- all fields ---- */

/* One of our own names, by length and first letter first: most fields are none of them. */
static enum request_name name_of(const uint8_t *name, size_t length)
{
    switch (length) {
    case 4:
        return HTTP_BYTES_ARE(name, length, "host") ? NAME_HOST : NAME_OTHER;
    case 7:
        return HTTP_BYTES_ARE(name, length, "upgrade") ? NAME_UPGRADE : NAME_OTHER;
    case 10:
        return HTTP_BYTES_ARE(name, length, "connection") ? NAME_CONNECTION : NAME_OTHER;
    case 14:
        if ((name[0] | 0x20) == 'c' && http_bytes_folds_to(name, length, "content-length"))
            return name[7] == '-' ? NAME_LENGTH : NAME_LOOKALIKE;
        return http_bytes_folds_to(name, length, "http2-settings") ? NAME_DROPPED : NAME_OTHER;
    case 15:
        return HTTP_BYTES_ARE(name, length, "x-forwarded-for") ? NAME_FORWARDED_FOR : NAME_OTHER;
    case 17:
        if (http_bytes_folds_to(name, length, "transfer-encoding"))
            return name[8] == '-' ? NAME_CODING : NAME_LOOKALIKE;
        return NAME_OTHER;
    default:
        return NAME_OTHER;
    }
}

static enum http_refusal read_field(struct request_head *head, struct facts *facts, const struct http_policy *policy,
                                    const uint8_t *in, struct head_field *field)
{
    const uint8_t *name = in + field->start;
    size_t length = field->colon - field->start;

    switch (name_of(name, length)) {
    case NAME_HOST:
        return read_host(head, in, field);
    case NAME_LENGTH:
        return read_length(head, facts, in, field);
    case NAME_CODING:
        return read_coding(facts, in, field);
    case NAME_CONNECTION:
        return read_connection(facts, policy, in, field);
    case NAME_UPGRADE:
        return read_upgrade(facts, in, field);
    case NAME_LOOKALIKE:
        return HTTP_REFUSAL_FIELD_SPELLING;
    case NAME_DROPPED:
        field->action = FIELD_DROP;
        return HTTP_REFUSAL_NONE;
    case NAME_FORWARDED_FOR:
        field->action = policy->append_forwarded_for                    ? FIELD_FORWARDED_FOR
                        : http_names_match(policy->strip, name, length) ? FIELD_DROP
                                                                        : FIELD_KEEP;
        return HTTP_REFUSAL_NONE;
    case NAME_OTHER:
        break;
    }
    if (http_names_match(policy->strip, name, length))
        field->action = FIELD_DROP;
    return HTTP_REFUSAL_NONE;
}

/* ---- the whole head ---- */

/* RFC 9112 section 3.2: the target's form, and that it names the same host as Host. */
static enum http_refusal check_target(const struct request_head *head, const struct http_host *host, const uint8_t *in)
{
    const uint8_t *target = in + head->lines.target;
    size_t length = head->lines.target_end - head->lines.target;
    struct http_host named;

    if (head->kind == REQUEST_CONNECT) {
        if (!http_host_parse(&named, target, length) || named.port_length == 0)
            return HTTP_REFUSAL_TARGET;
        if (host != NULL &&
            (host->name_length != named.name_length || !http_bytes_equal(host->name, named.name, named.name_length) ||
             (host->port != NULL &&
              (host->port_length != named.port_length || memcmp(host->port, named.port, named.port_length) != 0))))
            return HTTP_REFUSAL_HOST_DIFFERS;
        return HTTP_REFUSAL_NONE;
    }
    if (target[0] == '/')
        return HTTP_REFUSAL_NONE;
    if (length == 1 && target[0] == '*')
        return head->lines.method_end == 7 && memcmp(in, "OPTIONS", 7) == 0 ? HTTP_REFUSAL_NONE : HTTP_REFUSAL_TARGET;

    size_t scheme = length > 7 && http_bytes_equal(target, (const uint8_t *)"http://", 7)    ? 7
                    : length > 8 && http_bytes_equal(target, (const uint8_t *)"https://", 8) ? 8
                                                                                             : 0;
    size_t end = scheme;

    while (end < length && target[end] != '/' && target[end] != '?')
        end++;
    if (scheme == 0 || !http_host_parse(&named, target + scheme, end - scheme))
        return HTTP_REFUSAL_TARGET;
    if (head->host == NULL)
        return HTTP_REFUSAL_HOST_MISSING;
    if (end - scheme != head->host_length || !http_bytes_equal(head->host, target + scheme, head->host_length))
        return HTTP_REFUSAL_HOST_DIFFERS;
    return HTTP_REFUSAL_NONE;
}

/* RFC 9112 section 3.2, RFC 9110 section 7.4 */
static enum http_refusal check_host(const struct request_head *head, const struct http_policy *policy,
                                    const uint8_t *in)
{
    struct http_host host;
    bool known = head->host != NULL && http_host_parse(&host, head->host, head->host_length);
    enum http_refusal refusal;

    if (head->host == NULL && head->lines.minor == 1)
        return HTTP_REFUSAL_HOST_MISSING;
    /* a URI of http or https has no empty host (RFC 9110 section 4.2): only "OPTIONS *" does without a URI */
    if (head->host != NULL && !known && (head->host_length > 0 || in[head->lines.target] != '*'))
        return HTTP_REFUSAL_HOST_INVALID;
    refusal = check_target(head, known ? &host : NULL, in);
    if (refusal != HTTP_REFUSAL_NONE)
        return refusal;
    if (head->kind == REQUEST_CONNECT && !known) /* HTTP/1.0: the target alone names the host */
        known = http_host_parse(&host, in + head->lines.target, head->lines.target_end - head->lines.target);
    if (policy->required_host != NULL && (!known || !http_host_is(&host, policy->required_host)))
        return HTTP_REFUSAL_HOST_MISDIRECTED;
    if (policy->host_is_barred != NULL && known &&
        policy->host_is_barred(policy->host_arg, host.name, host.name_length))
        return HTTP_REFUSAL_HOST_MISDIRECTED;
    return HTTP_REFUSAL_NONE;
}

static enum http_refusal decide_framing(struct request_head *head, const struct facts *facts, bool bodiless)
{
    if (facts->length && facts->coding)
        return HTTP_REFUSAL_LENGTH_AND_CODING;
    if (facts->coding && head->lines.minor == 0)
        return HTTP_REFUSAL_CODING_VERSION;
    if (bodiless && (facts->length || facts->coding))
        return HTTP_REFUSAL_BODY_UNEXPECTED;
    head->framing = facts->coding ? FRAMING_CHUNKED : facts->length ? FRAMING_LENGTH : FRAMING_NONE;
    return HTTP_REFUSAL_NONE;
}

/* RFC 9110 section 7.8: an upgrade is one only in a request of HTTP/1.1 without a body that lists it in Connection. */
static void decide_upgrade(struct request_head *head, const struct facts *facts)
{
    bool upgrade = facts->connection_upgrade && facts->protocol && head->lines.minor == 1 &&
                   head->kind == REQUEST_ORDINARY && head->framing != FRAMING_CHUNKED && head->content_length == 0;

    if (upgrade)
        head->kind = REQUEST_UPGRADE;
    for (size_t i = 0; i < head->lines.fields; i++) {
        struct head_field *field = &head->lines.field[i];

        if (field->action == FIELD_CONNECTION_UPGRADE)
            field->action = upgrade ? FIELD_KEEP : FIELD_CONNECTION;
        else if (field->action == FIELD_UPGRADE)
            field->action = upgrade ? FIELD_KEEP : FIELD_DROP;
        else if (field->action == FIELD_UPGRADE_PART && !upgrade)
            field->action = FIELD_DROP;
    }
}

static int on_headers_complete(llhttp_t *parser)
{
    (void)parser;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {.on_headers_complete = on_headers_complete};

/* A second reader, strict: does it see the same head, and the same framing? */
static enum http_refusal ask_llhttp(const struct request_head *head, const struct facts *facts, const uint8_t *in)
{
    llhttp_t parser;
    llhttp_errno_t result;

    llhttp_init(&parser, HTTP_REQUEST, &settings);
    result = llhttp_execute(&parser, (const char *)in, head->lines.end);
    if (result == HPE_INVALID_METHOD || result == HPE_INVALID_CONSTANT)
        return HTTP_REFUSAL_METHOD_UNKNOWN;
    if (result != HPE_PAUSED || llhttp_get_error_pos(&parser) != (const char *)in + head->lines.end)
        return HTTP_REFUSAL_AMBIGUOUS;
    if (((parser.flags & F_CHUNKED) != 0) != facts->coding ||
        ((parser.flags & F_TRANSFER_ENCODING) != 0) != facts->coding ||
        ((parser.flags & F_CONTENT_LENGTH) != 0) != facts->length || parser.content_length != head->content_length ||
        parser.http_major != 1 || parser.http_minor != head->lines.minor ||
        (parser.method == HTTP_CONNECT) != (head->kind == REQUEST_CONNECT) ||
        (parser.method == HTTP_HEAD) != (head->kind == REQUEST_HEAD))
        return HTTP_REFUSAL_AMBIGUOUS;
    return HTTP_REFUSAL_NONE;
}

static bool method_is(const struct request_head *head, const uint8_t *in, const char *method, size_t length)
{
    return head->lines.method_end == length && memcmp(in, method, length) == 0;
}

enum http_refusal request_head_parse(struct request_head *head, const struct http_policy *policy, const uint8_t *in)
{
    struct facts facts = {0};
    enum http_refusal refusal;

    head->content_length = 0;
    head->host = NULL;
    head->host_length = 0;
    head->edited = false;
    head->kind = method_is(head, in, "HEAD", 4)      ? REQUEST_HEAD
                 : method_is(head, in, "CONNECT", 7) ? REQUEST_CONNECT
                                                     : REQUEST_ORDINARY;
    for (size_t i = 0; i < head->lines.fields; i++) {
        struct head_field *field = &head->lines.field[i];

        field->action = FIELD_KEEP;
        refusal = read_field(head, &facts, policy, in, field);
        if (refusal != HTTP_REFUSAL_NONE)
            return refusal;
        if (field->action != FIELD_KEEP)
            head->edited = true;
    }
    refusal = decide_framing(head, &facts, head->kind == REQUEST_CONNECT || method_is(head, in, "TRACE", 5));
    if (refusal == HTTP_REFUSAL_NONE)
        refusal = check_host(head, policy, in);
    if (refusal == HTTP_REFUSAL_NONE)
        refusal = ask_llhttp(head, &facts, in);
    if (refusal != HTTP_REFUSAL_NONE)
        return refusal;
    if (facts.connection_upgrade || facts.upgrade_field)
        decide_upgrade(head, &facts);
    head->last = facts.close || (head->lines.minor == 0 && !facts.keep_alive);
    return HTTP_REFUSAL_NONE;
}

/* RFC 9110 section 6.5.1: what decides about framing, routing or the connection has no place behind the body. */
bool request_trailer_parse(struct head_lines *lines, const struct http_policy *policy, const uint8_t *in)
{
    static const char *const dropped[] = {
        "host",       "content-length",   "transfer-encoding", "connection",       "te",           "trailer", "upgrade",
        "keep-alive", "proxy-connection", "http2-settings",    "content-encoding", "max-forwards", "expect",
    };
    bool any = false;

    for (size_t i = 0; i < lines->fields; i++) {
        struct head_field *field = &lines->field[i];
        const uint8_t *name = in + field->start;
        size_t length = field->colon - field->start;

        field->action = http_names_match(policy->strip, name, length) ? FIELD_DROP : FIELD_KEEP;
        for (size_t k = 0; k < sizeof dropped / sizeof *dropped && field->action == FIELD_KEEP; k++)
            if (length == strlen(dropped[k]) && http_bytes_folds_to(name, length, dropped[k]))
                field->action = FIELD_DROP;
        if (policy->append_forwarded_for && length == 15 && http_bytes_folds_to(name, length, "x-forwarded-for"))
            field->action = FIELD_DROP;
        any = any || field->action == FIELD_DROP;
    }
    return any;
}
