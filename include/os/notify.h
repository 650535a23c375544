/*
 * notify.h: tells the service manager how we are (sd_notify(3), spoken by hand).
 *
 * Does nothing when NOTIFY_SOCKET is not set, and never fails loudly: the manager's silence must not stop us.
 */
#ifndef HALTER_OS_NOTIFY_H
#define HALTER_OS_NOTIFY_H

void notify_ready(const char *status);    /* READY=1, MAINPID=, STATUS= */
void notify_reloading(void);              /* RELOADING=1, MONOTONIC_USEC= */
void notify_stopping(const char *status); /* STOPPING=1, STATUS= */

#endif
