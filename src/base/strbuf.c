#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

char strbuf_empty[1];

void strbuf_init(struct strbuf *buf)
{
    buf->data = strbuf_empty;
    buf->length = 0;
    buf->capacity = 0;
}

void strbuf_clear(struct strbuf *buf)
{
    if (buf->capacity > 0)
        free(buf->data);
    strbuf_init(buf);
}

static void reserve(struct strbuf *buf, size_t more)
{
    size_t need = buf->length + more + 1;

    if (need <= buf->capacity)
        return;
    size_t capacity = buf->capacity < 64 ? 64 : buf->capacity * 2;
    if (capacity < need)
        capacity = need;
    buf->data = mem_resize(buf->capacity > 0 ? buf->data : NULL, capacity, 1);
    buf->capacity = capacity;
    buf->data[buf->length] = '\0';
}

void strbuf_add(struct strbuf *buf, const void *bytes, size_t length)
{
    if (length == 0)
        return;
    reserve(buf, length);
    memcpy(buf->data + buf->length, bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void strbuf_adds(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, text, strlen(text));
}

void strbuf_addv(struct strbuf *buf, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    CHECK(length >= 0);
    reserve(buf, (size_t)length);
    vsnprintf(buf->data + buf->length, (size_t)length + 1, format, args);
    buf->length += (size_t)length;
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    strbuf_addv(buf, format, args);
    va_end(args);
}

char *strbuf_take(struct strbuf *buf)
{
    char *data = buf->capacity > 0 ? buf->data : mem_strdup("");

    strbuf_init(buf);
    return data;
}
