#include "names/name_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "name_hash.h"
#include "names/sni.h"

struct name_entry {
    void *value;
    uint32_t hash; /* the lower half: spares most comparisons, and hashing again when the table grows */
    uint32_t text; /* offset into texts */
};

void name_table_init(struct name_table *table, const struct name_seed *seed)
{
    memset(table, 0, sizeof *table);
    table->seed = *seed;
}

void name_table_clear(struct name_table *table)
{
    struct name_seed seed = table->seed;

    free(table->slots);
    free(table->entries);
    free(table->texts);
    name_table_init(table, &seed);
}

static uint32_t hash_of(const struct name_table *table, const char *name, size_t length)
{
    return (uint32_t)name_hash(&table->seed, name, length);
}

/* The slot that holds name, or the free one where it would go. There is always a free one. */
static size_t find_slot(const struct name_table *table, const char *name, uint32_t hash)
{
    size_t mask = table->slot_count - 1;
    size_t slot = hash & mask;

    while (table->slots[slot] != 0) {
        const struct name_entry *entry = &table->entries[table->slots[slot] - 1];

        if (entry->hash == hash && strcmp(table->texts + entry->text, name) == 0)
            break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* At most half of the slots are in use. */
static void grow_slots(struct name_table *table)
{
    size_t slot_count = table->slot_count == 0 ? 16 : table->slot_count * 2;

    free(table->slots);
    table->slots = mem_new(slot_count, sizeof *table->slots);
    table->slot_count = slot_count;
    for (size_t i = 0; i < table->count; i++) {
        size_t slot = table->entries[i].hash & (slot_count - 1);

        while (table->slots[slot] != 0)
            slot = (slot + 1) & (slot_count - 1);
        table->slots[slot] = (uint32_t)i + 1;
    }
}

static uint32_t add_text(struct name_table *table, const char *text, size_t length)
{
    size_t need = table->texts_size + length + 1;
    size_t offset = table->texts_size;

    CHECK(need <= UINT32_MAX);
    if (need > table->texts_capacity) {
        size_t capacity = table->texts_capacity == 0 ? 256 : table->texts_capacity + table->texts_capacity / 2;

        if (capacity < need)
            capacity = need;
        table->texts = mem_resize(table->texts, capacity, 1);
        table->texts_capacity = capacity;
    }
    memcpy(table->texts + offset, text, length + 1);
    table->texts_size = need;
    return (uint32_t)offset;
}

static void add_entry(struct name_table *table, const char *pattern, size_t length, uint32_t hash, void *value)
{
    CHECK(table->count < UINT32_MAX / 2);
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 8 : table->capacity + table->capacity / 2;
        table->entries = mem_resize(table->entries, table->capacity, sizeof *table->entries);
    }

    struct name_entry *entry = &table->entries[table->count++];

    entry->value = value;
    entry->hash = hash;
    entry->text = add_text(table, pattern, length);
}

void *name_table_put(struct name_table *table, const char *pattern, void *value)
{
    size_t length = strlen(pattern);
    uint32_t hash = hash_of(table, pattern, length);

    CHECK(value != NULL && length > 0 && length <= NAME_LENGTH_MAX);
    if (table->count >= table->slot_count / 2)
        grow_slots(table);

    size_t slot = find_slot(table, pattern, hash);

    if (table->slots[slot] != 0) {
        struct name_entry *entry = &table->entries[table->slots[slot] - 1];
        void *previous = entry->value;

        entry->value = value;
        return previous;
    }
    add_entry(table, pattern, length, hash, value);
    table->slots[slot] = (uint32_t)table->count;
    return NULL;
}

static void *find(const struct name_table *table, const char *pattern, size_t length)
{
    size_t slot = find_slot(table, pattern, hash_of(table, pattern, length));

    return table->slots[slot] == 0 ? NULL : table->entries[table->slots[slot] - 1].value;
}

void *name_table_find_exact(const struct name_table *table, const char *pattern)
{
    return table->count == 0 ? NULL : find(table, pattern, strlen(pattern));
}

void *name_table_find(const struct name_table *table, const char *name)
{
    size_t length = strlen(name);

    if (table->count == 0 || length > NAME_LENGTH_MAX)
        return NULL;

    void *value = find(table, name, length);
    const char *rest = strchr(name, '.');

    if (value != NULL || rest == NULL)
        return value;

    char wildcard[1 + NAME_TEXT_MAX];
    size_t rest_length = length - (size_t)(rest - name);

    wildcard[0] = '*';
    memcpy(wildcard + 1, rest, rest_length + 1);
    return find(table, wildcard, 1 + rest_length);
}

const char *name_table_name(const struct name_table *table, size_t index)
{
    CHECK(index < table->count);
    return table->texts + table->entries[index].text;
}

void *name_table_value(const struct name_table *table, size_t index)
{
    CHECK(index < table->count);
    return table->entries[index].value;
}
