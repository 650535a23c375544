/*
 * wheel.h: many thousands of deadlines for next to nothing.
 *
 * A ring of slots of WHEEL_SLOT_MS each. An entry lies in the slot in which it is to be looked at; who moves its
 * deadline later does not touch the wheel: when the slot comes up, the owner sees that it is not due yet and puts it
 * in again. So activity costs one store, and no system call. Deadlines are met up to WHEEL_SLOT_MS late, never early.
 *
 *     wheel_put(&wheel, &conn->slot, deadline_ms);
 *     while ((link = wheel_take_due(&wheel, now_ms)) != NULL) ...      the entry is out of the wheel then
 *     wheel_next_ms(&wheel)                                            when to look again
 *
 * Pure: times come in, in milliseconds of a monotonic clock.
 */
#ifndef HALTER_WORKER_WHEEL_H
#define HALTER_WORKER_WHEEL_H

#include <stdint.h>

#include "base/list.h"

enum {
    WHEEL_SLOT_MS = 64,
    WHEEL_SLOTS = 1024, /* a turn of about 65 s; what is due later is looked at once a turn */
    WHEEL_WORDS = WHEEL_SLOTS / 64,
};

struct wheel {
    uint64_t tick; /* all slots before this one have been emptied */
    uint64_t occupied[WHEEL_WORDS];
    struct list slots[WHEEL_SLOTS];
};

void wheel_init(struct wheel *wheel, uint64_t now_ms);

/* Puts link, which is in no list, where it comes up at deadline_ms or before. */
void wheel_put(struct wheel *wheel, struct list *link, uint64_t deadline_ms);

/* Takes an entry whose slot has come up; NULL when there is none (any more). */
struct list *wheel_take_due(struct wheel *wheel, uint64_t now_ms);

/* The time at which the first occupied slot comes up; 0 when all are empty. */
uint64_t wheel_next_ms(const struct wheel *wheel);

#endif
