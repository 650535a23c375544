#include "wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct item {
    struct list slot;
    uint64_t deadline_ms;
    int taken;
};

static struct wheel wheel;

static struct item *take(uint64_t now_ms)
{
    struct list *link = wheel_take_due(&wheel, now_ms);

    return link != NULL ? LIST_ITEM(link, struct item, slot) : NULL;
}

static void put(struct item *item, uint64_t deadline_ms)
{
    list_init(&item->slot);
    item->deadline_ms = deadline_ms;
    wheel_put(&wheel, &item->slot, deadline_ms);
}

static void test_empty(void **state)
{
    (void)state;
    wheel_init(&wheel, 12345);
    assert_int_equal(0, wheel_next_ms(&wheel));
    assert_null(take(12345));
    assert_null(take(99999999));
}

static void test_never_early_and_at_most_a_slot_late(void **state)
{
    (void)state;
    uint64_t start = 1000000;
    struct item items[200];

    wheel_init(&wheel, start);
    for (unsigned i = 0; i < 200; i++)
        put(&items[i], start + i * 37);
    unsigned taken = 0;
    for (uint64_t now = start; now < start + 200 * 37 + 2 * WHEEL_SLOT_MS; now++) {
        struct item *item;

        while ((item = take(now)) != NULL) {
            assert_true(item->deadline_ms <= now);
            assert_true(now <= item->deadline_ms + WHEEL_SLOT_MS);
            taken++;
        }
    }
    assert_int_equal(200, taken);
}

static void test_next_is_when_something_comes_up(void **state)
{
    (void)state;
    uint64_t now = 777777;
    struct item near;
    struct item far;

    wheel_init(&wheel, now);
    put(&far, now + 30000);
    put(&near, now + 500);
    uint64_t next = wheel_next_ms(&wheel);
    assert_true(next > now + 500 && next <= now + 500 + WHEEL_SLOT_MS);
    assert_null(take(next - 1));
    assert_ptr_equal(&near, take(next));
    assert_null(take(next));
    next = wheel_next_ms(&wheel);
    assert_ptr_equal(&far, take(next));
}

static void test_beyond_a_turn_is_looked_at_within_it(void **state)
{
    (void)state;
    uint64_t now = 64 * 1000;
    struct item item;

    wheel_init(&wheel, now);
    put(&item, now + 10ULL * WHEEL_SLOTS * WHEEL_SLOT_MS);
    assert_ptr_equal(&item, take(now + (uint64_t)WHEEL_SLOTS * WHEEL_SLOT_MS));
}

static void test_removed_ones_do_not_come_up(void **state)
{
    (void)state;
    uint64_t now = 5000;
    struct item item;

    wheel_init(&wheel, now);
    put(&item, now + 100);
    list_remove(&item.slot);
    assert_null(take(now + 1000));
    assert_int_equal(0, wheel_next_ms(&wheel));
}

static void test_after_a_long_sleep(void **state)
{
    (void)state;
    uint64_t now = 5000;
    struct item items[3];

    wheel_init(&wheel, now);
    for (unsigned i = 0; i < 3; i++)
        put(&items[i], now + 20000 * (i + 1));
    now += 100ULL * WHEEL_SLOTS * WHEEL_SLOT_MS;
    for (int i = 0; i < 3; i++)
        assert_non_null(take(now));
    assert_null(take(now));
    put(&items[0], now + 10);
    assert_ptr_equal(&items[0], take(now + 10 + WHEEL_SLOT_MS));
}

static void test_past_deadline_comes_up_at_once(void **state)
{
    (void)state;
    struct item item;

    wheel_init(&wheel, 100000);
    put(&item, 5);
    assert_ptr_equal(&item, take(100000 + WHEEL_SLOT_MS));
}

static void test_random_against_a_plain_list(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    static struct item items[COUNT];
    uint64_t now = 1;

    srand(7);
    wheel_init(&wheel, now);
    for (unsigned i = 0; i < COUNT; i++)
        put(&items[i], now + (uint64_t)(rand() % 50000));
    for (int round = 0; round < 3000; round++) {
        struct item *item;

        now += (uint64_t)(rand() % 200);
        while ((item = take(now)) != NULL) {
            assert_true(item->deadline_ms <= now);
            put(item, now + 1 + (uint64_t)(rand() % 60000));
        }
        for (unsigned i = 0; i < COUNT; i++)
            assert_true(items[i].deadline_ms + WHEEL_SLOT_MS >= now);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_never_early_and_at_most_a_slot_late),
        cmocka_unit_test(test_next_is_when_something_comes_up),
        cmocka_unit_test(test_beyond_a_turn_is_looked_at_within_it),
        cmocka_unit_test(test_removed_ones_do_not_come_up),
        cmocka_unit_test(test_after_a_long_sleep),
        cmocka_unit_test(test_past_deadline_comes_up_at_once),
        cmocka_unit_test(test_random_against_a_plain_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
