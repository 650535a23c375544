/*
 * announce.h: what the backend is told about the client before its first byte.
 */
#ifndef HALTER_RELAY_ANNOUNCE_H
#define HALTER_RELAY_ANNOUNCE_H

#include <stddef.h>
#include <stdint.h>

#include "relay/relay.h"

/* Writes the header that the configuration asks for; returns its length, 0 for none. size is SCRATCH_HEAD_ROOM. */
size_t announce_write(const struct relay *relay, uint8_t *buffer, size_t size);

#endif
