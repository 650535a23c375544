#include "http/http_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "http_bytes.h"

enum { LENGTH_TOP = 63 };

static const char *const untouchable[] = {
    "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect",
};

static unsigned class_of(uint8_t byte)
{
    uint8_t folded = http_bytes_fold[byte];

    if (folded >= 'a' && folded <= 'z')
        return folded - 'a';
    if (folded >= '0' && folded <= '9')
        return 26u + folded - '0';
    return 36;
}

void http_names_init(struct http_names *names)
{
    memset(names, 0, sizeof *names);
}

void http_names_clear(struct http_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i].folded);
    free(names->items);
    http_names_init(names);
}

/* An untouchable name that the item would match; NULL when there is none. */
static const char *find_untouchable(const char *name, size_t length, bool prefix)
{
    for (size_t i = 0; i < sizeof untouchable / sizeof *untouchable; i++) {
        size_t whole = strlen(untouchable[i]);

        if ((prefix ? length <= whole : length == whole) &&
            http_bytes_folds_to((const uint8_t *)name, length, untouchable[i]))
            return untouchable[i];
    }
    return NULL;
}

static bool is_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!http_byte_is((uint8_t)name[i], BYTE_TOKEN))
            return false;
    return length > 0;
}

static void put(struct http_names *names, const char *name, size_t length, bool prefix)
{
    struct http_name *item;
    unsigned bit = length < LENGTH_TOP ? (unsigned)length : LENGTH_TOP;
    uint64_t *lengths = &names->lengths[class_of((uint8_t)name[0])];

    for (size_t i = 0; i < names->count; i++) {
        item = &names->items[i];
        if (item->length == length && item->prefix == prefix &&
            http_bytes_folds_to((const uint8_t *)name, length, item->folded))
            return;
    }
    names->items = mem_resize(names->items, names->count + 1, sizeof *names->items);
    item = &names->items[names->count++];
    item->folded = mem_strndup(name, length);
    item->length = length;
    item->prefix = prefix;
    for (size_t i = 0; i < length; i++)
        item->folded[i] = (char)http_bytes_fold[(uint8_t)name[i]];
    *lengths |= prefix ? ~UINT64_C(0) << bit : UINT64_C(1) << bit;
}

bool http_names_add(struct http_names *names, const char *name, size_t length)
{
    if (!is_name(name, length) || find_untouchable(name, length, false) != NULL)
        return false;
    put(names, name, length, false);
    return true;
}

/* The next word of a list; *list moves behind it. NULL at the end. */
static const char *next_word(const char **list, size_t *length)
{
    const char *word = *list + strspn(*list, ", \t\r\n");

    *length = strcspn(word, ", \t\r\n");
    *list = word + *length;
    return *length > 0 ? word : NULL;
}

static int check_word(const char *word, size_t length, const struct place *place, struct error *error)
{
    bool prefix = word[length - 1] == '*';
    size_t whole = length - prefix;
    const char *held;

    if (!is_name(word, whole))
        return error_add(error, place, "\"%.*s\" is not a field name", (int)length, word);
    if (memchr(word, '*', whole) != NULL)
        return error_add(error, place, "\"%.*s\": '*' may stand at the end only", (int)length, word);
    held = find_untouchable(word, whole, prefix);
    if (held != NULL)
        return error_add(error, place, "\"%.*s\": the field \"%s\" cannot be taken out of requests", (int)length, word,
                         held);
    return 0;
}

int http_names_parse(struct http_names *names, const char *list, const struct place *place, struct error *error)
{
    const char *next = list;
    const char *word;
    size_t length;
    int result = 0;

    while ((word = next_word(&next, &length)) != NULL)
        if (check_word(word, length, place, error) < 0)
            result = -1;
    if (result < 0)
        return -1;
    next = list;
    while ((word = next_word(&next, &length)) != NULL) {
        bool prefix = word[length - 1] == '*';

        put(names, word, length - prefix, prefix);
    }
    return 0;
}

void http_names_add_lines(struct http_names *names, const char *lines, size_t length)
{
    while (length > 0) {
        const char *end = memchr(lines, '\n', length);
        const char *colon = memchr(lines, ':', length);

        CHECK(end != NULL && colon != NULL && colon < end);
        CHECK(http_names_add(names, lines, (size_t)(colon - lines)));
        length -= (size_t)(end + 1 - lines);
        lines = end + 1;
    }
}

bool http_names_match(const struct http_names *names, const uint8_t *name, size_t length)
{
    if (length == 0 || (names->lengths[class_of(name[0])] >> (length < LENGTH_TOP ? length : LENGTH_TOP) & 1) == 0)
        return false;
    for (size_t i = 0; i < names->count; i++) {
        const struct http_name *item = &names->items[i];

        if ((item->prefix ? length >= item->length : length == item->length) &&
            http_bytes_folds_to(name, item->length, item->folded))
            return true;
    }
    return false;
}
