/*
 * backoff.h: how long to wait before a dead worker is replaced. Pure: time comes in as a parameter.
 *
 * At once after the first death, then 0.1 s, doubled up to 30 s; a worker that lived for 60 s clears the record. One that
 * ended in good order is replaced at once and leaves the record alone; but not when it lived for less than a second: if
 * that came again and again it would be a loop.
 */
#ifndef HALTER_MASTER_BACKOFF_H
#define HALTER_MASTER_BACKOFF_H

struct backoff {
    double next_s; /* 0: never died, or long ago */
};

/* The worker died after lived_s. Returns seconds to wait. */
double backoff_after_death(struct backoff *backoff, double lived_s);

/* The worker ended as it was told, after lived_s. Returns seconds to wait. */
double backoff_after_end(struct backoff *backoff, double lived_s);

#endif
