/*
 * daemonize.h: into the background, without losing the errors of the start.
 *
 * The process that the shell waits for ends only when the daemon says that it serves (exit status 0) or has failed (1);
 * until then the daemon keeps the terminal's standard error. The working directory and the umask stay as they are, so
 * that relative paths in the configuration mean the same at a reload.
 */
#ifndef HALTER_OS_DAEMONIZE_H
#define HALTER_OS_DAEMONIZE_H

#include "base/error.h"

/* Returns 0 in the daemon; the caller's own process never returns from here. -1: no process could be made. */
int daemonize_begin(struct error *errors) __attribute__((warn_unused_result));

/* The daemon serves: as daemonize_detach(), and the waiting process ends with 0. Does nothing when not a daemon. */
void daemonize_ready(void);

/* Standard input, output and error become /dev/null: whoever started the daemon may wait for their end. */
void daemonize_detach(void);

#endif
