#include "http/http_refusal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <llhttp.h>

static size_t body_length;

static int on_body(llhttp_t *parser, const char *at, size_t length)
{
    (void)parser;
    assert_int_equal(at[length - 1], '\n');
    body_length += length;
    return 0;
}

static int on_complete(llhttp_t *parser)
{
    (void)parser;
    return HPE_PAUSED;
}

static void test_answers(void **state)
{
    (void)state;
    static const llhttp_settings_t settings = {.on_body = on_body, .on_message_complete = on_complete};

    for (unsigned refusal = 1; refusal < HTTP_REFUSAL_COUNT; refusal++) {
        char answer[HTTP_ANSWER_MAX];
        size_t length = http_answer((enum http_refusal)refusal, answer);
        llhttp_t parser;

        body_length = 0;
        llhttp_init(&parser, HTTP_RESPONSE, &settings);
        assert_int_equal(llhttp_execute(&parser, answer, length), HPE_PAUSED);
        assert_ptr_equal(llhttp_get_error_pos(&parser), answer + length);
        assert_int_equal(parser.status_code, http_refusal_status((enum http_refusal)refusal));
        assert_true(parser.status_code >= 400 && parser.status_code < 600);
        assert_false(llhttp_should_keep_alive(&parser));
        assert_true(body_length > 20);
        assert_non_null(memmem(answer, length, http_refusal_text((enum http_refusal)refusal),
                               strlen(http_refusal_text((enum http_refusal)refusal))));
    }
}

static void test_words(void **state)
{
    (void)state;
    for (unsigned i = 0; i < HTTP_REFUSAL_COUNT; i++) {
        const char *word = http_refusal_word((enum http_refusal)i);

        assert_int_equal(strspn(word, "abcdefghijklmnopqrstuvwxyz-"), strlen(word));
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(word, http_refusal_word((enum http_refusal)k));
    }
    assert_int_equal(http_refusal_status(HTTP_REFUSAL_HEAD_TOO_LARGE), 431);
    assert_int_equal(http_refusal_status(HTTP_REFUSAL_HOST_MISDIRECTED), 421);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
