/*
 * http_plain.h: what a client is told that speaks HTTP without TLS to a port for TLS.
 */
#ifndef HALTER_HTTP_HTTP_PLAIN_H
#define HALTER_HTTP_HTTP_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "relay/filter.h"

/* As filter_ops.plain_answer: a short 400, or where the site says so a 308 to the same address over https. */
const uint8_t *http_plain_answer(const struct filter_site *site, const uint8_t *bytes, size_t length, uint8_t *buffer,
                                 size_t size, size_t *answer_length);

#endif
