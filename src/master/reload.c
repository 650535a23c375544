/*
 * reload.c: from one configuration to the next, in two phases.
 *
 *     master_reload   prepare: read, check, resolve, load; bind what is new      any fault: nothing has changed
 *     master_spawn    fork the new workers
 *     master_commit   all are ready: drain the old workers, close what was dropped
 *     master_roll_back  one was not: stop the new workers, close what was new
 */
#include <ev.h>
#include <signal.h>
#include <string.h>

#include "base/check.h"
#include "master_local.h"
#include "os/faults.h"
#include "os/log.h"
#include "os/notify.h"

/* Old generations beside the one that serves; more of them are stopped although they still have connections. */
enum { OLD_GENERATIONS_MAX = 1 };

/* One beyond that is ended, but not in the middle of a handshake: when reloads follow each other within seconds, its
 * connections are as young. Far too many are ended at once. */
#define HURRY_S 10.0
enum { HURRIED_GENERATIONS_MAX = 8 };

static struct listen_options listen_options_of(const struct config *config)
{
    return (struct listen_options){
        .backlog = config->backlog,
        .keepalive_s = config->keepalive_s,
        .recv_bufsize = config->recv_bufsize,
        .send_bufsize = config->send_bufsize,
        .fastopen = config->tcp_fastopen,
    };
}

int master_spawn(struct master *master, struct prepared *prepared, struct error *errors)
{
    struct listen_options options = listen_options_of(&prepared->config);
    struct listeners_plan plan;

    if (listeners_plan_build(&plan, &master->listeners, prepared->addresses, prepared->address_count,
                             prepared->worker_count, errors) < 0) {
        prepared_free(prepared);
        return -1;
    }
    if (listeners_plan_start(&plan, &options, errors) < 0 || master_apply_log(master, &prepared->config, errors) < 0) {
        listeners_plan_abandon(&plan);
        prepared_free(prepared);
        return -1;
    }
    struct generation *generation = generation_new(&master->host, ++master->last_generation, prepared, &plan);
    if (generation_spawn(generation, errors) < 0) {
        list_append(&master->old, &generation->link);
        return -1;
    }
    master->next = generation;
    return 0;
}

/* The oldest go first. */
static void limit_old_generations(struct master *master, size_t most)
{
    size_t count = 0;

    for (struct list *link = master->old.previous; link != &master->old; link = link->previous) {
        struct generation *generation = LIST_ITEM(link, struct generation, link);

        if (generation->state != GENERATION_DRAINING || ++count <= most)
            continue;
        log_notice("event=old-generation-stopped generation=%u workers=%zu reason=\"too many are draining\"",
                   generation->number, generation_live_count(generation));
        if (count > HURRIED_GENERATIONS_MAX)
            generation_stop(generation);
        else
            generation_hurry(generation, HURRY_S);
    }
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* What is decided once, at the start; and the kernel takes no size of a buffer back. */
static void warn_of_restart(const struct config *running, const struct config *wanted)
{
    if (running->daemon != wanted->daemon)
        log_notice("event=needs-restart keyword=daemon");
    if (!same_text(running->pidfile, wanted->pidfile))
        log_notice("event=needs-restart keyword=pidfile");
    if (running->recv_bufsize > 0 && wanted->recv_bufsize <= 0)
        log_notice("event=needs-restart keyword=recv-bufsize");
    if (running->send_bufsize > 0 && wanted->send_bufsize <= 0)
        log_notice("event=needs-restart keyword=send-bufsize");
}

static void end_reload(struct master *master, const char *status)
{
    notify_ready(status);
    if (master->reload_wanted)
        ev_feed_signal(SIGHUP); /* from the loop, not from inside a callback of this one */
    master->reload_wanted = false;
}

void master_reload(struct master *master)
{
    struct error errors = ERROR_INIT;
    bool log_is_faulty;

    if (master->phase != MASTER_SERVING || master->next != NULL || master->is_settling) {
        master->reload_wanted = master->phase == MASTER_STARTING || master->phase == MASTER_SERVING;
        return;
    }
    log_notice("event=reload-started");
    notify_reloading();
    struct prepare_options options = {.load = master->setup->load_config,
                                      .arg = master->setup->arg,
                                      .keys = &master->keys,
                                      .filter_ops = master->setup->filter_ops,
                                      .purpose = PREPARE_RUN};
    struct prepared *prepared = prepared_new(&options, &log_is_faulty, &errors);
    if (prepared != NULL)
        warn_of_restart(&master->current->prepared->config, &prepared->config);
    bool spawned = prepared != NULL && master_spawn(master, prepared, &errors) == 0;
    faults_log(&errors);
    error_clear(&errors);
    ev_now_update(master->loop);
    if (!spawned) {
        struct error ignored = ERROR_INIT;

        if (master_apply_log(master, &master->current->prepared->config, &ignored) < 0)
            faults_log(&ignored);
        error_clear(&ignored);
        log_error("event=reload-failed generation=%u reason=\"see the faults before\" "
                  "effect=\"the old configuration stays in use\"",
                  master->current->number);
        end_reload(master, "serving; the last reload failed, see the log");
    }
}

void master_commit(struct master *master)
{
    struct generation *generation = master->next, *before = master->current;

    CHECK(generation != NULL && generation->state == GENERATION_SERVING);
    struct listen_options options = listen_options_of(&generation->prepared->config);
    listeners_plan_finish(&generation->plan, &master->listeners, &options);
    master->next = NULL;
    master->current = generation;
    if (before != NULL) {
        limit_old_generations(master, OLD_GENERATIONS_MAX - 1);
        list_append(&master->old, &before->link);
        generation_drain(before);
        master_close_dropped_soon(master);
        log_notice("event=reloaded generation=%u workers=%zu frontends=%zu", generation->number,
                   generation->worker_count, generation->prepared->config.frontend_count);
    }
    master_announce(master);
    master->is_settling = true;
    if (master->listeners.retired_count == 0)
        master_settle(master);
}

void master_settle(struct master *master)
{
    if (!master->is_settling)
        return;
    master->is_settling = false;
    end_reload(master, "serving");
}

void master_roll_back(struct master *master)
{
    struct error errors = ERROR_INIT;

    list_append(&master->old, &master->next->link);
    master->next = NULL;
    if (master->current == NULL)
        return;
    if (master_apply_log(master, &master->current->prepared->config, &errors) < 0)
        faults_log(&errors);
    error_clear(&errors);
    log_error("event=reload-failed generation=%u reason=\"its workers did not get ready\" "
              "effect=\"the old configuration stays in use\"",
              master->current->number);
    end_reload(master, "serving; the last reload failed, see the log");
}
