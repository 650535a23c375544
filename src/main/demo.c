#include "demo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "demo_backend.h"
#include "master/master.h"
#include "os/faults.h"
#include "os/file.h"
#include "os/listen.h"
#include "os/privilege.h"
#include "os/process.h"
#include "os/resolve.h"
#include "tls/tls_selfsigned.h"
#include "variant.h"

enum { DEFAULT_PORT = 8443, WORKERS = 2, BACKLOG = 100 };

/* By number, since there may be no /etc/passwd: nobody, of Linux and most others. */
enum { NOBODY_ID = 65534 };
#define NOBODY_TEXT "65534"
#define LOOPBACK "127.0.0.1"

struct demo {
    char *pem;
    char fingerprint[96];
    uint16_t port;
    uint16_t backend_port;
    pid_t backend_pid;
    int backend_pipe; /* its end tells the backend that we are gone */
};

static const char help[] =
    "Usage: halter demo [--port=N]\n"
    "\n"
    "Shows halter at work: takes TLS connections on " LOOPBACK
    " with a certificate made for this run, and passes them\n"
    "to a small HTTP server inside, whose page tells what reached it. Needs no files. Ctrl-C ends it.\n"
    "\n"
    "  --port=N    listen on this port; 0 is any free one (default: 8443, or a free one when that is taken)\n"
    "  -h, --help  show this help\n";

/* Options */

static bool parse_port(const char *text, uint16_t *port)
{
    unsigned value = 0;

    if (text == NULL || *text == '\0' || strlen(text) > 5 || strspn(text, "0123456789") != strlen(text))
        return false;
    for (; *text != '\0'; text++)
        value = value * 10 + (unsigned)(*text - '0');
    if (value > UINT16_MAX)
        return false;
    *port = (uint16_t)value;
    return true;
}

static bool port_is_free(uint16_t port)
{
    struct endpoint endpoint;

    return resolve_numeric(LOOPBACK, port, &endpoint) && listen_probe(&endpoint) == 0;
}

enum option_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_WRONG };

static enum option_result parse_options(int argc, char *const argv[], uint16_t *port)
{
    bool has_port = false;

    for (int i = 1; i < argc; i++) {
        const char *value = NULL;

        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            return OPTIONS_HELP;
        if (strncmp(argv[i], "--port=", 7) == 0) {
            value = argv[i] + 7;
        } else if (strcmp(argv[i], "--port") == 0) {
            value = i + 1 < argc ? argv[++i] : "";
        } else {
            fprintf(stderr, "halter demo: unknown option \"%s\"; see halter demo --help\n", argv[i]);
            return OPTIONS_WRONG;
        }
        if (!parse_port(value, port)) {
            fprintf(stderr, "halter demo: --port needs a number from 0 to 65535, not \"%s\"\n", value);
            return OPTIONS_WRONG;
        }
        has_port = true;
    }
    if (!has_port)
        *port = port_is_free(DEFAULT_PORT) ? DEFAULT_PORT : 0;
    return OPTIONS_RUN;
}

/* The backend's process */

static void run_backend_process(int listener, int parent_fd)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, 0};
    struct privileges nobody = {.has_user = true, .has_group = true, .uid = NOBODY_ID, .gid = NOBODY_ID};
    struct error errors = ERROR_INIT;
    int keep[] = {listener, parent_fd};

    /* Ctrl-C reaches the whole group: this process stays until the master has finished with it. */
    process_reset_signals(ignored);
    process_close_all_but(keep, sizeof keep / sizeof keep[0]);
    if (privileges_drop(&nobody, NULL, &errors) < 0) {
        faults_print(&errors);
        _exit(1);
    }
    _exit(demo_backend_run(listener, parent_fd));
}

static int open_backend_listener(uint16_t *port, struct error *errors)
{
    struct listen_options options = {.backlog = BACKLOG, .recv_bufsize = -1, .send_bufsize = -1};
    struct endpoint wanted;
    struct endpoint bound;
    int fd;

    if (!resolve_numeric(LOOPBACK, 0, &wanted))
        return error_add(errors, NULL, "cannot use " LOOPBACK);
    fd = listen_bind(&wanted, false, &bound);
    if (fd < 0)
        return listen_fault(&wanted, errno, NULL, errors);
    if (listen_start(fd, &options) < 0) {
        listen_fault(&wanted, errno, NULL, errors);
        close(fd);
        return -1;
    }
    *port = endpoint_port(&bound);
    return fd;
}

static int start_backend(struct demo *demo, struct error *errors)
{
    int ends[2] = {-1, -1};
    int listener = open_backend_listener(&demo->backend_port, errors);

    if (listener < 0)
        return -1;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        error_add(errors, NULL, "cannot make a pipe: %s", strerror(errno));
        close(listener);
        return -1;
    }
    fflush(NULL);
    demo->backend_pid = fork();
    if (demo->backend_pid == 0) {
        close(ends[1]);
        run_backend_process(listener, ends[0]);
    }
    close(listener);
    close(ends[0]);
    demo->backend_pipe = ends[1];
    return demo->backend_pid > 0 ? 0 : error_add(errors, NULL, "cannot fork: %s", strerror(errno));
}

static void stop_backend(struct demo *demo)
{
    if (demo->backend_pipe >= 0)
        close(demo->backend_pipe);
    if (demo->backend_pid <= 0)
        return;
    while (waitpid(demo->backend_pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* The master's callbacks */

static char *port_text(uint16_t port)
{
    char text[8];

    snprintf(text, sizeof text, "%u", (unsigned)port);
    return mem_strdup(text);
}

static int load_demo_config(void *arg, struct config *config, struct error *errors)
{
    const struct demo *demo = arg;
    char *port = port_text(demo->port);

    config_frontend_add(config, LOOPBACK, port, NULL);
    free(port);
    config_pem_add(config, NULL, NULL)->inline_pem = mem_strdup(demo->pem);
    mem_replace(&config->backend.host, LOOPBACK);
    mem_replace(&config->backend.path, NULL);
    free(config->backend.port);
    config->backend.port = port_text(demo->backend_port);
    config->announce_wanted[ANNOUNCE_PROXY_V2] = true;
    config->proxy_group = true;
    config->workers = WORKERS;
    mem_replace(&config->alpn_protos, "http/1.1");
    mem_replace(&config->ocsp_dir, NULL);
    if (geteuid() == 0) {
        mem_replace(&config->user, NOBODY_TEXT);
        mem_replace(&config->group, NOBODY_TEXT);
    }
    return config_finish(config, errors);
}

static void print_invitation(void *arg, const struct endpoint *bound, size_t count)
{
    const struct demo *demo = arg;
    unsigned port = count > 0 ? endpoint_port(&bound[0]) : demo->port;

    printf("\n"
           "halter demo is serving. Open this in a browser, which will warn of the self-made certificate:\n"
           "\n"
           "    https://localhost:%u/\n"
           "\n"
           "or with curl:\n"
           "\n"
           "    curl -k https://localhost:%u/\n"
           "\n"
           "The certificate's SHA-256 fingerprint:\n"
           "%s\n"
           "\n"
           "Ctrl-C ends it.\n"
           "\n",
           port, port, demo->fingerprint);
    fflush(stdout);
}

int demo_run(int argc, char *const argv[])
{
    static const char *const names[] = {"localhost", LOOPBACK, "::1"};
    struct demo demo = {.backend_pipe = -1};
    struct error errors = ERROR_INIT;
    int status = 1;

    switch (parse_options(argc, argv, &demo.port)) {
    case OPTIONS_HELP:
        fputs(help, stdout);
        return 0;
    case OPTIONS_WRONG:
        return 1;
    case OPTIONS_RUN:
        break;
    }
    /* The backend first: its process must not have the key in its memory. */
    if (start_backend(&demo, &errors) < 0)
        goto out;
    if (tls_selfsigned_make(&demo.pem, demo.fingerprint, names, sizeof names / sizeof names[0], &errors) < 0)
        goto out;

    const struct master_setup setup = {
        .version = variant_version(),
        .load_config = load_demo_config,
        .arg = &demo,
        .on_serving = print_invitation,
    };

    status = master_run(&setup);
out:
    faults_print(&errors);
    error_clear(&errors);
    stop_backend(&demo);
    if (demo.pem != NULL)
        file_wipe(demo.pem, strlen(demo.pem));
    return status;
}
