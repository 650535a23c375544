/*
 * privilege.h: who a worker runs as.
 *
 * Users and groups are read from the files themselves (fgetpwent, fgetgrent): getpwnam() in a static binary loads name
 * service modules of whatever libc the machine has. No supplementary group survives.
 *
 *     privileges_find(config->user, &place, config->group, &place, &who, &errors)      in the master, before any chroot
 *     privileges_check(&who, &errors)                                  root needs a user to become
 *     privileges_drop(&who, chroot_dir, &errors)                       in the worker, for good
 */
#ifndef HALTER_OS_PRIVILEGE_H
#define HALTER_OS_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct privileges {
    bool has_user;
    bool has_group;
    uid_t uid;
    gid_t gid; /* set whenever has_group; a user brings its own group */
};

/* user and group are names or numbers, or NULL; the places are where they were configured. All faults are added; 0 or -1. */
int privileges_find(const char *user, const struct place *user_place, const char *group,
                    const struct place *group_place, struct privileges *who, struct error *errors)
    __attribute__((warn_unused_result));

/* The same with other files, for the tests. */
int privileges_find_in(const char *passwd_file, const char *group_file, const char *user,
                       const struct place *user_place, const char *group, const struct place *group_place,
                       struct privileges *who, struct error *errors) __attribute__((warn_unused_result));

/*
 * Refuses what must not run: workers as root when that was not asked for in so many words, chroot without being root.
 * Warns when user or group will have no effect.
 */
int privileges_check(const struct privileges *who, const char *chroot_dir, struct error *errors)
    __attribute__((warn_unused_result));

/*
 * chroot_dir (NULL: none), groups, gid, uid; verified not to come back; no new privileges by exec; no core file, no
 * debugger (but under a sanitizer). 0, or -1 with a fault: then the process must end.
 */
int privileges_drop(const struct privileges *who, const char *chroot_dir, struct error *errors)
    __attribute__((warn_unused_result));

#endif
