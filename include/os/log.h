/*
 * log.h: the log of this process.
 *
 * One line is one event in logfmt: `time level halter[pid] event=... key=value ...`. The master owns the sink (standard
 * error, file, syslog); a worker's lines go to the master over its control channel, so that a chroot, a rotated file or
 * a full disk never concerns a worker. A line that cannot be delivered at once is dropped and counted, never waited for.
 *
 *     log_notice("event=started workers=%u", count);
 *     log_error("event=accept-failed reason=%s", log_quote(buffer, sizeof buffer, text));
 */
#ifndef HALTER_OS_LOG_H
#define HALTER_OS_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_severity {
    LOG_SEVERITY_ERROR,  /* shown from log-level 1 */
    LOG_SEVERITY_NOTICE, /* life of the master and its workers; shown from log-level 1 */
    LOG_SEVERITY_INFO,   /* failures that a client caused; shown from log-level 2 */
    LOG_SEVERITY_DEBUG,  /* one line for each connection; shown from log-level 3 */
};

/* A sink takes one finished event ("event=... key=value", no newline, no time); must not block. */
typedef void log_sink(enum log_severity severity, const char *text, size_t length);

/* The default sink writes to standard error. */
void log_set_sink(log_sink *sink);
void log_set_level(unsigned level);

/* True when an event of this severity would be written; ask before formatting anything costly. */
bool log_enabled(enum log_severity severity);

void log_write(enum log_severity severity, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_at(LOG_SEVERITY_ERROR, __VA_ARGS__)
#define log_notice(...) log_at(LOG_SEVERITY_NOTICE, __VA_ARGS__)
#define log_info(...) log_at(LOG_SEVERITY_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_SEVERITY_DEBUG, __VA_ARGS__)
#define log_at(severity, ...)                                                                                          \
    do {                                                                                                               \
        if (log_enabled(severity))                                                                                     \
            log_write(severity, __VA_ARGS__);                                                                          \
    } while (0)

/*
 * Writes value to buffer as a logfmt value: bare when it has only visible ASCII other than '"', '=' and '\\', else in
 * double quotes with \" \\ \n and \xNN escapes; cut to fit. Returns buffer. Use it for all text that halter did not
 * make itself.
 */
const char *log_quote(char *buffer, size_t size, const char *value);

#endif
