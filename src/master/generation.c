#include "generation.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "os/log.h"

static const double READY_LIMIT_S = 30; /* for all workers to say that they accept */
static const double DRAIN_GRACE_S =
    5;                                /* workers end by themselves at drain-timeout; this much later they are stopped */
static const double STOP_LIMIT_S = 5; /* from STOP to SIGKILL */
enum {
    MESSAGES_PER_TURN = 64,   /* so that a worker that babbles does not hold the master up */
    LAST_MESSAGES_MAX = 1024, /* of a dead one: more than its channel holds, unless somebody else has it, too */
};

static void on_control(struct ev_loop *loop, ev_io *watcher, int events);

static struct worker_launch launch_of(const struct generation *generation)
{
    return (struct worker_launch){
        .loop = generation->host->loop,
        .generation = generation->number,
        .prepared = generation->prepared,
        .plan = &generation->plan,
        .on_child = generation->host->on_child,
        .arg = generation->host->arg,
    };
}

static void set_deadline(struct generation *generation, double after_s)
{
    ev_timer_stop(generation->host->loop, &generation->deadline);
    if (after_s <= 0)
        return;
    ev_now_update(generation->host->loop);
    ev_timer_set(&generation->deadline, after_s, 0);
    ev_timer_start(generation->host->loop, &generation->deadline);
}

size_t generation_live_count(const struct generation *generation)
{
    size_t count = 0;

    for (size_t i = 0; i < generation->worker_count; i++)
        count += generation->workers[i].pid > 0;
    return count;
}

/* No more forks from it: what only they need is given back. */
static void retire(struct generation *generation, enum generation_state state)
{
    if (generation->state == GENERATION_STARTING)
        listeners_plan_abandon(&generation->plan);
    generation->state = state;
    for (size_t i = 0; i < generation->worker_count; i++)
        ev_timer_stop(generation->host->loop, &generation->workers[i].respawn_timer);
    listeners_plan_clear(&generation->plan);
    prepared_free(generation->prepared);
    generation->prepared = NULL;
}

/* --- what workers say --- */

static void note_ready(struct generation *generation, struct worker_process *worker)
{
    if (worker->is_ready)
        return;
    worker->is_ready = true;
    generation->ready_count++;
    log_notice("event=worker-ready worker=%u worker_pid=%ld generation=%u", worker->index, (long)worker->pid,
               generation->number);
}

static void obey(struct generation *generation, struct worker_process *worker, const struct control_message *message)
{
    switch (message->type) {
    case CONTROL_READY:
        note_ready(generation, worker);
        break;
    case CONTROL_LOG:
        worker_process_log(worker, message);
        break;
    case CONTROL_DRAIN:
    case CONTROL_STOP:
        break; /* not for us */
    }
}

/* Takes what waits in the channel, up to most packets. Returns false when it is at its end. */
static bool hear(struct generation *generation, struct worker_process *worker, int most)
{
    uint8_t packet[CONTROL_PACKET_MAX];
    struct control_message message;

    for (int i = 0; i < most; i++) {
        switch (worker_process_receive(worker, packet, &message)) {
        case WORKER_SPOKE:
            obey(generation, worker, &message);
            break;
        case WORKER_BABBLED:
            break;
        case WORKER_IS_SILENT:
            return true;
        case WORKER_HUNG_UP:
            return false;
        }
    }
    return true;
}

static void on_control(struct ev_loop *loop, ev_io *watcher, int events)
{
    struct worker_process *worker = watcher->data;
    struct generation *generation = worker->owner;

    (void)events;
    if (!hear(generation, worker, MESSAGES_PER_TURN))
        worker_process_close_channel(worker, loop);
    if (generation->state == GENERATION_STARTING && generation->ready_count == generation->worker_count) {
        generation->state = GENERATION_SERVING;
        set_deadline(generation, 0);
        generation->host->on_ready(generation->host->arg, generation);
    }
}

/* --- birth and death --- */

static void schedule_respawn(struct generation *generation, struct worker_process *worker, double wait_s)
{
    ev_timer_stop(generation->host->loop, &worker->respawn_timer);
    ev_timer_set(&worker->respawn_timer, wait_s, 0);
    ev_timer_start(generation->host->loop, &worker->respawn_timer);
}

static void on_respawn(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct worker_process *worker = timer->data;
    struct generation *generation = worker->owner;
    struct worker_launch launch = launch_of(generation);
    struct error errors = ERROR_INIT;
    char text[512];

    (void)loop;
    (void)events;
    if (worker_process_spawn(worker, &launch, on_control, &errors) < 0) {
        double wait_s = backoff_after_death(&worker->backoff, 0);

        log_error("event=worker-not-started worker=%u reason=%s retry_in_s=%.1f", worker->index,
                  log_quote(text, sizeof text, errors.faults[0].text), wait_s);
        schedule_respawn(generation, worker, wait_s);
    }
    error_clear(&errors);
}

/* Exit status 0 is how a worker ends that somebody has told to, by SIGTERM or SIGQUIT. */
static void note_end_while_serving(struct generation *generation, struct worker_process *worker, pid_t pid, int status)
{
    double lived_s = ev_now(generation->host->loop) - worker->born, wait_s;
    char how[64];

    if (status == 0) {
        wait_s = backoff_after_end(&worker->backoff, lived_s);
        log_notice("event=worker-ended worker=%u worker_pid=%ld lived_s=%.1f restart_in_s=%.1f", worker->index,
                   (long)pid, lived_s, wait_s);
    } else {
        wait_s = backoff_after_death(&worker->backoff, lived_s);
        log_error("event=worker-died worker=%u worker_pid=%ld %s lived_s=%.1f restart_in_s=%.1f", worker->index,
                  (long)pid, worker_process_status_text(status, how, sizeof how), lived_s, wait_s);
    }
    schedule_respawn(generation, worker, wait_s);
}

/* The process has ended with status. */
static void note_death(struct generation *generation, struct worker_process *worker, int status)
{
    pid_t pid = worker->pid;
    char how[64];

    /* What it said last is the most telling: hear all of it. */
    if (worker->control_fd >= 0)
        (void)hear(generation, worker, LAST_MESSAGES_MAX);
    worker_process_close_channel(worker, generation->host->loop);
    worker->pid = 0;
    __atomic_store_n(&worker->metrics->counters[METRIC_connections_now], 0, __ATOMIC_RELAXED);
    if (worker->is_ready)
        generation->ready_count--;
    worker_process_status_text(status, how, sizeof how);
    switch (generation->state) {
    case GENERATION_STARTING:
        log_error("event=worker-died worker=%u worker_pid=%ld %s while=starting", worker->index, (long)pid, how);
        generation->has_failed = true;
        break;
    case GENERATION_SERVING:
        note_end_while_serving(generation, worker, pid, status);
        break;
    case GENERATION_DRAINING:
        if (status != 0)
            log_error("event=worker-died worker=%u worker_pid=%ld %s while=draining", worker->index, (long)pid, how);
        else
            log_notice("event=worker-drained worker=%u worker_pid=%ld generation=%u", worker->index, (long)pid,
                       generation->number);
        break;
    case GENERATION_STOPPING:
        if (status != 0 && !(WIFSIGNALED(status) && (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL)))
            log_error("event=worker-died worker=%u worker_pid=%ld %s while=stopping", worker->index, (long)pid, how);
        break;
    }
}

void generation_reap(struct generation *generation)
{
    int status;

    for (size_t i = 0; i < generation->worker_count; i++) {
        struct worker_process *worker = &generation->workers[i];

        if (worker_process_reap(worker, &status))
            note_death(generation, worker, status);
    }
    if (generation->has_failed) {
        generation->has_failed = false;
        generation_stop(generation);
        generation->host->on_failed(generation->host->arg, generation);
    }
    if ((generation->state == GENERATION_DRAINING || generation->state == GENERATION_STOPPING) &&
        generation_live_count(generation) == 0)
        generation->host->on_gone(generation->host->arg, generation);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct generation *generation = timer->data;

    (void)loop;
    (void)events;
    switch (generation->state) {
    case GENERATION_STARTING:
        log_error("event=workers-not-ready generation=%u ready=%zu workers=%zu after_s=%.0f", generation->number,
                  generation->ready_count, generation->worker_count, READY_LIMIT_S);
        generation->has_failed = true;
        generation_reap(generation);
        break;
    case GENERATION_SERVING:
        break;
    case GENERATION_DRAINING:
        log_notice("event=drain-timeout generation=%u workers=%zu", generation->number,
                   generation_live_count(generation));
        generation_stop(generation);
        break;
    case GENERATION_STOPPING:
        for (size_t i = 0; i < generation->worker_count; i++)
            worker_process_kill(&generation->workers[i]);
        break;
    }
}

/* --- life --- */

struct generation *generation_new(const struct generation_host *host, unsigned number, struct prepared *prepared,
                                  struct listeners_plan *plan)
{
    struct generation *generation = mem_new(1, sizeof *generation);

    list_init(&generation->link);
    generation->number = number;
    generation->state = GENERATION_STARTING;
    generation->host = host;
    generation->prepared = prepared;
    generation->plan = *plan;
    memset(plan, 0, sizeof *plan);
    generation->drain_timeout_s = generation->prepared->config.drain_timeout_s;
    generation->worker_count = generation->prepared->worker_count;
    generation->workers = mem_new(generation->worker_count, sizeof *generation->workers);
    ev_timer_init(&generation->deadline, on_deadline, 0, 0);
    generation->deadline.data = generation;
    for (size_t i = 0; i < generation->worker_count; i++) {
        struct worker_process *worker = &generation->workers[i];

        worker_process_init(worker, (unsigned)i, metrics_pool_take(host->metrics), generation);
        ev_timer_init(&worker->respawn_timer, on_respawn, 0, 0);
        worker->respawn_timer.data = worker;
    }
    return generation;
}

int generation_spawn(struct generation *generation, struct error *errors)
{
    struct worker_launch launch = launch_of(generation);

    for (size_t i = 0; i < generation->worker_count; i++) {
        if (worker_process_spawn(&generation->workers[i], &launch, on_control, errors) < 0) {
            generation_stop(generation);
            return -1;
        }
    }
    set_deadline(generation, READY_LIMIT_S);
    return 0;
}

/* A generation without any process left has nobody whose death would tell: look at once, from the loop. */
static void look_soon(struct generation *generation)
{
    if (generation_live_count(generation) == 0)
        ev_feed_signal(SIGCHLD);
}

void generation_drain(struct generation *generation)
{
    if (generation->state == GENERATION_STARTING)
        generation_stop(generation);
    if (generation->state != GENERATION_SERVING)
        return;
    for (size_t i = 0; i < generation->worker_count; i++)
        worker_process_tell(&generation->workers[i], CONTROL_DRAIN);
    retire(generation, GENERATION_DRAINING);
    set_deadline(generation, generation->drain_timeout_s > 0 ? generation->drain_timeout_s + DRAIN_GRACE_S : 0);
    look_soon(generation);
}

void generation_hurry(struct generation *generation, double most_s)
{
    bool is_armed = ev_is_active(&generation->deadline);

    if (generation->state == GENERATION_DRAINING &&
        (!is_armed || ev_timer_remaining(generation->host->loop, &generation->deadline) > most_s))
        set_deadline(generation, most_s);
}

void generation_stop(struct generation *generation)
{
    if (generation->state == GENERATION_STOPPING)
        return;
    for (size_t i = 0; i < generation->worker_count; i++)
        worker_process_tell(&generation->workers[i], CONTROL_STOP);
    retire(generation, GENERATION_STOPPING);
    set_deadline(generation, STOP_LIMIT_S);
    look_soon(generation);
}

void generation_free(struct generation *generation)
{
    list_remove(&generation->link);
    ev_timer_stop(generation->host->loop, &generation->deadline);
    for (size_t i = 0; i < generation->worker_count; i++) {
        struct worker_process *worker = &generation->workers[i];

        ev_timer_stop(generation->host->loop, &worker->respawn_timer);
        worker_process_close_channel(worker, generation->host->loop);
        metrics_pool_release(generation->host->metrics, worker->metrics);
    }
    listeners_plan_clear(&generation->plan);
    prepared_free(generation->prepared);
    free(generation->workers);
    free(generation);
}
