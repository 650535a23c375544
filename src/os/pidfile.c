#include "os/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"

/* Does path still name the file that fd is open on? */
static bool is_same_file(int fd, const char *path)
{
    struct stat by_fd, by_path;

    return fstat(fd, &by_fd) == 0 && stat(path, &by_path) == 0 && by_fd.st_dev == by_path.st_dev &&
           by_fd.st_ino == by_path.st_ino;
}

/* The pidfile is removed at the end: that must not happen to /dev/null. */
static bool is_regular(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static int already_running(int fd, const char *path, struct error *errors)
{
    char text[32] = "";
    ssize_t length = pread(fd, text, sizeof text - 1, 0);
    long pid = length > 0 ? strtol(text, NULL, 10) : 0;

    if (pid > 0)
        return error_add(
            errors, NULL,
            "already running as pid %ld (it holds pidfile \"%s\"); stop it first, or give another --pidfile", pid,
            path);
    return error_add(errors, NULL,
                     "already running: another process holds pidfile \"%s\"; stop it first, or give another --pidfile",
                     path);
}

int pidfile_lock(struct pidfile *pidfile, const char *path, struct error *errors)
{
    /* Another instance may remove the file between our open() and flock(): then try again with the new one. */
    for (int attempt = 0; attempt < 10; attempt++) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);

        if (fd < 0)
            return error_add(errors, NULL, "cannot open pidfile \"%s\": %s%s", path, strerror(errno), file_cure(errno));
        if (!is_regular(fd)) {
            close(fd);
            return error_add(errors, NULL, "cannot use \"%s\" as pidfile: it is not a regular file", path);
        }
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            int result = errno == EWOULDBLOCK
                             ? already_running(fd, path, errors)
                             : error_add(errors, NULL, "cannot lock pidfile \"%s\": %s", path, strerror(errno));

            close(fd);
            return result;
        }
        if (is_same_file(fd, path)) {
            pidfile->fd = fd;
            pidfile->path = mem_strdup(path);
            return 0;
        }
        close(fd);
    }
    return error_add(errors, NULL, "cannot lock pidfile \"%s\": it is replaced all the time", path);
}

int pidfile_write(struct pidfile *pidfile, struct error *errors)
{
    char text[32];

    if (pidfile->fd < 0)
        return 0;
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(pidfile->fd, 0) < 0 || pwrite(pidfile->fd, text, (size_t)length, 0) != length)
        return error_add(errors, NULL, "cannot write pidfile \"%s\": %s%s", pidfile->path, strerror(errno),
                         file_cure(errno));
    return 0;
}

void pidfile_remove(struct pidfile *pidfile)
{
    if (pidfile->fd < 0)
        return;
    if (is_same_file(pidfile->fd, pidfile->path))
        unlink(pidfile->path);
    close(pidfile->fd);
    free(pidfile->path);
    pidfile->fd = -1;
    pidfile->path = NULL;
}
