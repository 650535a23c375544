#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"

const char *file_cure(int error_number)
{
    switch (error_number) {
    case EACCES:
    case EPERM:
        return "; check owner and mode of the file and of each directory above it";
    case ENOENT:
        return "; check the spelling of the path and the working directory";
    case ENOTDIR:
        return "; a part of the path is not a directory";
    case ENOSPC:
    case EDQUOT:
        return "; make room on that file system";
    case EROFS:
        return "; that file system is mounted read-only";
    case EMFILE:
    case ENFILE:
        return "; raise the limit of open files (ulimit -n)";
    case EISDIR:
        return "; give the name of a file";
    case ENXIO:
        return "; nobody reads from that named pipe";
    default:
        return "";
    }
}

bool file_parent_is_writable(const char *path)
{
    char *copy = mem_strdup(path);
    int saved_errno = errno;
    bool writable = access(dirname(copy), W_OK | X_OK) == 0;

    if (writable)
        errno = saved_errno;
    free(copy);
    return writable;
}

static int open_for_reading(const char *path, enum file_kind kind, const struct place *place, struct error *errors)
{
    struct stat st;

    if (kind == FILE_ANY && strcmp(path, "-") == 0)
        return STDIN_FILENO;
    /* O_NONBLOCK keeps open() from waiting at a named pipe; it does nothing to a regular file. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (kind == FILE_REGULAR ? O_NONBLOCK : 0));
    if (fd < 0)
        return error_add(errors, place, "cannot open \"%s\": %s%s", path, strerror(errno), file_cure(errno));
    if (fstat(fd, &st) < 0) {
        error_add(errors, place, "cannot read \"%s\": %s", path, strerror(errno));
        close(fd);
        return -1;
    }
    if (S_ISDIR(st.st_mode) || (kind == FILE_REGULAR && !S_ISREG(st.st_mode))) {
        error_add(errors, place, "\"%s\" is %s; give the name of a regular file", path,
                  S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
        close(fd);
        return -1;
    }
    return fd;
}

int file_read(const char *path, enum file_kind kind, size_t max, char **data, size_t *length, const struct place *place,
              struct error *errors)
{
    struct stat st;
    char *buffer = NULL;
    size_t capacity, used = 0;
    int result = -1;

    int fd = open_for_reading(path, kind, place, errors);
    if (fd < 0)
        return -1;
    /* One byte more than expected, so that the end is seen without growing: no stray copies of a key. */
    capacity = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 ? (size_t)st.st_size + 2 : 65536;
    if (capacity > max + 2)
        capacity = max + 2;
    buffer = mem_new(capacity, 1);
    for (;;) {
        ssize_t got = read(fd, buffer + used, capacity - used - 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            error_add(errors, place, "cannot read \"%s\": %s%s", path, strerror(errno), file_cure(errno));
            goto out;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used > max) {
            error_add(errors, place, "\"%s\" is larger than %zu bytes; is it the right file?", path, max);
            goto out;
        }
        if (used + 1 >= capacity) {
            char *larger = mem_new(capacity * 2, 1);

            memcpy(larger, buffer, used);
            file_wipe(buffer, used);
            buffer = larger;
            capacity *= 2;
        }
    }
    buffer[used] = '\0';
    *data = buffer;
    *length = used;
    buffer = NULL;
    result = 0;
out:
    file_wipe(buffer, used);
    if (fd != STDIN_FILENO)
        close(fd);
    return result;
}

void file_wipe(char *data, size_t length)
{
    if (data == NULL)
        return;
    explicit_bzero(data, length);
    free(data);
}

static int write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        text += written;
        length -= (size_t)written;
    }
    return 0;
}

/* For a device or a pipe ("/dev/stdout"): it must not be renamed over. */
static int write_in_place(const char *path, const char *text, size_t length, struct error *errors)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int result = fd < 0 ? -1 : write_all(fd, text, length);

    if (result < 0)
        error_add(errors, NULL, "cannot write \"%s\": %s%s", path, strerror(errno), file_cure(errno));
    if (fd >= 0)
        close(fd);
    return result;
}

int file_replace(const char *path, const char *text, size_t length, mode_t mode, struct error *errors)
{
    struct strbuf temporary = STRBUF_INIT;
    struct stat st;
    int result = -1;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return write_in_place(path, text, length, errors);
    strbuf_addf(&temporary, "%s.%ld.tmp", path, (long)getpid());
    unlink(temporary.data);
    int fd = open(temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) {
        error_add(errors, NULL, "cannot make \"%s\": %s%s", temporary.data, strerror(errno), file_cure(errno));
        goto out;
    }
    if (write_all(fd, text, length) < 0 || rename(temporary.data, path) < 0) {
        error_add(errors, NULL, "cannot write \"%s\": %s%s", path, strerror(errno), file_cure(errno));
        unlink(temporary.data);
        goto out;
    }
    result = 0;
out:
    if (fd >= 0)
        close(fd);
    strbuf_clear(&temporary);
    return result;
}
