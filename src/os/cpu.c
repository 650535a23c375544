#include "os/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#endif

static unsigned round_up(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    long long cores = (quota - 1) / period + 1;
    return cores > 1000000 ? 0 : (unsigned)cores;
}

unsigned cpu_parse_quota_v2(const char *text)
{
    long long quota, period;

    return sscanf(text, "%lld %lld", &quota, &period) == 2 ? round_up(quota, period) : 0;
}

unsigned cpu_parse_quota_v1(const char *quota, const char *period)
{
    return round_up(atoll(quota), atoll(period));
}

/* Is name one of the comma-separated words of length bytes? An empty list has one word, the empty one. */
static bool has_word(const char *words, size_t length, const char *name)
{
    size_t wanted = strlen(name);

    for (;;) {
        const char *comma = memchr(words, ',', length);
        size_t word = comma != NULL ? (size_t)(comma - words) : length;

        if (word == wanted && memcmp(words, name, wanted) == 0)
            return true;
        if (comma == NULL)
            return false;
        words += word + 1;
        length -= word + 1;
    }
}

bool cpu_parse_cgroup(const char *text, const char *controller, char *path, unsigned size)
{
    while (*text != '\0') {
        size_t line = strcspn(text, "\n");
        const char *first = memchr(text, ':', line);
        const char *second = first != NULL ? memchr(first + 1, ':', line - (size_t)(first + 1 - text)) : NULL;

        if (second != NULL && has_word(first + 1, (size_t)(second - first - 1), controller)) {
            size_t length = line - (size_t)(second + 1 - text);

            if (length == 0 || length >= size)
                return false;
            memcpy(path, second + 1, length);
            path[length] = '\0';
            return true;
        }
        text += line + (text[line] == '\n');
    }
    return false;
}

static bool read_small(const char *path, char *buffer, size_t size)
{
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return false;
    size_t length = fread(buffer, 1, size - 1, file);
    buffer[length] = '\0';
    fclose(file);
    return length > 0;
}

static unsigned quota_of_group(const char *mount, const char *path, bool version2)
{
    char name[1024], quota[64], period[64];

    if (version2) {
        snprintf(name, sizeof name, "%s%s/cpu.max", mount, path);
        return read_small(name, quota, sizeof quota) ? cpu_parse_quota_v2(quota) : 0;
    }
    snprintf(name, sizeof name, "%s%s/cpu.cfs_quota_us", mount, path);
    if (!read_small(name, quota, sizeof quota))
        return 0;
    snprintf(name, sizeof name, "%s%s/cpu.cfs_period_us", mount, path);
    return read_small(name, period, sizeof period) ? cpu_parse_quota_v1(quota, period) : 0;
}

/* The least of the quotas on the way up. In a container the path may be one of the host: then only the top is found. */
static unsigned least_quota(const char *mount, char *path, bool version2)
{
    unsigned least = 0;

    for (;;) {
        if (strcmp(path, "/") == 0)
            path[0] = '\0';
        unsigned quota = quota_of_group(mount, path, version2);
        if (quota > 0 && (least == 0 || quota < least))
            least = quota;
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return least;
        *slash = '\0';
    }
}

unsigned cpu_quota(void)
{
    char groups[4096], path[512];
    unsigned least = 0, quota;

    if (!read_small("/proc/self/cgroup", groups, sizeof groups))
        return 0;
    if (cpu_parse_cgroup(groups, "", path, sizeof path))
        least = least_quota("/sys/fs/cgroup", path, true);
    if (cpu_parse_cgroup(groups, "cpu", path, sizeof path)) {
        quota = least_quota("/sys/fs/cgroup/cpu", path, false);
        if (quota > 0 && (least == 0 || quota < least))
            least = quota;
    }
    return least;
}

#ifdef __linux__

/* The mask of this process; the caller frees it with CPU_FREE. NULL when the kernel does not tell. */
static cpu_set_t *get_mask(size_t *size, int *bits)
{
    for (*bits = 1024; *bits <= 1024 * 1024; *bits *= 2) {
        cpu_set_t *mask = CPU_ALLOC(*bits);

        if (mask == NULL)
            return NULL;
        *size = CPU_ALLOC_SIZE(*bits);
        if (sched_getaffinity(0, *size, mask) == 0)
            return mask;
        CPU_FREE(mask);
    }
    return NULL;
}

unsigned cpu_allowed(void)
{
    size_t size;
    int bits;
    cpu_set_t *mask = get_mask(&size, &bits);

    if (mask == NULL)
        return 1;
    int count = CPU_COUNT_S(size, mask);
    CPU_FREE(mask);
    return count < 1 ? 1 : (unsigned)count;
}

static bool pin_to_nth(unsigned index)
{
    size_t size;
    int bits;
    cpu_set_t *mask = get_mask(&size, &bits);
    bool done = false;

    if (mask == NULL)
        return false;
    unsigned nth = index % (unsigned)(CPU_COUNT_S(size, mask) > 0 ? CPU_COUNT_S(size, mask) : 1);
    for (int cpu = 0; cpu < bits; cpu++) {
        if (!CPU_ISSET_S(cpu, size, mask) || nth-- > 0)
            continue;
        CPU_ZERO_S(size, mask);
        CPU_SET_S(cpu, size, mask);
        done = sched_setaffinity(0, size, mask) == 0;
        break;
    }
    CPU_FREE(mask);
    return done;
}

#else

unsigned cpu_allowed(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : (unsigned)count;
}

static bool pin_to_nth(unsigned index)
{
    (void)index;
    return true;
}

#endif

unsigned cpu_workers_auto(void)
{
    unsigned allowed = cpu_allowed(), quota = cpu_quota();

    return quota > 0 && quota < allowed ? quota : allowed;
}

bool cpu_pin(unsigned index)
{
    unsigned quota = cpu_quota();

    if (quota > 0 && quota < cpu_allowed())
        return true;
    return pin_to_nth(index);
}
