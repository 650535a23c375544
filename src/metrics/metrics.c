#include "metrics/metrics.h"

static const struct {
    const char *name;
    const char *help;
} metric_table[METRIC_COUNT] = {
#define METRIC_ROW(name, help) [METRIC_##name] = {#name, help},
    METRIC_LIST(METRIC_ROW)
#undef METRIC_ROW
};

const char *metric_name(enum metric metric)
{
    return metric_table[metric].name;
}

const char *metric_help(enum metric metric)
{
    return metric_table[metric].help;
}
