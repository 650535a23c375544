#include "relay/close_reason.h"

#include "metrics/metrics.h"

_Static_assert((int)CLOSE_REASON_COUNT <= (int)METRICS_CLOSE_REASONS_MAX, "each reason needs its counter");

static const struct {
    const char *name;
    const char *text;
    enum close_audience audience;
} reason_table[CLOSE_REASON_COUNT] = {
#define CLOSE_REASON_ROW(name, audience, text) [CLOSE_##name] = {#name, text, CLOSE_TELLS_##audience},
    CLOSE_REASON_LIST(CLOSE_REASON_ROW)
#undef CLOSE_REASON_ROW
};

const char *close_reason_name(enum close_reason reason)
{
    return reason_table[reason].name;
}

const char *close_reason_text(enum close_reason reason)
{
    return reason_table[reason].text;
}

enum close_audience close_reason_audience(enum close_reason reason)
{
    return reason_table[reason].audience;
}
