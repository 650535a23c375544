#include <ev.h>

#include "conn.h"
#include "worker_state.h"

static void on_wheel(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct worker *worker = timer->data;
    uint64_t now_ms = clock_now_ms();
    struct list *link;

    (void)loop;
    (void)events;
    worker->wheel_timer_ms = 0;
    while ((link = wheel_take_due(&worker->wheel, now_ms)) != NULL)
        conn_on_slot(LIST_ITEM(link, struct conn, slot), now_ms);
    deadline_arm(worker);
}

void deadline_init(struct worker *worker)
{
    wheel_init(&worker->wheel, clock_now_ms());
    ev_timer_init(&worker->wheel_timer, on_wheel, 0., 0.);
    worker->wheel_timer.data = worker;
    worker->wheel_timer_ms = 0;
}

void deadline_arm(struct worker *worker)
{
    uint64_t next_ms = wheel_next_ms(&worker->wheel);
    uint64_t now_ms = clock_now_ms();

    if (next_ms == 0 || (worker->wheel_timer_ms != 0 && worker->wheel_timer_ms <= next_ms))
        return;
    ev_timer_stop(worker->loop, &worker->wheel_timer);
    ev_timer_set(&worker->wheel_timer, next_ms > now_ms ? (double)(next_ms - now_ms) / 1000.0 : 0.0, 0.);
    ev_timer_start(worker->loop, &worker->wheel_timer);
    worker->wheel_timer_ms = next_ms;
}
