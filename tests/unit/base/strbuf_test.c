#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_empty(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;

    assert_string_equal(buf.data, "");
    strbuf_add(&buf, NULL, 0);
    strbuf_adds(&buf, "");
    assert_string_equal(buf.data, "");
    assert_int_equal(buf.length, 0);
    strbuf_clear(&buf);
    strbuf_clear(&buf);

    char *text = strbuf_take(&buf);

    assert_string_equal(text, "");
    text[0] = '\0'; /* it is the caller's, not the shared empty one */
    free(text);
}

static void test_adding(void **state)
{
    (void)state;
    struct strbuf buf;

    strbuf_init(&buf);
    strbuf_adds(&buf, "one");
    strbuf_add(&buf, ", two and more", 5);
    strbuf_addf(&buf, ", %d%%%s", 3, "!");
    assert_string_equal(buf.data, "one, two, 3%!");
    assert_int_equal(buf.length, 13);
    strbuf_add(&buf, "\0x", 2);
    assert_int_equal(buf.length, 15);
    assert_memory_equal(buf.data, "one, two, 3%!\0x", 16);
    strbuf_clear(&buf);
    assert_string_equal(buf.data, "");
}

/* Every length around the places where it grows. */
static void test_growing(void **state)
{
    (void)state;
    for (size_t first = 0; first < 200; first++) {
        struct strbuf buf = STRBUF_INIT;
        char text[200];

        memset(text, 'a', sizeof text);
        strbuf_add(&buf, text, first);
        strbuf_addf(&buf, "%s", "b");
        assert_int_equal(buf.length, first + 1);
        assert_int_equal(buf.data[first], 'b');
        assert_int_equal(buf.data[first + 1], '\0');
        assert_int_equal(strspn(buf.data, "a"), first);
        strbuf_clear(&buf);
    }
}

static void test_long_text(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;

    for (int i = 0; i < 10000; i++)
        strbuf_addf(&buf, "%04d", i);
    assert_int_equal(buf.length, 40000);
    assert_int_equal(strlen(buf.data), 40000);
    assert_memory_equal(buf.data + 4 * 1234, "1234", 4);
    strbuf_clear(&buf);
}

static void test_take(void **state)
{
    (void)state;
    struct strbuf buf = STRBUF_INIT;

    strbuf_adds(&buf, "taken");

    char *text = strbuf_take(&buf);

    assert_string_equal(text, "taken");
    assert_string_equal(buf.data, "");
    strbuf_adds(&buf, "next");
    assert_string_equal(buf.data, "next");
    assert_string_equal(text, "taken");
    strbuf_clear(&buf);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),     cmocka_unit_test(test_adding), cmocka_unit_test(test_growing),
        cmocka_unit_test(test_long_text), cmocka_unit_test(test_take),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
