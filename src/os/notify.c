#include "os/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void send_state(const char *state, size_t length)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    if (path == NULL || (path[0] != '/' && path[0] != '@') || path[1] == '\0' || strlen(path) >= sizeof un.sun_path)
        return;
    size_t path_length = strlen(path);
    memcpy(un.sun_path, path, path_length);
    if (path[0] == '@')
        un.sun_path[0] = '\0'; /* Linux's abstract names */
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (fd < 0)
        return;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    while (sendto(fd, state, length, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&un,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_length)) < 0 &&
           errno == EINTR)
        ;
    close(fd);
}

static void send_line_and_status(const char *lines, const char *status)
{
    char state[512];
    int length = snprintf(state, sizeof state, "%s\nSTATUS=%s\n", lines, status);

    send_state(state, (size_t)length < sizeof state ? (size_t)length : sizeof state - 1);
}

void notify_ready(const char *status)
{
    char lines[64];

    snprintf(lines, sizeof lines, "READY=1\nMAINPID=%ld", (long)getpid());
    send_line_and_status(lines, status);
}

void notify_reloading(void)
{
    struct timespec now;
    char state[96];

    clock_gettime(CLOCK_MONOTONIC, &now);
    int length = snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lld\n",
                          (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    send_state(state, (size_t)length);
}

void notify_stopping(const char *status)
{
    send_line_and_status("STOPPING=1", status);
}
