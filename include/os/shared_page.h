/*
 * shared_page.h: zeroed memory that stays shared between a process and its forked children.
 */
#ifndef HALTER_OS_SHARED_PAGE_H
#define HALTER_OS_SHARED_PAGE_H

#include <stddef.h>

/* At least size bytes; ends the process when there is no memory, as mem_new() does. */
void *shared_page_new(size_t size) __attribute__((warn_unused_result));
void shared_page_free(void *page, size_t size);

#endif
