/*
 * file.h: whole files in and out, with errors that say what to do.
 *
 * For configuration, certificates, small status files: read at start and reload. Not for anything on the way of a
 * connection.
 */
#ifndef HALTER_OS_FILE_H
#define HALTER_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

enum file_kind {
    FILE_ANY,     /* pipes and devices too; "-" is standard input */
    FILE_REGULAR, /* anything else is a fault, and is not opened so that it could wait */
};

/*
 * Reads all of path, at most max bytes (more is a fault), into *data with a NUL behind; the caller frees it, after
 * file_wipe() when it holds a key. place (may be NULL) is where path was configured. 0, or -1 with a fault.
 */
int file_read(const char *path, enum file_kind kind, size_t max, char **data, size_t *length, const struct place *place,
              struct error *errors) __attribute__((warn_unused_result));

/* Overwrites and frees; data may be NULL. */
void file_wipe(char *data, size_t length);

/* Puts a new file with this text in the place of path in one step (temporary file, rename). 0, or -1 with a fault. */
int file_replace(const char *path, const char *text, size_t length, mode_t mode, struct error *errors)
    __attribute__((warn_unused_result));

/* What usually helps against this errno: "; ..." or "". */
const char *file_cure(int error_number);

/* True when a file could be made beside path. */
bool file_parent_is_writable(const char *path);

#endif
