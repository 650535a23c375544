/*
 * mem.h: allocation that cannot fail, for start and reload.
 *
 * These end the process when memory is exhausted: use them for configuration and tables. What a client can cause to be
 * allocated goes through malloc() itself and handles NULL by closing that client's connection.
 */
#ifndef HALTER_BASE_MEM_H
#define HALTER_BASE_MEM_H

#include <stddef.h>

/* Zeroed memory for count elements of size bytes; the caller frees it with free(). */
void *mem_new(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/* As reallocarray(), never NULL; added memory is not zeroed. */
void *mem_resize(void *memory, size_t count, size_t size) __attribute__((warn_unused_result));

/* A copy of text; NULL stays NULL. */
char *mem_strdup(const char *text) __attribute__((warn_unused_result));

/* A copy of length bytes with a NUL behind them. */
char *mem_strndup(const char *text, size_t length) __attribute__((warn_unused_result));

/* Frees *text and puts a copy of value (NULL stays NULL) in its place. */
void mem_replace(char **text, const char *value);

#endif
