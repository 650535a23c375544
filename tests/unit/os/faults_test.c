#include "os/faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "os/log.h"

static struct strbuf logged = STRBUF_INIT;

static void take_line(enum log_severity severity, const char *text, size_t length)
{
    strbuf_addf(&logged, "%s %.*s\n", severity == LOG_SEVERITY_ERROR ? "error" : "notice", (int)length, text);
}

/* Each once, in the order in which they were found. */
static void test_log(void **state)
{
    (void)state;
    struct error errors = ERROR_INIT;

    (void)error_add(&errors, NULL, "first");
    error_warn(&errors, NULL, "second");
    (void)error_add(&errors, NULL, "first");
    (void)error_add(&errors, NULL, "second");
    error_warn(&errors, NULL, "second");
    log_set_sink(take_line);
    faults_log(&errors);
    log_set_sink(NULL);
    assert_string_equal(logged.data, "error event=fault text=first\n"
                                     "notice event=warning text=second\n"
                                     "error event=fault text=second\n");
    strbuf_clear(&logged);
    error_clear(&errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
