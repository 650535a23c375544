/*
 * log_output.h: where the log goes. The master's end of log.h: standard error, a file, syslog.
 *
 * For the master only; a worker's lines reach it as messages. No write here ever waits: what cannot be written at once
 * (full disk, stuck pipe, syslog away) is dropped and counted, and the first line that gets through again says how many
 * were lost. A file is reopened when it was rotated away (looked at once per second at most).
 *
 *     log_output_open(&options, &errors)      open, or open anew after a reload
 *     log_output_write(severity, pid, text, length)
 *     log_output_reopen()                     SIGUSR1
 *     log_output_close()
 *
 * One log per process: the state is static.
 */
#ifndef HALTER_OS_LOG_OUTPUT_H
#define HALTER_OS_LOG_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/log.h"

enum { LOG_LINE_MAX = 4096 }; /* with time, name and newline; longer ones are cut */

struct log_output_options {
    const char *filename;    /* NULL: no file */
    bool standard_error;     /* when there is no file */
    bool syslog;             /* as well */
    const char *facility;    /* "daemon", "local0" ...; used with syslog */
    const char *syslog_path; /* NULL: the system's socket */
};

/* Before the first log_output_open() lines go to standard error. On -1 the old outputs stay as they are. */
int log_output_open(const struct log_output_options *options, struct error *errors) __attribute__((warn_unused_result));

/* True when filename can be appended to, or be made. Changes nothing. */
bool log_output_can_open(const char *filename, const struct place *place, struct error *errors)
    __attribute__((warn_unused_result));

/* True when facility is one that syslog knows. */
bool log_output_facility_known(const char *facility);

/* One event of process pid. Control characters in text become '?'. */
void log_output_write(enum log_severity severity, pid_t pid, const char *text, size_t length);

/* Stops writing to standard error (a daemon that has left its terminal). */
void log_output_leave_stderr(void);

/* True when lines go to standard error and nowhere else. */
bool log_output_is_stderr_only(void);

/* Opens the file anew. False (and errno) when that fails: the old one stays in use and the next check tries again. */
bool log_output_reopen(void);
void log_output_close(void);

/* Lines lost so far. */
uint64_t log_output_dropped(void);

#endif
