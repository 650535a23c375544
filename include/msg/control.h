/*
 * control.h: messages between master and worker, one a packet.
 *
 *     byte 0       enum control_type
 *     byte 1       LOG: enum log_severity; else 0
 *     bytes 2..    LOG: the text, without NUL; else nothing
 *
 * Pure: encodes into and checks bytes. Whoever receives treats the other side as hostile: a worker may be in the hands
 * of an attacker.
 */
#ifndef HALTER_MSG_CONTROL_H
#define HALTER_MSG_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum control_type {
    CONTROL_READY = 1, /* worker to master: accepting */
    CONTROL_LOG = 2,   /* worker to master: one log event */
    CONTROL_DRAIN = 3, /* master to worker: accept no more, finish what is open, exit */
    CONTROL_STOP = 4,  /* master to worker: exit now */
};

enum { CONTROL_PACKET_MAX = 4096, CONTROL_HEAD_SIZE = 2, CONTROL_SEVERITY_MAX = 3 };

struct control_message {
    enum control_type type;
    uint8_t severity; /* CONTROL_LOG */
    const char *text; /* CONTROL_LOG: borrowed from the packet, not NUL-terminated */
    size_t length;
};

/* Writes the packet; a text that does not fit is cut. Returns its size, at most CONTROL_PACKET_MAX. */
size_t control_encode(const struct control_message *message, uint8_t packet[CONTROL_PACKET_MAX]);

/* False when the packet is not exactly one of the above. */
bool control_decode(const uint8_t *packet, size_t size, struct control_message *message);

#endif
