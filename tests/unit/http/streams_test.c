/*
 * The streams of tests/unit/http/streams/: each is sent whole, byte by byte, and cut at every position, and must end
 * the same way.
 *
 * A stream is a block of lines, ended by an empty one; '#' begins a comment line:
 *
 *     name: what it shows
 *     policy: append addhost required          what differs from the default policy; may be absent
 *     in: bytes                                escapes: \r \n \t \\ \xHH, \e = "\r\n", \+ = the added lines;
 *                                              several such lines make one text
 *     in*N: bytes                              N times
 *     out: bytes                               all that is put out; in the same way
 *     end: more 2 | held 1 | WORD 0            the last verdict, or the refusal's word; how many requests were passed on
 *     kinds: ordinary head connect upgrade     may be absent
 *     rest: bytes                              what is not consumed at the end; absent: nothing is said
 *     resume                                   an upgrade or CONNECT is answered in the ordinary way
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "http/request_stream.h"

#define FOLDER "tests/unit/http/streams"
#define ADDED "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n"
#define ADDED_LESS "X-Forwarded-Proto: https\r\n"

enum { STREAMS_LEAST = 300, EVERY_CUT_BELOW = 3000 };

struct expected {
    struct strbuf name;
    struct strbuf policy;
    struct strbuf in;
    struct strbuf out;
    struct strbuf end;
    struct strbuf kinds;
    struct strbuf rest;
    bool has_rest;
    bool has_kinds;
    bool resume;
};

struct seen {
    struct strbuf out;
    struct strbuf end;
    struct strbuf kinds;
    size_t consumed;
};

static size_t stream_count, failures;
static size_t failed; /* the last one that did */
static struct http_names strip;

static void expected_clear(struct expected *expected)
{
    strbuf_clear(&expected->name);
    strbuf_clear(&expected->policy);
    strbuf_clear(&expected->in);
    strbuf_clear(&expected->out);
    strbuf_clear(&expected->end);
    strbuf_clear(&expected->kinds);
    strbuf_clear(&expected->rest);
    expected->has_rest = expected->has_kinds = expected->resume = false;
}

static void expected_init(struct expected *expected)
{
    memset(expected, 0, sizeof *expected);
    strbuf_init(&expected->name);
    strbuf_init(&expected->policy);
    strbuf_init(&expected->in);
    strbuf_init(&expected->out);
    strbuf_init(&expected->end);
    strbuf_init(&expected->kinds);
    strbuf_init(&expected->rest);
}

static void add_escaped(struct strbuf *buf, const char *text, const struct strbuf *policy)
{
    const char *added = strstr(policy->data, "append") != NULL ? ADDED_LESS : ADDED;

    for (; *text != '\0'; text++) {
        char byte = *text;

        if (byte != '\\') {
            strbuf_add(buf, &byte, 1);
            continue;
        }
        switch (*++text) {
        case 'r':
            strbuf_add(buf, "\r", 1);
            break;
        case 'n':
            strbuf_add(buf, "\n", 1);
            break;
        case 't':
            strbuf_add(buf, "\t", 1);
            break;
        case 'e':
            strbuf_add(buf, "\r\n", 2);
            break;
        case '\\':
            strbuf_add(buf, "\\", 1);
            break;
        case '+':
            strbuf_adds(buf, added);
            break;
        case 'x': {
            char digits[3] = {text[1], text[2], 0};

            byte = (char)strtoul(digits, NULL, 16);
            strbuf_add(buf, &byte, 1);
            text += 2;
            break;
        }
        default:
            fail_msg("escape \\%c", *text);
        }
    }
}

static const char *const kind_words[] = {"ordinary", "head", "connect", "upgrade"};

static void pop_kinds(struct seen *seen, struct request_stream *stream)
{
    while (stream->kinds.count > 0)
        strbuf_addf(&seen->kinds, "%s%s", seen->kinds.length > 0 ? " " : "",
                    kind_words[request_kinds_pop(&stream->kinds)]);
}

/* What a call left on the stack must not be what makes the next one right. */
static __attribute__((noinline)) void spoil_stack(void)
{
    uint8_t stack[16 * 1024];

    memset(stack, 0xa5, sizeof stack);
    __asm__ volatile("" : : "r"(stack) : "memory");
}

/* Gives the bytes up to cut first, then the rest; step of 0: at once, 1: byte by byte. The bytes are in memory of their
 * own size, so that the sanitizer sees each read beyond. */
static void send_cut(struct seen *seen, const struct expected *expected, const struct http_policy *policy, size_t cut,
                     bool bytewise)
{
    static uint8_t out[64 * 1024];
    const uint8_t *in = (const uint8_t *)expected->in.data;
    size_t length = expected->in.length;
    size_t given = bytewise ? 0 : cut;
    struct request_stream stream;
    enum request_verdict verdict;

    request_stream_init(&stream);
    strbuf_init(&seen->out);
    strbuf_init(&seen->end);
    strbuf_init(&seen->kinds);
    seen->consumed = 0;
    for (;;) {
        struct request_step step;
        size_t there = given - seen->consumed;
        uint8_t *copy = malloc(there > 0 ? there : 1);

        assert_non_null(copy);
        memcpy(copy, in + seen->consumed, there);
        spoil_stack();
        verdict = request_stream_step(&stream, policy, copy, there, out, http_policy_out_bytes(policy), &step);
        assert_true(step.consumed <= there && step.tail <= step.consumed);
        strbuf_add(&seen->out, out, step.produced);
        strbuf_add(&seen->out, copy + step.consumed - step.tail, step.tail);
        seen->consumed += step.consumed;
        free(copy);
        pop_kinds(seen, &stream);
        if (verdict == REQUEST_FULL)
            continue;
        if (verdict == REQUEST_HELD && expected->resume) {
            request_stream_resume(&stream);
            if (given > seen->consumed)
                continue;
        }
        if (verdict == REQUEST_REFUSED || given == length)
            break;
        given = bytewise ? given + 1 : length;
    }
    strbuf_addf(&seen->end, "%s %llu",
                verdict == REQUEST_REFUSED                     ? http_refusal_word(stream.refusal)
                : verdict == REQUEST_HELD && !expected->resume ? "held"
                                                               : "more",
                (unsigned long long)stream.requests);
}

/* Tells the first difference of each stream. */
static void expect_same(const struct expected *expected, const char *what, size_t cut, const char *want,
                        size_t want_length, const char *have, size_t have_length)
{
    if (failed == stream_count || (want_length == have_length && memcmp(want, have, have_length) == 0))
        return;
    failed = stream_count;
    failures++;
    print_error("%s: %s, cut at %zu:\n--- expected\n%.*s\n--- seen\n%.*s\n---\n", expected->name.data, what, cut,
                (int)want_length, want, (int)have_length, have);
}

static void check_cut(const struct expected *expected, const struct http_policy *policy, size_t cut, bool bytewise)
{
    struct seen seen;

    send_cut(&seen, expected, policy, cut, bytewise);
    expect_same(expected, "end", cut, expected->end.data, expected->end.length, seen.end.data, seen.end.length);
    expect_same(expected, "out", cut, expected->out.data, expected->out.length, seen.out.data, seen.out.length);
    if (expected->has_kinds)
        expect_same(expected, "kinds", cut, expected->kinds.data, expected->kinds.length, seen.kinds.data,
                    seen.kinds.length);
    if (expected->has_rest)
        expect_same(expected, "rest", cut, expected->rest.data, expected->rest.length,
                    expected->in.data + seen.consumed, expected->in.length - seen.consumed);
    strbuf_clear(&seen.out);
    strbuf_clear(&seen.end);
    strbuf_clear(&seen.kinds);
}

static void check_stream(const struct expected *expected)
{
    bool append = strstr(expected->policy.data, "append") != NULL;
    const char *added = append ? ADDED_LESS : ADDED;
    struct http_policy policy = {
        .head_max_bytes = 1024,
        .fields_max = 20,
        .strip = &strip,
        .add = added,
        .add_length = strlen(added),
        .append_forwarded_for = append,
        .client_ip = "192.0.2.1",
        .add_forwarded_host = strstr(expected->policy.data, "addhost") != NULL,
        .required_host = strstr(expected->policy.data, "required") != NULL ? "example.com" : NULL,
    };
    size_t length = expected->in.length;
    size_t stride = length < EVERY_CUT_BELOW ? 1 : length / 500;

    assert_true(expected->end.length > 0);
    stream_count++;
    check_cut(expected, &policy, length, false);
    check_cut(expected, &policy, 0, true);
    for (size_t cut = 0; cut < length; cut += stride)
        check_cut(expected, &policy, cut, false);
}

/* One line of a block. */
static void read_line(struct expected *expected, const char *line, const char *file, int number)
{
    const char *value = strchr(line, ':');
    unsigned long times = 1;

    if (strcmp(line, "resume") == 0) {
        expected->resume = true;
        return;
    }
    if (value == NULL)
        fail_msg("%s:%d: %s", file, number, line);
    value += value[1] == ' ' ? 2 : 1;
    if (strncmp(line, "in*", 3) == 0 || strncmp(line, "out*", 4) == 0)
        times = strtoul(strchr(line, '*') + 1, NULL, 10);
    while (times-- > 0) {
        if (strncmp(line, "in", 2) == 0)
            add_escaped(&expected->in, value, &expected->policy);
        else if (strncmp(line, "out", 3) == 0)
            add_escaped(&expected->out, value, &expected->policy);
    }
    if (strncmp(line, "name:", 5) == 0) {
        strbuf_adds(&expected->name, value);
    } else if (strncmp(line, "policy:", 7) == 0) {
        strbuf_adds(&expected->policy, value);
    } else if (strncmp(line, "end:", 4) == 0) {
        strbuf_adds(&expected->end, value);
    } else if (strncmp(line, "kinds:", 6) == 0) {
        strbuf_adds(&expected->kinds, value);
        expected->has_kinds = true;
    } else if (strncmp(line, "rest:", 5) == 0) {
        add_escaped(&expected->rest, value, &expected->policy);
        expected->has_rest = true;
    }
}

static void check_file(const char *name)
{
    struct strbuf path = STRBUF_INIT;
    struct expected expected;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int number = 0;
    FILE *file;

    strbuf_addf(&path, "%s/%s", FOLDER, name);
    file = fopen(path.data, "r");
    assert_non_null(file);
    expected_init(&expected);
    while ((length = getline(&line, &capacity, file)) >= 0) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#')
            continue;
        if (line[0] != '\0') {
            read_line(&expected, line, name, number);
        } else if (expected.name.length > 0) {
            check_stream(&expected);
            expected_clear(&expected);
        }
    }
    if (expected.name.length > 0)
        check_stream(&expected);
    expected_clear(&expected);
    strbuf_clear(&path);
    free(line);
    fclose(file);
}

static void test_streams(void **state)
{
    (void)state;
    struct error errors = ERROR_INIT;
    struct dirent **entries;
    int count = scandir(FOLDER, &entries, NULL, alphasort);

    assert_true(count > 0);
    http_names_init(&strip);
    assert_int_equal(http_names_parse(&strip, HTTP_NAMES_STRIP_DEFAULT, NULL, &errors), 0);
    for (int i = 0; i < count; i++) {
        if (strstr(entries[i]->d_name, ".txt") != NULL)
            check_file(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    http_names_clear(&strip);
    print_message("%zu streams\n", stream_count);
    assert_int_equal(failures, 0);
    assert_true(stream_count >= STREAMS_LEAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
