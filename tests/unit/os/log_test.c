#include "os/log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/log_output.h"

static char last[LOG_LINE_MAX];
static enum log_severity last_severity;
static unsigned lines;

static void remember(enum log_severity severity, const char *text, size_t length)
{
    assert_int_equal(strlen(text), length);
    memcpy(last, text, length + 1);
    last_severity = severity;
    lines++;
}

static void check_quote(const char *value, const char *expected)
{
    char buffer[64];

    assert_string_equal(log_quote(buffer, sizeof buffer, value), expected);
}

static void test_quote(void **state)
{
    (void)state;
    check_quote("plain.host:80", "plain.host:80");
    check_quote("", "\"\"");
    check_quote(NULL, "\"\"");
    check_quote("two words", "\"two words\"");
    check_quote("a=b", "\"a=b\"");
    check_quote("say \"hi\"", "\"say \\\"hi\\\"\"");
    check_quote("back\\slash", "\"back\\\\slash\"");
    check_quote("line\nfeed", "\"line\\nfeed\"");
    check_quote("\t\x7f\xc3\xa4", "\"\\x09\\x7f\\xc3\\xa4\"");
}

/* Whatever the size: terminated, within bounds, never half an escape, quotes in pairs. */
static void test_quote_cuts(void **state)
{
    (void)state;
    char buffer[32];

    assert_string_equal(log_quote(buffer, 8, "abcdefghij"), "abcdefg");
    assert_string_equal(log_quote(buffer, 8, "a bcdefghij"), "\"a bcd\"");
    assert_string_equal(log_quote(buffer, 8, "abc\nx"), "\"abc\\n\"");
    assert_string_equal(log_quote(buffer, 7, "abc\x01xx"), "\"abc\"");
    for (size_t size = 1; size < sizeof buffer; size++) {
        log_quote(buffer, size, "x\x01y\"z w");
        assert_true(strlen(buffer) < size);
        if (buffer[0] == '"')
            assert_int_equal(buffer[strlen(buffer) - 1], '"');
    }
}

static void test_levels(void **state)
{
    (void)state;
    static const struct {
        unsigned level;
        bool error, notice, info, debug;
    } rows[] = {
        {0, false, false, false, false}, {1, true, true, false, false}, {2, true, true, true, false},
        {3, true, true, true, true},     {9, true, true, true, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        log_set_level(rows[i].level);
        assert_int_equal(log_enabled(LOG_SEVERITY_ERROR), rows[i].error);
        assert_int_equal(log_enabled(LOG_SEVERITY_NOTICE), rows[i].notice);
        assert_int_equal(log_enabled(LOG_SEVERITY_INFO), rows[i].info);
        assert_int_equal(log_enabled(LOG_SEVERITY_DEBUG), rows[i].debug);
    }
}

static void test_sink(void **state)
{
    (void)state;
    log_set_sink(remember);
    log_set_level(1);
    lines = 0;
    errno = ENOENT;
    log_error("event=%s n=%d", "test", 7);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(last, "event=test n=7");
    assert_int_equal(last_severity, LOG_SEVERITY_ERROR);
    log_info("event=hidden");
    assert_int_equal(lines, 1);
    log_set_sink(NULL);
}

static void test_long_line_is_cut(void **state)
{
    (void)state;
    static char text[LOG_LINE_MAX * 2];

    memset(text, 'x', sizeof text - 1);
    log_set_sink(remember);
    log_notice("event=long text=%s", text);
    assert_true(strlen(last) < LOG_LINE_MAX);
    assert_string_equal(last + strlen(last) - 3, "...");
    log_set_sink(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quote), cmocka_unit_test(test_quote_cuts),       cmocka_unit_test(test_levels),
        cmocka_unit_test(test_sink),  cmocka_unit_test(test_long_line_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
