#include "names/name_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/names/name_hash.h"

static const struct name_seed no_seed;

/* Made with another implementation, CPython's hash() of bytes with PYTHONHASHSEED=0, which is SipHash-1-3 with key 0. */
static void test_hash_vectors(void **state)
{
    (void)state;
    char many[253];
    struct name_seed other = {{1, 0}};

    memset(many, 'x', sizeof many);
    assert_true(name_hash(&no_seed, "a", 1) == UINT64_C(0x407448d2b89b1813));
    assert_true(name_hash(&no_seed, "abc", 3) == UINT64_C(0xc03bc3a0042630f2));
    assert_true(name_hash(&no_seed, "example", 7) == UINT64_C(0xcf5a8cd89871f5e5));
    assert_true(name_hash(&no_seed, "01234567", 8) == UINT64_C(0xda3dcedf84ea6cc6));
    assert_true(name_hash(&no_seed, "*.example.com", 13) == UINT64_C(0x9e17d2498a93c55c));
    assert_true(name_hash(&no_seed, "www.example.com", 15) == UINT64_C(0xb8215502bb4c7791));
    assert_true(name_hash(&no_seed, many, sizeof many) == UINT64_C(0x08569c12c3aa30eb));
    assert_true(name_hash(&other, "a", 1) != UINT64_C(0x407448d2b89b1813));
}

static void test_empty(void **state)
{
    (void)state;
    struct name_table table;

    name_table_init(&table, &no_seed);
    assert_null(name_table_find(&table, "example.com"));
    assert_null(name_table_find_exact(&table, "example.com"));
    assert_int_equal(table.count, 0);
    name_table_clear(&table);
    name_table_clear(&table);
}

static void test_exact_before_wildcard(void **state)
{
    (void)state;
    struct name_table table;
    int exact, wildcard, base, deep;

    name_table_init(&table, &no_seed);
    assert_null(name_table_put(&table, "*.example.com", &wildcard));
    assert_null(name_table_put(&table, "www.example.com", &exact));
    assert_null(name_table_put(&table, "*.sub.example.com", &deep));
    assert_ptr_equal(name_table_find(&table, "www.example.com"), &exact);
    assert_ptr_equal(name_table_find(&table, "mail.example.com"), &wildcard);
    assert_ptr_equal(name_table_find(&table, "sub.example.com"), &wildcard);
    assert_ptr_equal(name_table_find(&table, "a.sub.example.com"), &deep);

    /* one label, and one there must be */
    assert_null(name_table_find(&table, "example.com"));
    assert_null(name_table_find(&table, "a.b.example.com"));
    assert_null(name_table_find(&table, "a.b.sub.example.com"));
    assert_null(name_table_find(&table, "com"));
    assert_null(name_table_find(&table, ""));
    assert_null(name_table_find(&table, "ww.example.co"));
    assert_null(name_table_find(&table, "xample.com"));

    assert_null(name_table_put(&table, "example.com", &base));
    assert_ptr_equal(name_table_find(&table, "example.com"), &base);
    assert_ptr_equal(name_table_find_exact(&table, "*.example.com"), &wildcard);
    assert_null(name_table_find_exact(&table, "mail.example.com"));
    name_table_clear(&table);
}

static void test_last_wins(void **state)
{
    (void)state;
    struct name_table table;
    int first, second;

    name_table_init(&table, &no_seed);
    assert_null(name_table_put(&table, "a", &first));
    assert_ptr_equal(name_table_put(&table, "a", &second), &first);
    assert_ptr_equal(name_table_put(&table, "a", &second), &second);
    assert_ptr_equal(name_table_find(&table, "a"), &second);
    assert_int_equal(table.count, 1);
    name_table_clear(&table);
}

static void test_longest_names(void **state)
{
    (void)state;
    struct name_table table;
    char name[300];
    int value;

    name_table_init(&table, &no_seed);
    memset(name, 'a', sizeof name);
    name[253] = '\0';
    name[1] = '.';
    assert_null(name_table_find(&table, name));
    name[0] = '*';
    assert_null(name_table_put(&table, name, &value));
    name[0] = 'x';
    assert_ptr_equal(name_table_find(&table, name), &value);

    /* longer than any name, given by a caller who did not normalise: not found, nothing overrun */
    memset(name, 'a', sizeof name);
    name[0] = '.';
    name[299] = '\0';
    assert_null(name_table_find(&table, name));
    name_table_clear(&table);
}

static void test_many(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    static char values[MANY];
    struct name_seed seed = {{0x0123456789abcdef, 0xfedcba9876543210}};
    struct name_table table;
    char name[64];

    name_table_init(&table, &seed);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%s%d.example.com", i % 2 == 0 ? "*.w" : "n", i);
        assert_null(name_table_put(&table, name, &values[i]));
    }
    assert_int_equal(table.count, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%s%d.example.com", i % 2 == 0 ? "any.w" : "n", i);
        assert_ptr_equal(name_table_find(&table, name), &values[i]);
        snprintf(name, sizeof name, "%s%d.example.com", i % 2 == 0 ? "w" : "any.n", i);
        assert_null(name_table_find(&table, name));

        /* iteration is in order of insertion */
        snprintf(name, sizeof name, "%s%d.example.com", i % 2 == 0 ? "*.w" : "n", i);
        assert_string_equal(name_table_name(&table, (size_t)i), name);
        assert_ptr_equal(name_table_value(&table, (size_t)i), &values[i]);
    }
    name_table_clear(&table);
    assert_null(name_table_find(&table, "n1.example.com"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_vectors),          cmocka_unit_test(test_empty),
        cmocka_unit_test(test_exact_before_wildcard), cmocka_unit_test(test_last_wins),
        cmocka_unit_test(test_longest_names),         cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
