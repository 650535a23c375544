#include "wheel.h"

#include <stddef.h>
#include <string.h>

void wheel_init(struct wheel *wheel, uint64_t now_ms)
{
    wheel->tick = now_ms / WHEEL_SLOT_MS;
    memset(wheel->occupied, 0, sizeof wheel->occupied);
    for (int i = 0; i < WHEEL_SLOTS; i++)
        list_init(&wheel->slots[i]);
}

void wheel_put(struct wheel *wheel, struct list *link, uint64_t deadline_ms)
{
    uint64_t tick = deadline_ms / WHEEL_SLOT_MS + 1; /* never early: the slot comes up when it is over */

    if (tick < wheel->tick)
        tick = wheel->tick;
    if (tick > wheel->tick + WHEEL_SLOTS - 1)
        tick = wheel->tick + WHEEL_SLOTS - 1;

    unsigned slot = (unsigned)(tick % WHEEL_SLOTS);
    list_append(&wheel->slots[slot], link);
    wheel->occupied[slot / 64] |= (uint64_t)1 << slot % 64;
}

/* How many slots after `from` the next occupied one lies; -1 when all are empty. Removed entries leave their mark behind,
 * so an occupied slot may turn out to be empty. */
static int distance_to_occupied(const struct wheel *wheel, unsigned from)
{
    for (unsigned i = 0; i <= WHEEL_WORDS; i++) {
        unsigned word = (from / 64 + i) % WHEEL_WORDS;
        uint64_t bits = wheel->occupied[word];

        if (i == 0)
            bits &= ~(uint64_t)0 << from % 64;
        else if (i == WHEEL_WORDS)
            bits &= from % 64 == 0 ? 0 : ~(~(uint64_t)0 << from % 64);
        if (bits != 0) {
            unsigned slot = word * 64 + (unsigned)__builtin_ctzll(bits);
            return (int)((slot + WHEEL_SLOTS - from) % WHEEL_SLOTS);
        }
    }
    return -1;
}

struct list *wheel_take_due(struct wheel *wheel, uint64_t now_ms)
{
    uint64_t now_tick = now_ms / WHEEL_SLOT_MS;

    while (wheel->tick <= now_tick) {
        unsigned slot = (unsigned)(wheel->tick % WHEEL_SLOTS);
        struct list *head = &wheel->slots[slot];

        if (!list_is_empty(head)) {
            struct list *link = head->next;

            list_remove(link);
            return link;
        }
        wheel->occupied[slot / 64] &= ~((uint64_t)1 << slot % 64);
        int distance = distance_to_occupied(wheel, slot);
        if (distance < 0 || wheel->tick + (uint64_t)distance > now_tick) {
            wheel->tick = now_tick + 1;
            return NULL;
        }
        wheel->tick += (uint64_t)distance;
    }
    return NULL;
}

uint64_t wheel_next_ms(const struct wheel *wheel)
{
    int distance = distance_to_occupied(wheel, (unsigned)(wheel->tick % WHEEL_SLOTS));

    return distance < 0 ? 0 : (wheel->tick + (uint64_t)distance) * WHEEL_SLOT_MS;
}
