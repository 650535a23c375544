/*
 * cpu.h: how many cores this process may use, and which.
 *
 * "workers = auto" follows the cpuset (affinity mask) and the CPU quota of the control group, not the number of cores
 * that the machine happens to have.
 */
#ifndef HALTER_OS_CPU_H
#define HALTER_OS_CPU_H

#include <stdbool.h>

/* Cores in the affinity mask of this process; at least 1. */
unsigned cpu_allowed(void);

/* The tightest quota of our control group and those above it, in cores rounded up; 0: none. */
unsigned cpu_quota(void);

/* min(cpu_allowed, cpu_quota). */
unsigned cpu_workers_auto(void);

/*
 * Binds this process to the (index modulo count)th core of those that it may use. False when that cannot be done. Does
 * nothing, and returns true, under a quota smaller than the mask: there the kernel must be free to choose, as all
 * programs with such a quota would else meet on the first cores of the machine.
 */
bool cpu_pin(unsigned index);

/* Pure parsers, for the tests. Cores rounded up; 0: no quota, or not understood. */
unsigned cpu_parse_quota_v2(const char *text);                      /* cpu.max: "150000 100000" or "max 100000" */
unsigned cpu_parse_quota_v1(const char *quota, const char *period); /* cpu.cfs_quota_us, cpu.cfs_period_us */

/*
 * The path of our group in the text of /proc/self/cgroup; controller "" is version 2 ("0::/path"), "cpu" is that of
 * version 1 ("4:cpu,cpuacct:/path"). False when it is not there or does not fit.
 */
bool cpu_parse_cgroup(const char *text, const char *controller, char *path, unsigned size);

#endif
