#include "master/backoff.h"

static const double FIRST_S = 0.1;
static const double LONGEST_S = 30.0;
static const double HEALTHY_S = 60.0;
static const double NO_LOOP_S = 1.0;

double backoff_after_death(struct backoff *backoff, double lived_s)
{
    if (lived_s >= HEALTHY_S)
        backoff->next_s = 0;
    double wait_s = backoff->next_s;
    backoff->next_s = wait_s < FIRST_S ? FIRST_S : wait_s * 2;
    if (backoff->next_s > LONGEST_S)
        backoff->next_s = LONGEST_S;
    return wait_s;
}

double backoff_after_end(struct backoff *backoff, double lived_s)
{
    return lived_s >= NO_LOOP_S ? 0 : backoff_after_death(backoff, lived_s);
}
