#include "msg/control.h"

#include <string.h>

size_t control_encode(const struct control_message *message, uint8_t packet[CONTROL_PACKET_MAX])
{
    size_t length = message->type == CONTROL_LOG ? message->length : 0;

    if (length > CONTROL_PACKET_MAX - CONTROL_HEAD_SIZE)
        length = CONTROL_PACKET_MAX - CONTROL_HEAD_SIZE;
    packet[0] = (uint8_t)message->type;
    packet[1] = message->type == CONTROL_LOG ? message->severity : 0;
    if (length > 0)
        memcpy(packet + CONTROL_HEAD_SIZE, message->text, length);
    return CONTROL_HEAD_SIZE + length;
}

bool control_decode(const uint8_t *packet, size_t size, struct control_message *message)
{
    if (size < CONTROL_HEAD_SIZE || size > CONTROL_PACKET_MAX)
        return false;
    if (packet[0] < CONTROL_READY || packet[0] > CONTROL_STOP)
        return false;
    memset(message, 0, sizeof *message);
    message->type = (enum control_type)packet[0];
    message->text = (const char *)packet + CONTROL_HEAD_SIZE;
    message->length = size - CONTROL_HEAD_SIZE;
    message->severity = packet[1];
    if (message->type != CONTROL_LOG)
        return message->length == 0 && message->severity == 0;
    return message->severity <= CONTROL_SEVERITY_MAX;
}
