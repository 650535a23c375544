#include "names/sni.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef bool normaliser(char *out, size_t out_size, const char *in, size_t length);

static void check_good(normaliser *normalise, const char *in, const char *expected)
{
    size_t length = strlen(expected);
    char out[NAME_TEXT_MAX + 1];
    char same[NAME_TEXT_MAX + 1];

    memset(out, 0x7f, sizeof out);
    assert_true(normalise(out, NAME_TEXT_MAX, in, strlen(in)));
    assert_string_equal(out, expected);

    /* normal is normal */
    assert_true(normalise(out, sizeof out, expected, length));
    assert_string_equal(out, expected);

    /* in place */
    memcpy(same, in, strlen(in) + 1);
    assert_true(normalise(same, sizeof same, same, strlen(in)));
    assert_string_equal(same, expected);

    for (size_t size = 0; size <= length; size++) {
        memset(out, 0x7f, sizeof out);
        assert_false(normalise(out, size, in, strlen(in)));
        assert_int_equal(out[size], 0x7f);
    }
    assert_true(normalise(out, length + 1, in, strlen(in)));
}

static void check_bad(normaliser *normalise, const char *in, size_t length)
{
    char out[2 * NAME_TEXT_MAX];

    assert_false(normalise(out, sizeof out, in, length));
}

static void test_good_names(void **state)
{
    (void)state;
    static normaliser *const normalisers[] = {name_normalise, name_pattern_normalise};

    for (size_t i = 0; i < 2; i++) {
        check_good(normalisers[i], "example.com", "example.com");
        check_good(normalisers[i], "WWW.Example.COM", "www.example.com");
        check_good(normalisers[i], "example.com.", "example.com");
        check_good(normalisers[i], "localhost", "localhost");
        check_good(normalisers[i], "x", "x");
        check_good(normalisers[i], "x.", "x");
        check_good(normalisers[i], "_dmarc.Under_Score.org", "_dmarc.under_score.org");
        check_good(normalisers[i], "xn--mnchen-3ya.de", "xn--mnchen-3ya.de");
        check_good(normalisers[i], "127.0.0.1", "127.0.0.1");
        check_good(normalisers[i], "-odd-.ABCXYZ-0189", "-odd-.abcxyz-0189");
    }
}

static void test_bad_names(void **state)
{
    (void)state;
    static normaliser *const normalisers[] = {name_normalise, name_pattern_normalise};
    static const char *const names[] = {
        "",
        ".",
        "..",
        ".example.com",
        "example..com",
        "example.com..",
        "a b",
        " a",
        "a\t",
        "a/b",
        "a:443",
        "[::1]",
        "::1",
        "a*b",
        "w*.example.com",
        "*",
        "a.*.com",
        "*.",
        "*..com",
        "*.*.com",
        "**.com",
        "m\xc3\xbcnchen.de",
        "\x7f",
        "\x80",
        "a@b",
        "a%00",
        "`",
        "{",
    };

    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++)
            check_bad(normalisers[i], names[j], strlen(names[j]));
        check_bad(normalisers[i], "example.com\0", 12);
        check_bad(normalisers[i], "example.com\0.evil.org", 21);
        check_bad(normalisers[i], "\0", 1);
    }
    check_bad(name_normalise, "*.example.com", 13);
}

static void test_patterns(void **state)
{
    (void)state;
    char out[NAME_TEXT_MAX];

    check_good(name_pattern_normalise, "*.Example.COM.", "*.example.com");
    check_good(name_pattern_normalise, "*.com", "*.com");
    assert_true(name_pattern_normalise(out, sizeof out, "*.a.b", 5));
    assert_true(name_pattern_is_wildcard(out));
    assert_true(name_pattern_normalise(out, sizeof out, "a.b", 3));
    assert_false(name_pattern_is_wildcard(out));
}

static void test_lengths(void **state)
{
    (void)state;
    char name[NAME_LENGTH_MAX + 8];
    char out[NAME_TEXT_MAX];

    /* 253 bytes: four labels of 63, 63, 63, 61 */
    memset(name, 'a', sizeof name);
    name[63] = name[127] = name[191] = '.';
    assert_true(name_normalise(out, sizeof out, name, 253));
    assert_int_equal(strlen(out), 253);
    check_bad(name_normalise, name, 254);
    name[253] = '.';
    assert_true(name_normalise(out, sizeof out, name, 254));
    assert_int_equal(strlen(out), 253);
    check_bad(name_normalise, name, 255);

    /* a label of 64 */
    memset(name, 'a', sizeof name);
    assert_true(name_normalise(out, sizeof out, name, 63));
    check_bad(name_normalise, name, 64);

    /* a pattern of 253 and of 254 */
    memset(name, 'a', sizeof name);
    name[0] = '*';
    name[1] = name[65] = name[129] = name[193] = '.';
    assert_true(name_pattern_normalise(out, sizeof out, name, 253));
    check_bad(name_pattern_normalise, name, 254);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_names),
        cmocka_unit_test(test_bad_names),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
