#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

const char *text_excerpt(char *buffer, const char *text, size_t length)
{
    bool is_cut = length > EXCERPT_MAX - 1;
    size_t shown = is_cut ? EXCERPT_MAX - 4 : length;

    /* do not cut a UTF-8 character in two */
    while (is_cut && shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
        shown--;
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)text[i];

        buffer[i] = c < ' ' || c == 0x7f ? '?' : text[i];
    }
    memcpy(buffer + shown, "...", is_cut ? 3 : 0);
    buffer[shown + (is_cut ? 3 : 0)] = '\0';
    return buffer;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t text_distance(const char *word, size_t length, const char *name)
{
    enum { LENGTH_MAX = 40 };
    size_t rows[3][LENGTH_MAX + 1];
    size_t name_length = strlen(name);

    if (length > LENGTH_MAX || name_length > LENGTH_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= name_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= name_length; j++) {
            size_t cost = lower(word[i - 1]) == lower(name[j - 1]) ? 0 : 1;

            row[j] = least(least(above[j] + 1, row[j - 1] + 1), above[j - 1] + cost);
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[length % 3][name_length];
}
