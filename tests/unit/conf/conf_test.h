/*
 * conf_test.h: what the tests of this room share. Each test has a struct fixture: a config and the faults so far.
 */
#ifndef HALTER_TESTS_CONF_TEST_H
#define HALTER_TESTS_CONF_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "conf/cli.h"
#include "conf/config.h"
#include "conf/keyword.h"
#include "conf/parse.h"
#include "conf/print.h"

#define UNUSED __attribute__((unused))

struct fixture {
    struct config config;
    struct error error;
};

static UNUSED int fixture_setup(void **state)
{
    struct fixture *f = mem_new(1, sizeof *f);

    config_init(&f->config);
    error_init(&f->error);
    *state = f;
    return 0;
}

static UNUSED int fixture_teardown(void **state)
{
    struct fixture *f = *state;

    config_clear(&f->config);
    error_clear(&f->error);
    free(f);
    return 0;
}

static UNUSED void fixture_reset(struct fixture *f)
{
    config_clear(&f->config);
    error_clear(&f->error);
    config_init(&f->config);
}

static UNUSED void show_faults(const struct fixture *f)
{
    for (size_t i = 0; i < f->error.count; i++)
        print_message("%s: %s\n", f->error.faults[i].kind == FAULT_ERROR ? "error" : "warning",
                      f->error.faults[i].text);
}

static UNUSED int parse(struct fixture *f, const char *text)
{
    return config_parse_text(&f->config, "t.conf", text, strlen(text), &f->error);
}

/* A fresh config from text; fails the test unless there is no fault at all. */
static UNUSED void parse_clean(struct fixture *f, const char *text)
{
    fixture_reset(f);
    if (parse(f, text) != 0 || f->error.count > 0) {
        show_faults(f);
        fail_msg("not clean: %s", text);
    }
}

static UNUSED void finish_ok(struct fixture *f)
{
    if (config_finish(&f->config, &f->error) != 0) {
        show_faults(f);
        fail_msg("config_finish() failed");
    }
}

static UNUSED bool has_fault(const struct fixture *f, enum fault_kind kind, const char *part)
{
    for (size_t i = 0; i < f->error.count; i++) {
        if (f->error.faults[i].kind == kind && strstr(f->error.faults[i].text, part) != NULL)
            return true;
    }
    return false;
}

static UNUSED void expect_fault(const struct fixture *f, enum fault_kind kind, const char *part)
{
    if (!has_fault(f, kind, part)) {
        show_faults(f);
        fail_msg("no such fault: %s", part);
    }
}

/* text alone must give exactly these faults, in order; each is "E file:line:col: text" or "W ...". */
static UNUSED void expect_faults(struct fixture *f, const char *text, size_t count, const char *const *faults)
{
    fixture_reset(f);
    int result = parse(f, text);
    size_t errors = 0;

    if (f->error.count != count)
        show_faults(f);
    assert_int_equal(f->error.count, count);
    for (size_t i = 0; i < count; i++) {
        enum fault_kind kind = faults[i][0] == 'E' ? FAULT_ERROR : FAULT_WARNING;

        assert_string_equal(f->error.faults[i].text, faults[i] + 2);
        assert_int_equal(f->error.faults[i].kind, kind);
        errors += kind == FAULT_ERROR ? 1 : 0;
    }
    assert_int_equal(result, errors > 0 ? -1 : 0);
}

#define EXPECT_FAULTS(f, text, ...)                                                                                    \
    do {                                                                                                               \
        const char *const expected[] = {__VA_ARGS__};                                                                  \
        expect_faults(f, text, sizeof expected / sizeof expected[0], expected);                                        \
    } while (0)

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

#endif
