#include "os/shared_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

void *shared_page_new(size_t size)
{
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED) {
        fputs("halter: out of memory\n", stderr);
        abort();
    }
    return page;
}

void shared_page_free(void *page, size_t size)
{
    if (page != NULL)
        munmap(page, size);
}
