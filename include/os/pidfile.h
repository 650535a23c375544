/*
 * pidfile.h: the file that holds the master's process id, and keeps a second instance out.
 *
 * The lock, not the text, tells whether an instance runs: a file left behind by a crash does no harm. The lock belongs
 * to the open file, so it survives daemonizing and ends with the last process that has the descriptor.
 */
#ifndef HALTER_OS_PIDFILE_H
#define HALTER_OS_PIDFILE_H

#include <sys/types.h>

#include "base/error.h"

struct pidfile {
    int fd;     /* -1: none */
    char *path; /* absolute or relative to the working directory, which halter never changes */
};

#define PIDFILE_INIT {-1, NULL}

/* Opens and locks path, a regular file. 0, or -1 with a fault: "already running as pid N". */
int pidfile_lock(struct pidfile *pidfile, const char *path, struct error *errors) __attribute__((warn_unused_result));

/* Writes the id of this process. */
int pidfile_write(struct pidfile *pidfile, struct error *errors) __attribute__((warn_unused_result));

/* Removes the file, if it is still ours, and the lock. */
void pidfile_remove(struct pidfile *pidfile);

#endif
