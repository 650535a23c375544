#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *memory)
{
    if (memory == NULL) {
        fputs("halter: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *mem_new(size_t count, size_t size)
{
    return need(calloc(count == 0 ? 1 : count, size == 0 ? 1 : size));
}

void *mem_resize(void *memory, size_t count, size_t size)
{
    return need(reallocarray(memory, count == 0 ? 1 : count, size == 0 ? 1 : size));
}

char *mem_strdup(const char *text)
{
    return text == NULL ? NULL : need(strdup(text));
}

char *mem_strndup(const char *text, size_t length)
{
    char *copy = mem_new(length + 1, 1);

    if (length > 0)
        memcpy(copy, text, length);
    return copy;
}

void mem_replace(char **text, const char *value)
{
    char *copy = mem_strdup(value);

    free(*text);
    *text = copy;
}
