/*
 * names_fuzz.c: names from clients and certificates.
 *
 * Lines are put into a table as patterns and then looked up as names; a slow list beside it says what must be found.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "names/name_table.h"
#include "names/sni.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATTERNS_MAX = 64 };

static char patterns[PATTERNS_MAX][NAME_TEXT_MAX];
static size_t pattern_count;

static void check_normal(const char *name)
{
    char again[NAME_TEXT_MAX];
    size_t length = strlen(name);

    CHECK(length > 0 && length <= NAME_LENGTH_MAX && name[0] != '.' && name[length - 1] != '.');
    CHECK(strstr(name, "..") == NULL);
    CHECK(name_pattern_normalise(again, sizeof again, name, length) && strcmp(again, name) == 0);
    CHECK(name_normalise(again, sizeof again, name, length) == !name_pattern_is_wildcard(name));
    CHECK(!name_pattern_normalise(again, length, name, length));
}

/* Returns 1 + the index of the pattern, added if it is new; 0 when there is no room. */
static size_t slow_put(const char *pattern)
{
    for (size_t i = 0; i < pattern_count; i++)
        if (strcmp(patterns[i], pattern) == 0)
            return i + 1;
    if (pattern_count == PATTERNS_MAX)
        return 0;
    memcpy(patterns[pattern_count], pattern, strlen(pattern) + 1);
    return ++pattern_count;
}

static void *slow_find(const char *name)
{
    void *wildcard = NULL;
    const char *rest = strchr(name, '.');

    for (size_t i = 0; i < pattern_count; i++) {
        if (strcmp(patterns[i], name) == 0)
            return patterns[i];
        if (rest != NULL && patterns[i][0] == '*' && strcmp(patterns[i] + 1, rest) == 0)
            wildcard = patterns[i];
    }
    return wildcard;
}

/* The next line; data and size move behind it. */
static size_t take_line(const uint8_t **data, size_t *size, const char **line)
{
    const uint8_t *end = memchr(*data, '\n', *size);
    size_t length = end == NULL ? *size : (size_t)(end - *data);

    *line = (const char *)*data;
    *data += length + (end != NULL);
    *size -= length + (end != NULL);
    return length;
}

static void put_line(struct name_table *table, const char *line, size_t length)
{
    char pattern[NAME_TEXT_MAX];
    size_t count = pattern_count;

    if (!name_pattern_normalise(pattern, sizeof pattern, line, length))
        return;
    check_normal(pattern);

    size_t place = slow_put(pattern);

    if (place == 0)
        return;

    void *previous = name_table_put(table, pattern, patterns[place - 1]);

    CHECK(previous == (pattern_count > count ? NULL : patterns[place - 1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct name_seed seed = {{size, 7}};
    struct name_table table;
    const uint8_t *next = data;
    size_t left = size;
    const char *line;

    pattern_count = 0;
    name_table_init(&table, &seed);
    while (left > 0) {
        size_t length = take_line(&next, &left, &line);

        put_line(&table, line, length);
    }
    CHECK(table.count == pattern_count);
    for (size_t i = 0; i < pattern_count; i++) {
        CHECK(strcmp(name_table_name(&table, i), patterns[i]) == 0 && name_table_value(&table, i) == patterns[i]);
        CHECK(name_table_find_exact(&table, patterns[i]) == patterns[i]);
    }
    for (next = data, left = size; left > 0;) {
        char name[NAME_TEXT_MAX];
        size_t length = take_line(&next, &left, &line);

        /* as a name, and with its first two bytes cut off: "*.a" is asked for as "a" */
        if (name_normalise(name, sizeof name, line, length))
            CHECK(name_table_find(&table, name) == slow_find(name));
        if (length > 2 && name_normalise(name, sizeof name, line + 2, length - 2))
            CHECK(name_table_find(&table, name) == slow_find(name));
        if (length > 1 && line[0] == '*' && length < 250) {
            char asked[256] = "x";

            memcpy(asked + 1, line + 1, length - 1);
            if (name_normalise(name, sizeof name, asked, length))
                CHECK(name_table_find(&table, name) == slow_find(name));
        }
    }
    name_table_clear(&table);
    return 0;
}
