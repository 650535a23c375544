#include "msg/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* From an allocation of exactly size bytes. */
static bool decode_copy(const uint8_t *packet, size_t size)
{
    struct control_message message;
    uint8_t *copy = malloc(size == 0 ? 1 : size);

    assert_non_null(copy);
    memcpy(copy, packet, size);

    bool good = control_decode(copy, size, &message);

    free(copy);
    return good;
}

static void test_bare_messages(void **state)
{
    (void)state;
    static const enum control_type types[] = {CONTROL_READY, CONTROL_DRAIN, CONTROL_STOP};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        /* severity and text mean nothing here, and are not sent */
        struct control_message message = {.type = types[i], .severity = 3, .text = "text", .length = 4};
        uint8_t packet[CONTROL_PACKET_MAX] = {0};
        const uint8_t expected[3] = {(uint8_t)types[i], 0, 0};

        assert_int_equal(control_encode(&message, packet), CONTROL_HEAD_SIZE);
        assert_memory_equal(packet, expected, sizeof expected);
        assert_true(control_decode(packet, CONTROL_HEAD_SIZE, &message));
        assert_int_equal(message.type, types[i]);
        assert_int_equal(message.severity, 0);
        assert_int_equal(message.length, 0);

        /* truncated, longer, or with a severity: refused */
        assert_false(decode_copy(packet, 0));
        assert_false(decode_copy(packet, 1));
        assert_false(decode_copy(packet, 3));
        packet[1] = 1;
        assert_false(decode_copy(packet, CONTROL_HEAD_SIZE));
    }
}

static void test_log(void **state)
{
    (void)state;
    static const char text[] = "event=x key=\"\0\x01\xff\"";
    static const uint8_t head[] = {CONTROL_LOG, 2};

    for (size_t length = 0; length < sizeof text; length++) {
        struct control_message message = {.type = CONTROL_LOG, .severity = 2, .text = text, .length = length};
        uint8_t packet[CONTROL_PACKET_MAX];

        assert_int_equal(control_encode(&message, packet), CONTROL_HEAD_SIZE + length);
        assert_memory_equal(packet, head, sizeof head);
        memset(&message, 0xee, sizeof message);
        assert_true(control_decode(packet, CONTROL_HEAD_SIZE + length, &message));
        assert_int_equal(message.type, CONTROL_LOG);
        assert_int_equal(message.severity, 2);
        assert_int_equal(message.length, length);
        assert_memory_equal(message.text, text, length);
        assert_ptr_equal(message.text, packet + CONTROL_HEAD_SIZE);
    }
}

static void test_long_text_is_cut(void **state)
{
    (void)state;
    enum { ROOM = CONTROL_PACKET_MAX - CONTROL_HEAD_SIZE };
    static char text[2 * CONTROL_PACKET_MAX];
    static uint8_t packet[CONTROL_PACKET_MAX + 1];

    memset(text, 't', sizeof text);
    for (size_t length = ROOM - 2; length < sizeof text; length++) {
        struct control_message message = {.type = CONTROL_LOG, .text = text, .length = length};
        size_t expected = length < ROOM ? length : ROOM;

        packet[CONTROL_PACKET_MAX] = 0xee;
        assert_int_equal(control_encode(&message, packet), CONTROL_HEAD_SIZE + expected);
        assert_int_equal(packet[CONTROL_PACKET_MAX], 0xee);
        assert_true(control_decode(packet, CONTROL_HEAD_SIZE + expected, &message));
        assert_int_equal(message.length, expected);
    }
    assert_false(control_decode(packet, CONTROL_PACKET_MAX + 1, &(struct control_message){.length = 0}));
}

/* Every first two bytes, alone and with a byte behind them. */
static void test_hostile_heads(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        for (unsigned severity = 0; severity < 256; severity++) {
            uint8_t packet[3] = {(uint8_t)type, (uint8_t)severity, 'x'};
            bool is_log = type == CONTROL_LOG && severity <= CONTROL_SEVERITY_MAX;
            bool is_bare = (type == CONTROL_READY || type == CONTROL_DRAIN || type == CONTROL_STOP) && severity == 0;

            assert_false(decode_copy(packet, 1));
            assert_int_equal(decode_copy(packet, 2), is_log || is_bare);
            assert_int_equal(decode_copy(packet, 3), is_log);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bare_messages),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_long_text_is_cut),
        cmocka_unit_test(test_hostile_heads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
