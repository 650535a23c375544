#include "relay/chunk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct chunk_pool pool;

static int set_up(void **state)
{
    (void)state;
    chunk_pool_init(&pool);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(0, pool.used_bytes);
    chunk_pool_clear(&pool);
    assert_int_equal(0, pool.free_bytes);
    return 0;
}

static void test_bytes_keep_their_order(void **state)
{
    (void)state;
    struct chunk *chunk = NULL;
    uint8_t in = 0;
    uint8_t out = 0;
    size_t waiting = 0;

    srand(3);
    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[3000];
        size_t length = (size_t)rand() % sizeof bytes;

        for (size_t i = 0; i < length; i++)
            bytes[i] = in++;
        assert_true(chunk_append(&pool, &chunk, bytes, length));
        waiting += length;
        size_t take = waiting == 0 ? 0 : (size_t)rand() % (waiting + 1);
        for (size_t i = 0; i < take; i++)
            assert_int_equal(out++, chunk_data(chunk)[i]);
        if (take > 0)
            chunk_consume(&pool, &chunk, take);
        waiting -= take;
        assert_int_equal(waiting == 0, chunk == NULL);
        if (chunk != NULL)
            assert_int_equal(waiting, chunk->length);
    }
    chunk_drop(&pool, &chunk);
    assert_null(chunk);
}

static void test_freed_ones_are_used_again(void **state)
{
    (void)state;
    struct chunk *chunk = NULL;
    uint8_t byte = 'x';

    assert_true(chunk_append(&pool, &chunk, &byte, 1));
    struct chunk *first = chunk;
    chunk_consume(&pool, &chunk, 1);
    assert_null(chunk);
    assert_int_equal(CHUNK_SMALLEST, pool.free_bytes);
    assert_true(chunk_append(&pool, &chunk, &byte, 1));
    assert_ptr_equal(first, chunk);
    assert_int_equal(0, pool.free_bytes);
    chunk_drop(&pool, &chunk);
}

static void test_the_pool_is_bounded(void **state)
{
    (void)state;
    enum { COUNT = 64 };
    struct chunk *chunks[COUNT] = {NULL};
    uint8_t *bytes = calloc(1, 256 * 1024);

    for (int i = 0; i < COUNT; i++)
        assert_true(chunk_append(&pool, &chunks[i], bytes, 256 * 1024));
    assert_int_equal((size_t)COUNT * 256 * 1024, pool.used_bytes);
    for (int i = 0; i < COUNT; i++)
        chunk_drop(&pool, &chunks[i]);
    assert_true(pool.free_bytes <= CHUNK_POOL_BYTES);
    free(bytes);
}

static void test_more_than_the_largest_class(void **state)
{
    (void)state;
    struct chunk *chunk = NULL;
    uint8_t *bytes = malloc(700000);

    memset(bytes, 'z', 700000);
    assert_true(chunk_append(&pool, &chunk, bytes, 700000));
    assert_int_equal(700000, chunk->length);
    assert_memory_equal(bytes, chunk_data(chunk), 700000);
    chunk_drop(&pool, &chunk);
    assert_int_equal(0, pool.free_bytes);
    free(bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bytes_keep_their_order),
        TEST(test_freed_ones_are_used_again),
        TEST(test_the_pool_is_bounded),
        TEST(test_more_than_the_largest_class),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
