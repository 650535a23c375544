/*
 * clock.h: the one clock that deadlines are measured with.
 */
#ifndef HALTER_OS_CLOCK_H
#define HALTER_OS_CLOCK_H

#include <stdint.h>

/* Milliseconds of the monotonic clock; never 0. No system call (vDSO). */
uint64_t clock_now_ms(void);

#endif
