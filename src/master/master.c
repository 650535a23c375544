#include "master/master.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "master_local.h"
#include "os/daemonize.h"
#include "os/faults.h"
#include "os/file.h"
#include "os/log.h"
#include "os/log_output.h"
#include "os/notify.h"
#include "os/process.h"
#include "relay/close_reason.h"
#include "worker/worker.h"

/* How long draining workers have to take the last connections out of the queues of dropped listeners. */
static const double RETIRE_S = 0.1;

/* Below this the number of connections of a worker is limited in a way that surprises. */
enum { FEW_FILES = 4096 };

/* --- log and announcements --- */

int master_apply_log(const struct master *master, const struct config *config, struct error *errors)
{
    struct log_output_options options = {
        .filename = config->log_filename,
        .standard_error = !master->is_daemon || master->phase == MASTER_STARTING,
        .syslog = config->syslog,
        .facility = config->syslog_facility,
    };

    if (log_output_open(&options, errors) < 0)
        return -1;
    log_set_level(config->log_level);
    return 0;
}

static void write_addresses(const char *path, const struct endpoint *bound, size_t count)
{
    struct strbuf text = STRBUF_INIT;
    struct error errors = ERROR_INIT;
    char line[ENDPOINT_TEXT_MAX];

    for (size_t i = 0; i < count; i++)
        strbuf_addf(&text, "%s\n", endpoint_text(&bound[i], line));
    if (file_replace(path, text.data, text.length, 0644, &errors) < 0)
        faults_log(&errors);
    error_clear(&errors);
    strbuf_clear(&text);
}

void master_announce(const struct master *master)
{
    const struct config *config = &master->current->prepared->config;
    size_t count;
    struct endpoint *bound = listeners_addresses(&master->current->plan, &count);

    for (size_t i = 0; i < count; i++) {
        char text[ENDPOINT_TEXT_MAX];

        log_notice("event=listening address=%s generation=%u", endpoint_text(&bound[i], text), master->current->number);
    }
    if (config->dbg_listen != NULL)
        write_addresses(config->dbg_listen, bound, count);
    free(bound);
}

static void log_totals(const struct master *master)
{
    struct strbuf text = STRBUF_INIT;

    for (int i = 0; i < METRIC_COUNT; i++) {
        uint64_t total = metrics_pool_total(&master->metrics, (enum metric)i);

        if ((enum metric)i == METRIC_log_lines_dropped)
            total += log_output_dropped();
        if (total > 0)
            strbuf_addf(&text, " %s=%llu", metric_name((enum metric)i), (unsigned long long)total);
    }
    for (unsigned i = 0; i < CLOSE_REASON_COUNT; i++) {
        uint64_t total = metrics_pool_total_closed(&master->metrics, i);

        if (total > 0)
            strbuf_addf(&text, " ended_%s=%llu", close_reason_name((enum close_reason)i), (unsigned long long)total);
    }
    for (unsigned i = 0; master->setup->filter_ops != NULL && i < METRICS_REFUSALS_MAX; i++) {
        uint64_t total = metrics_pool_total_refused(&master->metrics, i);
        const char *name = master->setup->filter_ops->reason_name(i);

        if (total > 0 && name != NULL)
            strbuf_addf(&text, " refused_%s=%llu", name, (unsigned long long)total);
    }
    log_notice("event=stopped status=%d%s", master->status, text.data);
    strbuf_clear(&text);
}

/* --- stop --- */

static void on_retire(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct master *master = timer->data;

    (void)loop;
    (void)events;
    listeners_close_retired(&master->listeners);
    master_settle(master);
}

void master_close_dropped_soon(struct master *master)
{
    if (master->listeners.retired_count == 0)
        return;
    ev_now_update(master->loop);
    ev_timer_stop(master->loop, &master->retire_timer);
    ev_timer_set(&master->retire_timer, RETIRE_S, 0);
    ev_timer_start(master->loop, &master->retire_timer);
}

static void end_if_alone(struct master *master)
{
    if ((master->phase == MASTER_DRAINING || master->phase == MASTER_STOPPING) && list_is_empty(&master->old))
        ev_break(master->loop, EVBREAK_ALL);
}

/* Draining or stopping, all generations go to the old ones; the loop ends when the last is gone. */
static void end_generations(struct master *master, enum master_phase phase, void (*end)(struct generation *))
{
    struct generation *ending[] = {master->next, master->current};

    master->phase = phase;
    master->is_settling = false;
    master->next = NULL;
    master->current = NULL;
    for (size_t i = 0; i < 2; i++)
        if (ending[i] != NULL)
            list_append(&master->old, &ending[i]->link);
    for (struct list *link = master->old.next; link != &master->old; link = link->next)
        end(LIST_ITEM(link, struct generation, link));
    listeners_retire(&master->listeners);
    end_if_alone(master);
}

static void stop(struct master *master, int status)
{
    if (master->phase == MASTER_STOPPING)
        return;
    master->status = status;
    notify_stopping("stopping");
    end_generations(master, MASTER_STOPPING, generation_stop);
}

static void drain(struct master *master)
{
    if (master->phase == MASTER_STOPPING || master->phase == MASTER_DRAINING)
        return;
    log_notice("event=draining");
    notify_stopping("draining");
    end_generations(master, MASTER_DRAINING, generation_drain);
    master_close_dropped_soon(master);
}

/* --- what generations tell --- */

static void on_child(void *arg)
{
    struct master *master = arg;

    /* Only this process's view of the loop: the parent's goes on. */
    for (size_t i = 0; i < MASTER_SIGNALS; i++)
        ev_signal_stop(master->loop, &master->signals[i]);
    ev_loop_destroy(master->loop);
    if (master->is_daemon)
        daemonize_detach();
}

/* The first generation accepts: say so to everyone who waits for it. */
static void serve(struct master *master)
{
    const struct generation *generation = master->next;
    const struct config *config = &generation->prepared->config;

    master->phase = MASTER_SERVING;
    log_notice("event=serving pid=%ld workers=%zu frontends=%zu", (long)getpid(), generation->worker_count,
               config->frontend_count);
    if (master->is_daemon)
        log_output_leave_stderr();
    master_commit(master);
    daemonize_ready();
    if (master->setup->on_serving != NULL) {
        size_t count;
        struct endpoint *bound = listeners_addresses(&generation->plan, &count);

        master->setup->on_serving(master->setup->arg, bound, count);
        free(bound);
    }
}

static void on_ready(void *arg, struct generation *generation)
{
    struct master *master = arg;

    if (generation != master->next)
        return;
    if (master->phase == MASTER_STARTING)
        serve(master);
    else
        master_commit(master);
}

static void on_failed(void *arg, struct generation *generation)
{
    struct master *master = arg;

    if (generation != master->next)
        return;
    master_roll_back(master);
    if (master->phase == MASTER_STARTING) {
        fputs("halter: error: a worker ended or hung before it was ready; the log says why\n", stderr);
        stop(master, 1);
    }
}

static void on_gone(void *arg, struct generation *generation)
{
    struct master *master = arg;

    log_info("event=generation-ended generation=%u", generation->number);
    generation_free(generation);
    end_if_alone(master);
}

/* --- signals --- */

static void on_child_died(struct master *master)
{
    struct list *link = master->old.next;

    while (link != &master->old) {
        struct generation *generation = LIST_ITEM(link, struct generation, link);

        link = link->next; /* on_gone frees */
        generation_reap(generation);
    }
    if (master->current != NULL)
        generation_reap(master->current);
    if (master->next != NULL)
        generation_reap(master->next);
}

static void reopen_log(void)
{
    char reason[128];

    if (log_output_reopen())
        log_notice("event=log-reopened");
    else
        log_error("event=log-not-reopened reason=%s effect=\"the old file stays in use\"",
                  log_quote(reason, sizeof reason, strerror(errno)));
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
    struct master *master = watcher->data;

    (void)loop;
    (void)events;
    switch (watcher->signum) {
    case SIGCHLD:
        on_child_died(master);
        break;
    case SIGHUP:
        master_reload(master);
        break;
    case SIGUSR1:
        reopen_log();
        break;
    case SIGQUIT:
        drain(master);
        break;
    default: /* SIGTERM, SIGINT */
        log_notice("event=stopping signal=%s", watcher->signum == SIGINT ? "SIGINT" : "SIGTERM");
        stop(master, 0);
        break;
    }
}

static void watch_signals(struct master *master)
{
    static const int numbers[MASTER_SIGNALS] = {SIGCHLD, SIGHUP, SIGUSR1, SIGQUIT, SIGTERM, SIGINT};

    for (size_t i = 0; i < MASTER_SIGNALS; i++) {
        ev_signal_init(&master->signals[i], on_signal, numbers[i]);
        master->signals[i].data = master;
        ev_signal_start(master->loop, &master->signals[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log file at the limit of file sizes loses lines, and no more */
    signal(SIGUSR2, SIG_IGN);
}

/* --- start --- */

static void report_bug(const char *line)
{
    char text[600];

    log_error("event=bug text=%s", log_quote(text, sizeof text, line));
}

static int start_loop(struct master *master, struct error *errors)
{
    master->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (master->loop == NULL)
        return error_add(errors, NULL, "cannot make an event loop");
    ev_timer_init(&master->retire_timer, on_retire, 0, 0);
    master->retire_timer.data = master;
    master->host = (struct generation_host){
        .loop = master->loop,
        .metrics = &master->metrics,
        .arg = master,
        .on_child = on_child,
        .on_ready = on_ready,
        .on_failed = on_failed,
        .on_gone = on_gone,
    };
    watch_signals(master);
    return 0;
}

static void raise_file_limit(void)
{
    unsigned long limit = process_raise_file_limit();

    if (limit > 0 && limit < FEW_FILES)
        log_notice("event=few-files limit=%lu effect=\"each worker holds %zu connections at most\" "
                   "cure=\"raise it: ulimit -Hn, or LimitNOFILE= of systemd\"",
                   limit, worker_connections_max(limit));
}

/* What is prepared goes on: daemon, log, loop, pidfile, sockets, workers. Takes over prepared. */
static int start_prepared(struct master *master, struct prepared *prepared, struct error *errors)
{
    master->is_daemon = prepared->config.daemon;
    if ((master->is_daemon && daemonize_begin(errors) < 0) || master_apply_log(master, &prepared->config, errors) < 0 ||
        start_loop(master, errors) < 0 || pidfile_write(&master->pidfile, errors) < 0) {
        prepared_free(prepared);
        return -1;
    }
    check_set_reporter(report_bug);
    log_notice("event=starting version=%s pid=%ld", master->setup->version, (long)getpid());
    raise_file_limit();
    return master_spawn(master, prepared, errors);
}

/* 0: the first generation is on its way. -1: all faults have been shown. */
static int start(struct master *master)
{
    struct error errors = ERROR_INIT;
    struct prepare_options options = {.load = master->setup->load_config,
                                      .arg = master->setup->arg,
                                      .keys = &master->keys,
                                      .filter_ops = master->setup->filter_ops,
                                      .purpose = PREPARE_RUN,
                                      .pidfile = &master->pidfile};
    struct prepared *prepared = NULL;
    bool log_is_faulty = false;
    int result = -1;

    if (tls_ticket_keys_make(&master->keys, &errors) == 0)
        prepared = prepared_new(&options, &log_is_faulty, &errors);
    faults_print(&errors);
    error_clear(&errors);
    if (prepared != NULL) {
        result = start_prepared(master, prepared, &errors);
        faults_print(&errors);
        if (!log_output_is_stderr_only())
            faults_log(&errors);
        error_clear(&errors);
    }
    if (result < 0)
        master->status = log_is_faulty ? 2 : 1;
    return result;
}

static void clear(struct master *master)
{
    ev_timer_stop(master->loop, &master->retire_timer);
    for (size_t i = 0; i < MASTER_SIGNALS; i++)
        ev_signal_stop(master->loop, &master->signals[i]);
    ev_loop_destroy(master->loop);
}

void master_loop_version(char *buffer, size_t size)
{
    snprintf(buffer, size, "libev %d.%d", ev_version_major(), ev_version_minor());
}

int master_run(const struct master_setup *setup)
{
    struct master *master = mem_new(1, sizeof *master);
    int status;

    master->setup = setup;
    master->pidfile = (struct pidfile)PIDFILE_INIT;
    list_init(&master->old);
    if (start(master) < 0 && master->loop != NULL)
        stop(master, master->status); /* some workers may have been forked */
    if (master->loop != NULL) {
        if (master->phase != MASTER_STOPPING || !list_is_empty(&master->old))
            ev_run(master->loop, 0);
        log_totals(master);
        clear(master);
    }
    listeners_retire(&master->listeners);
    listeners_close_retired(&master->listeners);
    metrics_pool_clear(&master->metrics);
    pidfile_remove(&master->pidfile);
    log_output_close();
    explicit_bzero(&master->keys, sizeof master->keys);
    status = master->status;
    free(master);
    return status;
}
