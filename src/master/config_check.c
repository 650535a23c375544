#include "master/config_check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/strbuf.h"
#include "conf/keyword.h"
#include "os/endpoint.h"
#include "os/file.h"
#include "os/log_output.h"

struct place config_check_place(const struct config *config, const char *keyword)
{
    const struct keyword *row = keyword_find(keyword, strlen(keyword));
    const struct place *place = row != NULL ? conf_marks_find(&config->marks, row) : NULL;

    return place != NULL ? *place : (struct place){NULL, 0, 0};
}

static int check_chroot(const struct config *config, struct error *errors)
{
    struct place place = config_check_place(config, "chroot");
    struct stat st;

    if (config->chroot_dir == NULL)
        return 0;
    if (stat(config->chroot_dir, &st) < 0)
        return error_add(errors, &place, "chroot: \"%s\": %s%s", config->chroot_dir, strerror(errno), file_cure(errno));
    if (!S_ISDIR(st.st_mode))
        return error_add(errors, &place, "chroot: \"%s\" is not a directory", config->chroot_dir);
    return 0;
}

/* A unix socket must be there already, as with hitch; workers see it from inside the chroot. */
static int check_backend(const struct config *config, struct error *errors)
{
    const struct conf_backend *backend = &config->backend;
    struct strbuf path = STRBUF_INIT;
    struct endpoint endpoint;
    struct stat st;
    int result = 0;

    if (backend->path == NULL)
        return 0;
    if (!endpoint_set_unix(&endpoint, backend->path))
        return error_add(errors, &backend->place,
                         "backend: the path \"%s\" is longer than the %zu bytes of a unix socket", backend->path,
                         sizeof endpoint.sa.un.sun_path - 1);
    if (config->chroot_dir != NULL)
        strbuf_addf(&path, "%s%s", config->chroot_dir, backend->path[0] == '/' ? "" : "/");
    strbuf_adds(&path, backend->path);
    if (stat(path.data, &st) < 0)
        result = error_add(errors, &backend->place, "backend: \"%s\": %s%s", path.data, strerror(errno),
                           errno == ENOENT ? "; start the backend first, or check the path" : file_cure(errno));
    else if (!S_ISSOCK(st.st_mode))
        result = error_add(errors, &backend->place, "backend: \"%s\" is not a socket", path.data);
    strbuf_clear(&path);
    return result;
}

static int check_log(const struct config *config, struct error *errors)
{
    struct place file_place = config_check_place(config, "log-filename");
    struct place place = config_check_place(config, "syslog-facility");
    int result = 0;

    if (config->log_filename != NULL && !log_output_can_open(config->log_filename, &file_place, errors))
        result = -1;
    if (config->syslog && config->syslog_facility != NULL && !log_output_facility_known(config->syslog_facility))
        result = error_add(errors, &place, "syslog-facility: unknown facility \"%s\"", config->syslog_facility);
    if (config->daemon && !config->syslog && config->log_filename == NULL)
        error_warn(errors, NULL,
                   "daemon without log-filename or syslog: there will be no log; set one of them to have one");
    return result;
}

static int check_user(const struct config *config, struct privileges *who, struct error *errors)
{
    struct place user_place = config_check_place(config, "user"), group_place = config_check_place(config, "group");

    return privileges_find(config->user, &user_place, config->group, &group_place, who, errors);
}

int config_check(const struct config *config, struct privileges *who, struct error *errors)
{
    int result = 0;

    result |= check_chroot(config, errors);
    result |= check_backend(config, errors);
    result |= check_log(config, errors);
    result |= check_user(config, who, errors);
    return result;
}
