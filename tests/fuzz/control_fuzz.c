/*
 * control_fuzz.c: packets on the control channel from a worker that is in an attacker's hands.
 *
 * What is accepted is within its packet and encodes to the same packet.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "msg/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[CONTROL_PACKET_MAX];
    struct control_message message;
    uint8_t *packet = malloc(size == 0 ? 1 : size);

    if (size > 0)
        memcpy(packet, data, size);
    if (control_decode(packet, size, &message)) {
        CHECK(message.length == size - CONTROL_HEAD_SIZE);
        CHECK(message.type >= CONTROL_READY && message.type <= CONTROL_STOP);
        CHECK(message.severity <= CONTROL_SEVERITY_MAX);
        CHECK(control_encode(&message, again) == size && memcmp(again, packet, size) == 0);
    }

    /* any text may be logged */
    message = (struct control_message){.type = CONTROL_LOG, .severity = 1, .text = (char *)packet, .length = size};

    size_t length = control_encode(&message, again);

    CHECK(length <= sizeof again && control_decode(again, length, &message));
    free(packet);
    return 0;
}
