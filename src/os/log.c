#include "os/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/log_output.h"

static void write_own(enum log_severity severity, const char *text, size_t length)
{
    log_output_write(severity, getpid(), text, length);
}

static log_sink *current_sink = write_own;
static unsigned current_level = 1;

void log_set_sink(log_sink *sink)
{
    current_sink = sink != NULL ? sink : write_own;
}

void log_set_level(unsigned level)
{
    current_level = level;
}

bool log_enabled(enum log_severity severity)
{
    unsigned needed = 1;

    switch (severity) {
    case LOG_SEVERITY_ERROR:
    case LOG_SEVERITY_NOTICE:
        needed = 1;
        break;
    case LOG_SEVERITY_INFO:
        needed = 2;
        break;
    case LOG_SEVERITY_DEBUG:
        needed = 3;
        break;
    }
    return current_level >= needed;
}

void log_write(enum log_severity severity, const char *format, ...)
{
    static const char cut[] = "...";
    char text[LOG_LINE_MAX];
    int saved_errno = errno;
    va_list args;

    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0)
        length = 0;
    if ((size_t)length >= sizeof text) {
        memcpy(text + sizeof text - sizeof cut, cut, sizeof cut);
        length = (int)sizeof text - 1;
    }
    current_sink(severity, text, (size_t)length);
    errno = saved_errno;
}

static bool is_bare(const char *value)
{
    if (*value == '\0')
        return false;
    for (const unsigned char *p = (const unsigned char *)value; *p != '\0'; p++)
        if (*p <= 0x20 || *p >= 0x7f || *p == '"' || *p == '=' || *p == '\\')
            return false;
    return true;
}

/* The escaped form of c in out; returns its length. */
static size_t escape(unsigned char c, char out[5])
{
    if (c == '"' || c == '\\') {
        out[0] = '\\';
        out[1] = (char)c;
        return 2;
    }
    if (c == '\n') {
        memcpy(out, "\\n", 2);
        return 2;
    }
    if (c < 0x20 || c >= 0x7f) {
        snprintf(out, 5, "\\x%02x", (unsigned)c);
        return 4;
    }
    out[0] = (char)c;
    return 1;
}

const char *log_quote(char *buffer, size_t size, const char *value)
{
    size_t used = 0;

    if (size == 0)
        return buffer;
    if (value == NULL)
        value = "";
    if (is_bare(value) || size < 3) {
        snprintf(buffer, size, "%s", is_bare(value) ? value : "");
        return buffer;
    }
    buffer[used++] = '"';
    for (; *value != '\0'; value++) {
        char out[5];
        size_t length = escape((unsigned char)*value, out);

        if (used + length + 2 > size)
            break;
        memcpy(buffer + used, out, length);
        used += length;
    }
    buffer[used++] = '"';
    buffer[used] = '\0';
    return buffer;
}
