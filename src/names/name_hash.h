/*
 * name_hash.h: SipHash-1-3 (Aumasson and Bernstein, with one compression and three finalisation rounds).
 */
#ifndef HALTER_SRC_NAMES_NAME_HASH_H
#define HALTER_SRC_NAMES_NAME_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "names/name_table.h"

uint64_t name_hash(const struct name_seed *seed, const char *bytes, size_t length);

#endif
