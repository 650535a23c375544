#include "os/file_list.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/strbuf.h"

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_regular(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

int file_list_dir(struct file_list *list, const char *directory, const char *glob, struct error *errors)
{
    memset(list, 0, sizeof *list);
    DIR *dir = opendir(directory);
    if (dir == NULL)
        return error_add(errors, NULL, "pem-dir \"%s\" cannot be read: %s", directory, strerror(errno));

    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.' || (glob != NULL && fnmatch(glob, entry->d_name, 0) != 0))
            continue;
        struct strbuf path = STRBUF_INIT;
        strbuf_addf(&path, "%s%s", directory, entry->d_name);
        if (is_regular(path.data)) {
            list->paths = mem_resize(list->paths, list->count + 1, sizeof *list->paths);
            list->paths[list->count++] = strbuf_take(&path);
        }
        strbuf_clear(&path);
    }
    closedir(dir);
    if (list->count > 0)
        qsort(list->paths, list->count, sizeof *list->paths, compare_paths);
    return 0;
}

void file_list_clear(struct file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    memset(list, 0, sizeof *list);
}
