#include "os/log_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"

/* One place that lines go to. */
struct output {
    int fd;        /* -1: closed */
    uint64_t lost; /* since the last line that got through */
    bool torn;     /* the last line was written in part: begin the next one on a line of its own */
};

static struct {
    struct output standard_error;
    struct output file;
    struct output syslog;
    char *filename;
    dev_t file_dev;
    ino_t file_ino;
    char *syslog_path;
    int facility;
    bool use_syslog;
    bool journal; /* standard error is the systemd journal, which adds time, name and pid itself */
    time_t file_checked;
    time_t syslog_tried;
    uint64_t dropped;
} state = {.standard_error = {.fd = STDERR_FILENO}, .file = {.fd = -1}, .syslog = {.fd = -1}, .facility = LOG_DAEMON};

static const struct {
    const char *name;
    int code;
} facility_table[] = {
    {"auth", LOG_AUTH},     {"authpriv", LOG_AUTHPRIV}, {"cron", LOG_CRON},     {"daemon", LOG_DAEMON},
    {"ftp", LOG_FTP},       {"local0", LOG_LOCAL0},     {"local1", LOG_LOCAL1}, {"local2", LOG_LOCAL2},
    {"local3", LOG_LOCAL3}, {"local4", LOG_LOCAL4},     {"local5", LOG_LOCAL5}, {"local6", LOG_LOCAL6},
    {"local7", LOG_LOCAL7}, {"lpr", LOG_LPR},           {"mail", LOG_MAIL},     {"news", LOG_NEWS},
    {"user", LOG_USER},     {"uucp", LOG_UUCP},
};

static const struct {
    const char *text;
    int priority; /* of syslog */
} severity_table[] = {
    [LOG_SEVERITY_ERROR] = {"error", LOG_ERR},
    [LOG_SEVERITY_NOTICE] = {"notice", LOG_NOTICE},
    [LOG_SEVERITY_INFO] = {"info", LOG_INFO},
    [LOG_SEVERITY_DEBUG] = {"debug", LOG_DEBUG},
};

static bool find_facility(const char *name, int *code)
{
    for (size_t i = 0; i < sizeof facility_table / sizeof facility_table[0]; i++) {
        if (strcmp(facility_table[i].name, name) == 0) {
            *code = facility_table[i].code;
            return true;
        }
    }
    return false;
}

bool log_output_facility_known(const char *facility)
{
    int code;

    return find_facility(facility, &code);
}

/* systemd names the device and inode of the journal's stream in the environment (systemd.exec(5), JOURNAL_STREAM). */
static bool stderr_is_journal(void)
{
    const char *text = getenv("JOURNAL_STREAM");
    unsigned long long dev, ino;
    struct stat st;

    return text != NULL && sscanf(text, "%llu:%llu", &dev, &ino) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
           st.st_dev == (dev_t)dev && st.st_ino == (ino_t)ino;
}

static int open_file(const char *filename, int flags)
{
    /* O_NONBLOCK: a named pipe without a reader must not stop us. */
    return open(filename, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0644);
}

bool log_output_can_open(const char *filename, const struct place *place, struct error *errors)
{
    int fd = open_file(filename, 0);

    if (fd >= 0) {
        close(fd);
        return true;
    }
    if (errno == ENOENT && file_parent_is_writable(filename))
        return true;
    error_add(errors, place, "cannot open the log file \"%s\": %s%s", filename, strerror(errno), file_cure(errno));
    return false;
}

/* Puts fd, open on the log file, in the place of the old one. */
static void take_file(int fd)
{
    struct stat st;

    if (state.file.fd >= 0)
        close(state.file.fd);
    state.file.fd = fd;
    state.file.torn = false;
    if (fstat(fd, &st) == 0) {
        state.file_dev = st.st_dev;
        state.file_ino = st.st_ino;
    }
}

static void connect_syslog(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    const char *path = state.syslog_path != NULL ? state.syslog_path : _PATH_LOG;

    if (state.syslog.fd >= 0)
        close(state.syslog.fd);
    state.syslog_tried = time(NULL);
    state.syslog.fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (state.syslog.fd < 0)
        return;
    fcntl(state.syslog.fd, F_SETFD, FD_CLOEXEC);
    fcntl(state.syslog.fd, F_SETFL, O_NONBLOCK);
    snprintf(un.sun_path, sizeof un.sun_path, "%s", path);
    if (connect(state.syslog.fd, (const struct sockaddr *)&un, sizeof un) < 0) {
        close(state.syslog.fd);
        state.syslog.fd = -1;
    }
}

int log_output_open(const struct log_output_options *options, struct error *errors)
{
    int fd = -1, facility = LOG_DAEMON;

    if (options->syslog && options->facility != NULL && !find_facility(options->facility, &facility))
        return error_add(errors, NULL, "syslog-facility: unknown facility \"%s\"", options->facility);
    if (options->filename != NULL) {
        fd = open_file(options->filename, O_CREAT);
        if (fd < 0)
            return error_add(errors, NULL, "cannot open the log file \"%s\": %s%s", options->filename, strerror(errno),
                             file_cure(errno));
        take_file(fd);
    } else if (state.file.fd >= 0) {
        close(state.file.fd);
        state.file.fd = -1;
    }
    mem_replace(&state.filename, options->filename);
    mem_replace(&state.syslog_path, options->syslog_path);
    state.standard_error.fd = options->filename == NULL && options->standard_error ? STDERR_FILENO : -1;
    state.journal = stderr_is_journal();
    state.facility = facility;
    state.use_syslog = options->syslog;
    if (state.syslog.fd >= 0) {
        close(state.syslog.fd);
        state.syslog.fd = -1;
    }
    if (state.use_syslog)
        connect_syslog();
    return 0;
}

void log_output_leave_stderr(void)
{
    state.standard_error.fd = -1;
}

bool log_output_is_stderr_only(void)
{
    return state.standard_error.fd >= 0 && !state.use_syslog;
}

bool log_output_reopen(void)
{
    if (state.filename == NULL)
        return true;
    int fd = open_file(state.filename, O_CREAT);
    if (fd < 0)
        return false;
    take_file(fd);
    return true;
}

void log_output_close(void)
{
    if (state.file.fd >= 0)
        close(state.file.fd);
    if (state.syslog.fd >= 0)
        close(state.syslog.fd);
    state.file.fd = -1;
    state.syslog.fd = -1;
    state.use_syslog = false;
    state.standard_error.fd = STDERR_FILENO;
    free(state.filename);
    free(state.syslog_path);
    state.filename = NULL;
    state.syslog_path = NULL;
}

uint64_t log_output_dropped(void)
{
    return state.dropped;
}

/* Has the file been moved away or removed (logrotate)? Then open the name anew. */
static void follow_file(time_t now)
{
    struct stat st;

    if (now == state.file_checked)
        return;
    state.file_checked = now;
    if (stat(state.filename, &st) < 0 || st.st_dev != state.file_dev || st.st_ino != state.file_ino)
        (void)log_output_reopen();
}

/* Would a write of one line wait? Regular files never do; a pipe says POLLOUT when PIPE_BUF bytes have room. */
static bool has_room(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};

    return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLOUT) != 0;
}

static bool write_bytes(struct output *output, const char *bytes, size_t length)
{
    if (!has_room(output->fd))
        return false;
    ssize_t written = write(output->fd, bytes, length);
    if (written == (ssize_t)length)
        return true;
    if (written > 0)
        output->torn = true;
    return false;
}

/* "2026-01-31T23:59:59.123Z", UTC. */
static void format_time(char *buffer, size_t size)
{
    struct timespec now;
    struct tm tm;
    char date[32];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(buffer, size, "%s.%03ldZ", date, now.tv_nsec / 1000000);
}

/* Writes one whole line to a file, pipe or terminal; first says how many were lost before it. */
static void write_line(struct output *output, enum log_severity severity, pid_t pid, const char *text, size_t length,
                       bool bare)
{
    char head[96], line[LOG_LINE_MAX];
    char when[48];

    format_time(when, sizeof when);
    if (bare && pid == getpid())
        snprintf(head, sizeof head, "<%d>", severity_table[severity].priority);
    else if (bare)
        snprintf(head, sizeof head, "<%d>pid=%ld ", severity_table[severity].priority, (long)pid);
    else
        snprintf(head, sizeof head, "%s %s halter[%ld] ", when, severity_table[severity].text, (long)pid);
    if (output->torn && write_bytes(output, "\n", 1))
        output->torn = false;
    if (output->lost > 0) {
        int size = snprintf(line, sizeof line, "%sevent=log-recovered lines_lost=%llu\n", head,
                            (unsigned long long)output->lost);

        if (output->torn || !write_bytes(output, line, (size_t)size)) {
            output->lost++;
            state.dropped++;
            return;
        }
        output->lost = 0;
    }
    int size = snprintf(line, sizeof line, "%s%.*s", head, (int)length, text);
    if ((size_t)size >= sizeof line - 1)
        size = (int)sizeof line - 2;
    line[size++] = '\n';
    if (output->torn || !write_bytes(output, line, (size_t)size)) {
        output->lost++;
        state.dropped++;
    }
}

/* RFC 3164 as syslog(3) writes it to the local socket: no host name. */
static void write_syslog(enum log_severity severity, pid_t pid, const char *text, size_t length, time_t now)
{
    char line[LOG_LINE_MAX], date[32], lost[48] = "";
    struct tm tm;

    localtime_r(&now, &tm);
    strftime(date, sizeof date, "%b %e %H:%M:%S", &tm);
    if (state.syslog.lost > 0)
        snprintf(lost, sizeof lost, " lines_lost=%llu", (unsigned long long)state.syslog.lost);
    int size = snprintf(line, sizeof line, "<%d>%s halter[%ld]: %.*s%s",
                        state.facility | severity_table[severity].priority, date, (long)pid, (int)length, text, lost);
    if ((size_t)size >= sizeof line)
        size = (int)sizeof line - 1;
    if (state.syslog.fd < 0 && now != state.syslog_tried)
        connect_syslog();
    for (int attempt = 0; attempt < 2 && state.syslog.fd >= 0; attempt++) {
        if (send(state.syslog.fd, line, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size) {
            state.syslog.lost = 0;
            return;
        }
        if (errno == EAGAIN || errno == ENOBUFS || errno == EMSGSIZE)
            break;
        if (now == state.syslog_tried && attempt > 0)
            break;
        connect_syslog(); /* the daemon was restarted */
    }
    state.syslog.lost++;
    state.dropped++;
}

void log_output_write(enum log_severity severity, pid_t pid, const char *text, size_t length)
{
    char clean[LOG_LINE_MAX];
    int saved_errno = errno;
    time_t now = time(NULL);

    if (length > sizeof clean - 1)
        length = sizeof clean - 1;
    for (size_t i = 0; i < length; i++)
        clean[i] = (unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f ? '?' : text[i];
    clean[length] = '\0';
    if (state.standard_error.fd >= 0)
        write_line(&state.standard_error, severity, pid, clean, length, state.journal);
    if (state.file.fd >= 0) {
        follow_file(now);
        write_line(&state.file, severity, pid, clean, length, false);
    }
    if (state.use_syslog)
        write_syslog(severity, pid, clean, length, now);
    errno = saved_errno;
}
