/*
 * name_table.h: finds what belongs to a host name: exact names first, then wildcards of one label.
 *
 * For many thousands of names that are put in once and then only looked up, by untrusted clients, from processes that
 * share the memory after a fork. All memory is in three blocks:
 *
 *     slots    [3][ ][1][ ][2]...     open addressing, numbers of entries, 0 is free
 *     entries  [hash, text, value]... in order of insertion
 *     texts    "www.example.com\0*.example.com\0..."
 *
 *     struct name_table table;
 *     name_table_init(&table, seed);
 *     previous = name_table_put(&table, "*.example.com", context);
 *     context = name_table_find(&table, "www.example.com");
 *     name_table_clear(&table);
 *
 * Names must be in the normal form of names/sni.h. Hashed with SipHash-1-3 under the caller's seed: whoever chooses
 * names for certificates cannot make them collide.
 */
#ifndef HALTER_NAMES_NAME_TABLE_H
#define HALTER_NAMES_NAME_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct name_seed {
    uint64_t words[2]; /* random, from the caller; zeroes only in tests */
};

struct name_entry;

struct name_table {
    struct name_seed seed;
    uint32_t *slots; /* slot_count of them, a power of two; NULL while empty */
    size_t slot_count;
    struct name_entry *entries;
    size_t count;
    size_t capacity;
    char *texts;
    size_t texts_size;
    size_t texts_capacity;
};

void name_table_init(struct name_table *table, const struct name_seed *seed);

/* Frees the table's memory; the values are the caller's. The table is empty afterwards. */
void name_table_clear(struct name_table *table);

/*
 * Puts value (not NULL, borrowed) under a normalised pattern, which is copied. Returns the value that it replaces, or
 * NULL: the last one wins, and the caller warns.
 */
void *name_table_put(struct name_table *table, const char *pattern, void *value);

/*
 * The value for a normalised name: that of the name itself, else that of the pattern with its leftmost label replaced by
 * "*". "*.example.com" is found for www.example.com, not for example.com nor a.b.example.com. NULL when there is none.
 */
void *name_table_find(const struct name_table *table, const char *name);

/* Only the value of exactly this pattern, wildcard or not. */
void *name_table_find_exact(const struct name_table *table, const char *pattern);

/* Entry number index of 0 to table->count - 1, in order of first insertion. */
const char *name_table_name(const struct name_table *table, size_t index);
void *name_table_value(const struct name_table *table, size_t index);

#endif
