/*
 * http_request_fuzz.c: requests of a client, rewritten.
 *
 * The first bytes of the input choose the policy, how the rest is cut, and how a header that must not pass is spelled;
 * that one is put behind the first line. What comes out is read again by llhttp: as many requests as went in, with the
 * same bodies, each with ours of the added fields and with no other; whatever the cuts, the same bytes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llhttp.h>

#include "base/check.h"
#include "base/error.h"
#include "http/request_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { IN_MAX = 64 * 1024, OUT_MAX = 2 * 1024 * 1024, MESSAGES_MAX = 4096, OPTION_BYTES = 4 };

#define CLIENT_IP "192.0.2.1"
#define MARKER "mArKeR-of-the-client"

static const char *const spellings[] = {
    "X-Forwarded-For", "x_forwarded_for", "X-FORWARDED-PROTO", "X-Forwarded!Proto", "Forwarded",
    "X-Real-IP",       "x.real.ip",       "X-Forward-For",     "X_Forward_Proto",   "X-Forwarded",
};

/* What came out of a stream. */
struct outcome {
    uint8_t *bytes;
    size_t length;
    size_t consumed;
    enum request_verdict verdict;
    enum http_refusal refusal;
    uint64_t requests;
};

/* What llhttp reads in some bytes. */
struct message {
    uint8_t method;
    uint8_t minor;
    uint16_t framing; /* F_CHUNKED, F_CONTENT_LENGTH */
    uint64_t body_hash;
    size_t body_length;
    unsigned ours;
    bool complete;
};

struct reading {
    struct message *messages;
    size_t count;
    bool check_fields;
    const struct http_policy *policy;
    char name[1024];
    size_t name_length;
    char value[1024];
    size_t value_length;
    bool in_value;
    bool failed;
};

static struct http_names strip;
static const char added[] = "X-Forwarded-For: " CLIENT_IP "\r\nX-Forwarded-Proto: https\r\n";
static const char added_less[] = "X-Forwarded-Proto: https\r\n";

/* ---- through the stream ---- */

static void run(struct outcome *outcome, const struct http_policy *policy, const uint8_t *in, size_t length,
                uint32_t cuts)
{
    static uint8_t out[OUT_MAX / 2];
    struct request_stream stream;
    size_t given = cuts == 0 ? length : 0;
    size_t out_size = cuts % 3 == 1 ? http_policy_out_bytes(policy) : sizeof out;

    request_stream_init(&stream);
    outcome->length = 0;
    outcome->consumed = 0;
    for (;;) {
        struct request_step step;
        enum request_verdict verdict = request_stream_step(&stream, policy, in + outcome->consumed,
                                                           given - outcome->consumed, out, out_size, &step);

        CHECK(step.consumed <= given - outcome->consumed && step.tail <= step.consumed && step.produced <= out_size);
        CHECK(outcome->length + step.produced + step.tail <= OUT_MAX);
        memcpy(outcome->bytes + outcome->length, out, step.produced);
        outcome->length += step.produced;
        outcome->consumed += step.consumed;
        memcpy(outcome->bytes + outcome->length, in + outcome->consumed - step.tail, step.tail);
        outcome->length += step.tail;
        outcome->verdict = verdict;
        if (verdict == REQUEST_FULL) {
            CHECK(step.consumed > 0 || step.produced + step.tail > 0);
            continue;
        }
        if (verdict == REQUEST_HELD) {
            while (stream.kinds.count > 0)
                request_kinds_pop(&stream.kinds);
            request_stream_resume(&stream);
            if (outcome->consumed < given)
                continue;
        }
        if (verdict == REQUEST_REFUSED || given == length)
            break;
        cuts = cuts * 1664525 + 1013904223;
        given += 1 + (cuts >> 16) % (cuts >> 31 ? 3 : 40);
        if (given > length)
            given = length;
    }
    outcome->refusal = stream.refusal;
    outcome->requests = stream.requests;
}

/* ---- read again ---- */

static int on_message_begin(llhttp_t *parser)
{
    struct reading *reading = parser->data;

    CHECK(reading->count < MESSAGES_MAX);
    memset(&reading->messages[reading->count++], 0, sizeof *reading->messages);
    reading->name_length = reading->value_length = 0;
    reading->in_value = false;
    return 0;
}

/* Connection must not make the backend drop a field of ours. */
static void judge_connection(const struct reading *reading)
{
    size_t start = 0;

    if (reading->value_length == sizeof reading->value)
        return;
    for (size_t i = 0; i <= reading->value_length; i++) {
        if (i < reading->value_length && strchr(", \t", reading->value[i]) == NULL)
            continue;
        CHECK(i == start || !http_names_match(&strip, (const uint8_t *)reading->value + start, i - start));
        start = i + 1;
    }
}

/* A field of the output that is complete: if its name is one that is taken out, it must be ours. */
static void judge_field(struct reading *reading, bool trailer)
{
    struct message *message = &reading->messages[reading->count - 1];
    size_t ip = strlen(CLIENT_IP);

    if (!reading->in_value || !reading->check_fields)
        return;
    if (reading->name_length == 10 && strncasecmp(reading->name, "connection", 10) == 0)
        judge_connection(reading);
    if (!http_names_match(&strip, (const uint8_t *)reading->name, reading->name_length))
        return;
    CHECK(!trailer);
    message->ours++;
    if (reading->name_length == 15 && memcmp(reading->name, "X-Forwarded-For", 15) == 0) {
        if (reading->value_length < sizeof reading->value)
            CHECK(reading->value_length >= ip &&
                  memcmp(reading->value + reading->value_length - ip, CLIENT_IP, ip) == 0);
        CHECK(reading->policy->append_forwarded_for || reading->value_length == ip);
        message->ours += 0x100;
    } else if (reading->name_length == 17) {
        CHECK(memcmp(reading->name, "X-Forwarded-Proto", 17) == 0 && reading->value_length == 5 &&
              memcmp(reading->value, "https", 5) == 0);
        message->ours += 0x10000;
    } else {
        CHECK(reading->policy->add_forwarded_host && reading->name_length == 16 &&
              memcmp(reading->name, "X-Forwarded-Host", 16) == 0);
        message->ours += 0x1000000;
    }
}

static void add_part(char *text, size_t *length, const char *at, size_t more)
{
    for (size_t i = 0; i < more && *length < sizeof((struct reading *)0)->name; i++)
        text[(*length)++] = at[i];
}

static int on_header_field(llhttp_t *parser, const char *at, size_t length)
{
    struct reading *reading = parser->data;

    if (reading->in_value) {
        judge_field(reading, reading->messages[reading->count - 1].complete);
        reading->in_value = false;
        reading->name_length = reading->value_length = 0;
    }
    add_part(reading->name, &reading->name_length, at, length);
    return 0;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t length)
{
    struct reading *reading = parser->data;

    reading->in_value = true;
    add_part(reading->value, &reading->value_length, at, length);
    return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
    struct reading *reading = parser->data;
    struct message *message = &reading->messages[reading->count - 1];

    judge_field(reading, false);
    reading->in_value = false;
    reading->name_length = reading->value_length = 0;
    message->complete = true; /* of the head: fields that come now are a trailer's */
    message->method = parser->method;
    message->minor = parser->http_minor;
    message->framing = parser->flags & (F_CHUNKED | F_CONTENT_LENGTH);
    if (reading->check_fields) {
        unsigned hosts = message->ours >> 24;

        CHECK((message->ours & 0xffff00) == 0x10100);
        CHECK(hosts <= 1 && (message->ours & 0xff) == 2 + hosts);
    }
    return 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t length)
{
    struct reading *reading = parser->data;
    struct message *message = &reading->messages[reading->count - 1];

    for (size_t i = 0; i < length; i++)
        message->body_hash = (message->body_hash ^ (uint8_t)at[i]) * UINT64_C(0x100000001b3);
    message->body_length += length;
    return 0;
}

static int on_message_complete(llhttp_t *parser)
{
    struct reading *reading = parser->data;

    judge_field(reading, true);
    reading->in_value = false;
    reading->name_length = reading->value_length = 0;
    return 0;
}

static void read_again(struct reading *reading, const uint8_t *bytes, size_t length)
{
    static const llhttp_settings_t settings = {
        .on_message_begin = on_message_begin,
        .on_header_field = on_header_field,
        .on_header_value = on_header_value,
        .on_headers_complete = on_headers_complete,
        .on_body = on_body,
        .on_message_complete = on_message_complete,
    };
    const char *next = (const char *)bytes;
    const char *end = next + length;
    llhttp_t parser;

    llhttp_init(&parser, HTTP_REQUEST, &settings);
    parser.data = reading;
    reading->count = 0;
    reading->failed = false;
    while (next < end) {
        llhttp_errno_t result = llhttp_execute(&parser, next, (size_t)(end - next));

        if (result == HPE_OK)
            return;
        next = llhttp_get_error_pos(&parser);
        if (result != HPE_PAUSED_UPGRADE) {
            reading->failed = true;
            return;
        }
        llhttp_resume_after_upgrade(&parser);
    }
}

/* The same requests in the output as in the input that was used. */
static void compare(const struct http_policy *policy, const struct outcome *outcome, const uint8_t *in)
{
    static struct message messages_in[MESSAGES_MAX], messages_out[MESSAGES_MAX];
    static struct reading before, after;

    before = (struct reading){.messages = messages_in, .policy = policy};
    after = (struct reading){.messages = messages_out, .policy = policy, .check_fields = true};
    read_again(&after, outcome->bytes, outcome->length);
    CHECK(!after.failed);
    CHECK(after.count == outcome->requests);
    read_again(&before, in, outcome->consumed);
    /* llhttp fails at what follows "close", and goes on after both "close" and "keep-alive" in HTTP/1.0 */
    if (!before.failed && before.count != after.count)
        CHECK(before.count > after.count && after.count > 0 && messages_out[after.count - 1].minor == 0);
    for (size_t i = 0; i < after.count && i < before.count; i++) {
        const struct message *a = &messages_in[i], *b = &messages_out[i];

        if (before.failed && i + 1 == before.count)
            break;
        CHECK(a->method == b->method && a->minor == b->minor && a->framing == b->framing);
        CHECK(a->body_length == b->body_length && a->body_hash == b->body_hash);
    }
}

static size_t build_input(uint8_t *in, const uint8_t *data, size_t size, uint8_t option)
{
    const uint8_t *line = size > 2 ? memmem(data + 2, size - 2, "\r\n", 2) : NULL;
    const char *spelling = spellings[option % (sizeof spellings / sizeof *spellings)];
    size_t first, length;
    int written;

    if (line == NULL || option >= 200) {
        memcpy(in, data, size);
        return size;
    }
    first = (size_t)(line + 2 - data);
    memcpy(in, data, first);
    written = snprintf((char *)in + first, 128, "%s:%s%s\r\n", spelling, option & 1 ? " " : "", MARKER);
    length = first + (size_t)written;
    memcpy(in + length, data + first, size - first);
    return length + size - first;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t in[IN_MAX + 256];
    static struct outcome whole, cut;
    struct error errors = ERROR_INIT;

    if (size < OPTION_BYTES || size > IN_MAX)
        return 0;
    if (whole.bytes == NULL) {
        http_names_init(&strip);
        CHECK(http_names_parse(&strip, HTTP_NAMES_STRIP_DEFAULT, NULL, &errors) == 0);
        whole.bytes = malloc(OUT_MAX);
        cut.bytes = malloc(OUT_MAX);
        CHECK(whole.bytes != NULL && cut.bytes != NULL);
    }

    bool append = data[0] & 1;
    struct http_policy policy = {
        .head_max_bytes = data[0] & 16 ? 256 : 4096,
        .fields_max = data[0] & 8 ? 8 : 64,
        .strip = &strip,
        .add = append ? added_less : added,
        .add_length = append ? sizeof added_less - 1 : sizeof added - 1,
        .append_forwarded_for = append,
        .client_ip = CLIENT_IP,
        .add_forwarded_host = data[0] & 2,
        .required_host = data[0] & 4 ? "example.com" : NULL,
    };
    bool marked = memmem(data, size, MARKER, strlen(MARKER)) != NULL;
    size_t length = build_input(in, data + OPTION_BYTES, size - OPTION_BYTES, data[1]);

    run(&whole, &policy, in, length, 0);
    run(&cut, &policy, in, length, (uint32_t)data[2] << 8 | data[3] | 0x10000);
    CHECK(whole.length == cut.length && memcmp(whole.bytes, cut.bytes, whole.length) == 0);
    CHECK(whole.verdict == cut.verdict && whole.refusal == cut.refusal && whole.requests == cut.requests);
    CHECK(whole.consumed == cut.consumed);
    if (!append && !marked)
        CHECK(memmem(whole.bytes, whole.length, MARKER, strlen(MARKER)) == NULL);
    compare(&policy, &whole, in);
    return 0;
}
