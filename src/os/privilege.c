#include "os/privilege.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

/* The leak checker must be able to trace its own process. */
#if defined(__SANITIZE_ADDRESS__)
enum { KEEP_DUMPABLE = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { KEEP_DUMPABLE = 1 };
#else
enum { KEEP_DUMPABLE = 0 };
#endif
#else
enum { KEEP_DUMPABLE = 0 };
#endif

static bool parse_id(const char *text, unsigned long *id)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *id = strtoul(text, &end, 10);
    return errno == 0 && *end == '\0' && *id < 0xffffffffUL;
}

/* The file may be missing (a chroot, a container made of one binary): numbers need none. */
static FILE *open_names(const char *path, const char *name, struct error *errors)
{
    FILE *file = fopen(path, "re");
    unsigned long id;

    if (file == NULL && !parse_id(name, &id))
        error_warn(errors, NULL, "cannot read %s: %s", path, strerror(errno));
    return file;
}

/* By name, and when there is none of that name by number. */
static bool find_user(FILE *file, const char *user, uid_t *uid, gid_t *gid)
{
    const struct passwd *entry;
    unsigned long id = 0;
    bool numeric = parse_id(user, &id), found = false;

    while ((entry = fgetpwent(file)) != NULL) {
        bool same_name = strcmp(entry->pw_name, user) == 0;

        if (same_name || (numeric && !found && entry->pw_uid == (uid_t)id)) {
            *uid = entry->pw_uid;
            *gid = entry->pw_gid;
            found = true;
        }
        if (same_name)
            break;
    }
    return found;
}

static bool find_group(FILE *file, const char *group, gid_t *gid)
{
    const struct group *entry;

    while ((entry = fgetgrent(file)) != NULL) {
        if (strcmp(entry->gr_name, group) == 0) {
            *gid = entry->gr_gid;
            return true;
        }
    }
    return false;
}

static int find_user_id(const char *passwd_file, const char *user, const struct place *place, bool has_group,
                        struct privileges *who, struct error *errors)
{
    FILE *file = open_names(passwd_file, user, errors);
    unsigned long id;
    bool found = file != NULL && find_user(file, user, &who->uid, &who->gid);

    if (file != NULL)
        fclose(file);
    if (!found) {
        if (!parse_id(user, &id))
            return error_add(errors, place, "user \"%s\" is not in %s; create it (useradd --system %s) or name another",
                             user, passwd_file, user);
        if (!has_group)
            return error_add(errors, place, "user %s is not in %s, so its group is not known; set group as well", user,
                             passwd_file);
        who->uid = (uid_t)id;
    }
    who->has_user = true;
    who->has_group = true;
    return 0;
}

static int find_group_id(const char *group_file, const char *group, const struct place *place, struct privileges *who,
                         struct error *errors)
{
    FILE *file = open_names(group_file, group, errors);
    unsigned long id;
    bool found = file != NULL && find_group(file, group, &who->gid);

    if (file != NULL)
        fclose(file);
    if (!found) {
        if (!parse_id(group, &id))
            return error_add(errors, place,
                             "group \"%s\" is not in %s; create it (groupadd --system %s) or name another", group,
                             group_file, group);
        who->gid = (gid_t)id;
    }
    who->has_group = true;
    return 0;
}

int privileges_find_in(const char *passwd_file, const char *group_file, const char *user,
                       const struct place *user_place, const char *group, const struct place *group_place,
                       struct privileges *who, struct error *errors)
{
    int result = 0;
    bool has_group = group != NULL && *group != '\0';

    memset(who, 0, sizeof *who);
    if (user != NULL && *user != '\0')
        result |= find_user_id(passwd_file, user, user_place, has_group, who, errors);
    if (has_group)
        result |= find_group_id(group_file, group, group_place, who, errors);
    return result;
}

int privileges_find(const char *user, const struct place *user_place, const char *group,
                    const struct place *group_place, struct privileges *who, struct error *errors)
{
    return privileges_find_in("/etc/passwd", "/etc/group", user, user_place, group, group_place, who, errors);
}

int privileges_check(const struct privileges *who, const char *chroot_dir, struct error *errors)
{
    int result = 0;

    if (geteuid() != 0) {
        if (chroot_dir != NULL)
            result = error_add(errors, NULL, "chroot needs to be started as root");
        if ((who->has_user && who->uid != geteuid()) || (who->has_group && who->gid != getegid()))
            error_warn(errors, NULL, "not started as root: user and group have no effect");
        return result;
    }
    if (!who->has_user)
        return error_add(
            errors, NULL,
            "refusing to run workers as root; set user = \"NAME\" (or --user=NAME) to an unprivileged user, "
            "or to root if you mean it");
    if (who->uid == 0 && who->gid != 0)
        return error_add(
            errors, NULL,
            "refusing to run workers as root, unless user and group are both explicitly root; set user to an "
            "unprivileged user");
    return 0;
}

/* Tries to get root back, which must fail. */
static bool is_dropped(const struct privileges *who)
{
    if (getuid() != who->uid || geteuid() != who->uid || getgid() != who->gid || getegid() != who->gid)
        return false;
    if (who->gid != 0 && (setgid(0) == 0 || setegid(0) == 0))
        return false;
    if (who->uid != 0 && (setuid(0) == 0 || seteuid(0) == 0))
        return false;
    return true;
}

static void harden(void)
{
#ifdef __linux__
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)prctl(PR_SET_DUMPABLE, KEEP_DUMPABLE, 0, 0, 0);
#endif
}

int privileges_drop(const struct privileges *who, const char *chroot_dir, struct error *errors)
{
    if (chroot_dir != NULL && (chroot(chroot_dir) < 0 || chdir("/") < 0))
        return error_add(errors, NULL, "cannot chroot to \"%s\": %s", chroot_dir, strerror(errno));
    if (geteuid() == 0 && who->has_user) {
        /* The order matters: once the uid is gone the rest cannot be changed any more. */
        if (setgroups(0, NULL) < 0)
            return error_add(errors, NULL, "cannot drop supplementary groups: %s", strerror(errno));
        if (setgid(who->gid) < 0)
            return error_add(errors, NULL, "cannot become group %ld: %s", (long)who->gid, strerror(errno));
        if (setuid(who->uid) < 0)
            return error_add(errors, NULL, "cannot become user %ld: %s", (long)who->uid, strerror(errno));
        if (!is_dropped(who))
            return error_add(errors, NULL, "privileges of root could be regained after becoming user %ld",
                             (long)who->uid);
    }
    harden();
    return 0;
}
