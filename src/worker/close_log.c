#include <stdio.h>

#include "os/log.h"
#include "worker_state.h"

/* Lines of one reason in one second; the rest is counted, and told with the next line of that reason. */
enum { LINES_PER_SECOND = 10 };

static enum log_severity severity_of(enum close_reason reason)
{
    switch (close_reason_audience(reason)) {
    case CLOSE_TELLS_NOBODY:
        return LOG_SEVERITY_DEBUG;
    case CLOSE_TELLS_CLIENT:
        return LOG_SEVERITY_INFO;
    case CLOSE_TELLS_BACKEND:
        return LOG_SEVERITY_ERROR;
    }
    return LOG_SEVERITY_ERROR;
}

static bool is_within_limit(struct worker *worker, enum close_reason reason)
{
    struct close_log *log = &worker->close_log;
    uint64_t second = clock_now_ms() / 1000;

    if (log->second != second) {
        log->second = second;
        for (int i = 0; i < CLOSE_REASON_COUNT; i++)
            log->written[i] = 0;
    }
    if (close_reason_audience(reason) == CLOSE_TELLS_NOBODY || log->written[reason]++ < LINES_PER_SECOND)
        return true;
    log->suppressed[reason]++;
    metric_add(worker->setup->metrics, METRIC_log_lines_suppressed, 1);
    return false;
}

void close_log_write(struct worker *worker, const struct relay *relay)
{
    enum close_reason reason = relay->has_reason ? relay->reason : CLOSE_done;
    enum log_severity severity = severity_of(reason);

    metric_count(&worker->setup->metrics->closes[reason]);
    if (!log_enabled(severity) || !is_within_limit(worker, reason))
        return;

    char peer[ENDPOINT_TEXT_MAX];
    char sni[320];
    char detail[2 * TLS_REASON_MAX];
    const char *name = relay->client.tls != NULL ? tls_conn_sni(relay->client.tls) : NULL;
    unsigned suppressed = worker->close_log.suppressed[reason];
    char suppressed_text[40] = "";

    worker->close_log.suppressed[reason] = 0;
    if (suppressed > 0)
        snprintf(suppressed_text, sizeof suppressed_text, " suppressed=%u", suppressed);
    log_write(severity,
              "event=connection-ended worker=%u client=%s sni=%s reason=%s while=\"%s\" text=\"%s\" detail=%s "
              "seconds=%.3f request_bytes=%llu reply_bytes=%llu%s",
              worker->setup->index, endpoint_text(&relay->peer, peer),
              name != NULL ? log_quote(sni, sizeof sni, name) : "-", close_reason_name(reason),
              relay_phase_text(relay->ended_in), close_reason_text(reason),
              relay->detail[0] != '\0' ? log_quote(detail, sizeof detail, relay->detail) : "-",
              (double)(clock_now_ms() - relay->accepted_ms) / 1000.0, (unsigned long long)relay->request.moved_bytes,
              (unsigned long long)relay->reply.moved_bytes, suppressed_text);
}
