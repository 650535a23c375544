/*
 * process.h: descriptors and signals of this process, what a forked child leaves behind, and limits.
 */
#ifndef HALTER_OS_PROCESS_H
#define HALTER_OS_PROCESS_H

#include <signal.h>
#include <stddef.h>

/*
 * Opens /dev/null in the place of standard input, output and error where they are closed; else what is opened next would
 * be taken for them, and the log written into it. To be called first of all. 0, or -1 with errno.
 */
int process_open_standard_fds(void) __attribute__((warn_unused_result));

/* Closes every descriptor from 3 up but those in keep, which it sorts. */
void process_close_all_but(int *keep, size_t count);

/* All signals to their default action, but those up to the 0 at the end of ignored; then unblocks all. */
void process_reset_signals(const int *ignored);

/* Blocks all signals; *old gets the mask to give back to process_restore_signals(). */
void process_block_signals(sigset_t *old);
void process_restore_signals(const sigset_t *old);

/* Raises the soft limit of open files to the hard one. Returns the limit now in force (0: unknown). */
unsigned long process_raise_file_limit(void);

/* "SIGSEGV" and so on; "signal 77" in buffer for others. */
const char *process_signal_name(int signal_number, char *buffer, size_t size);

#endif
