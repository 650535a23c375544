/*
 * http_list.h: the comma lists of field values (RFC 9110 section 5.6.1), empty elements skipped.
 *
 *     struct http_list list = {value, value + length};
 *     while (http_list_next(&list, &item, &item_length)) ...
 */
#ifndef HALTER_HTTP_HTTP_LIST_H
#define HALTER_HTTP_HTTP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct http_list {
    const uint8_t *next;
    const uint8_t *end;
};

static inline bool http_is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

/* Moves both ends inward over blanks. */
static inline void http_trim(const uint8_t **start, const uint8_t **end)
{
    while (*start < *end && http_is_blank(**start))
        (*start)++;
    while (*end > *start && http_is_blank((*end)[-1]))
        (*end)--;
}

/* The next element that is not empty, without the blanks around it; false at the end. */
static inline bool http_list_next(struct http_list *list, const uint8_t **item, size_t *length)
{
    while (list->next < list->end) {
        const uint8_t *start = list->next;
        const uint8_t *comma = memchr(start, ',', (size_t)(list->end - start));
        const uint8_t *end = comma != NULL ? comma : list->end;

        list->next = comma != NULL ? comma + 1 : list->end;
        http_trim(&start, &end);
        if (start < end) {
            *item = start;
            *length = (size_t)(end - start);
            return true;
        }
    }
    return false;
}

#endif
