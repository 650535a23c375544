/*
 * text.h: small helpers on the operator's text, for this room only.
 */
#ifndef HALTER_CONF_TEXT_H
#define HALTER_CONF_TEXT_H

#include <stddef.h>

enum { EXCERPT_MAX = 80 }; /* bytes of a buffer for text_excerpt() */

/* The beginning of text, fit for one line of a message: control characters as '?', "..." when cut. Returns buffer. */
const char *text_excerpt(char *buffer, const char *text, size_t length);

/*
 * How many insertions, deletions, replacements and swaps of neighbours turn word into name, without regard to case.
 * SIZE_MAX for long words.
 */
size_t text_distance(const char *word, size_t length, const char *name);

#endif
