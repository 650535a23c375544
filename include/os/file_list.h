/*
 * file_list.h: the regular files of a directory, in the order of their names.
 *
 * For pem-dir. Dotfiles (editors' and package managers' left-overs) and what cannot be stat'ed are passed over.
 */
#ifndef HALTER_OS_FILE_LIST_H
#define HALTER_OS_FILE_LIST_H

#include <stddef.h>

#include "base/error.h"

struct file_list {
    char **paths; /* directory and name */
    size_t count;
};

/* directory ends with '/'; glob (fnmatch(3) on names) may be NULL. 0, or -1 with a fault and an empty list. */
int file_list_dir(struct file_list *list, const char *directory, const char *glob, struct error *errors)
    __attribute__((warn_unused_result));
void file_list_clear(struct file_list *list);

#endif
