/*
 * strbuf.h: a text that grows.
 *
 * For configuration, messages and reports. Not for relayed bytes. data is always NUL-terminated and never NULL, even
 * after STRBUF_INIT.
 *
 *     struct strbuf text = STRBUF_INIT;
 *     strbuf_addf(&text, "%u workers", count);
 *     char *line = strbuf_take(&text);     (or strbuf_clear)
 */
#ifndef HALTER_BASE_STRBUF_H
#define HALTER_BASE_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

struct strbuf {
    char *data;      /* owned once capacity > 0 */
    size_t length;   /* without the NUL */
    size_t capacity; /* 0: data is a shared empty string */
};

extern char strbuf_empty[1];

#define STRBUF_INIT {strbuf_empty, 0, 0}

void strbuf_init(struct strbuf *buf);
void strbuf_clear(struct strbuf *buf);
void strbuf_add(struct strbuf *buf, const void *bytes, size_t length);
void strbuf_adds(struct strbuf *buf, const char *text);
void strbuf_addf(struct strbuf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strbuf_addv(struct strbuf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Moves the text out; the caller frees it. The buffer is empty afterwards. */
char *strbuf_take(struct strbuf *buf) __attribute__((warn_unused_result));

#endif
