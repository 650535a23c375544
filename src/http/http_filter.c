/*
 * http_filter.c: HTTP mode as the core sees it: struct filter_ops.
 */
#include <stdlib.h>
#include <string.h>

#include "http/http_policy.h"
#include "http/http_refusal.h"
#include "http/request_stream.h"
#include "http/seam.h"
#include "http_plain.h"
#include "http_site.h"
#include "metrics/metrics.h"
#include "names/sni.h"
#include "relay/filter.h"
#include "relay/transport.h"
#include "reply_scan.h"

enum { REDIRECT_MAX_BYTES = 4096 };

struct filter {
    const struct filter_site *site;
    struct http_policy policy;
    struct request_stream requests;
    struct reply_scan replies;
    char client_ip[ADDR_TEXT_MAX];
    bool has_sni;
    char sni[NAME_TEXT_MAX]; /* in normal form */
    const struct tls_site *tls_site;
    bool (*site_bars)(const struct tls_site *site, const char *sni, const char *host);
    size_t answer_length;
    char answer[HTTP_ANSWER_MAX];
    uint8_t *redirect; /* the answer of http-redirect; owned */
    char lines[];      /* policy.add */
};

/* A host that asks for certificates is not reached by way of another one, nor another one by way of it. */
static bool is_barred(const void *arg, const uint8_t *host, size_t length)
{
    const struct filter *filter = arg;
    char name[NAME_TEXT_MAX];

    if (!name_normalise(name, sizeof name, (const char *)host, length))
        return false; /* an address: no host of ours has that name */
    return filter->site_bars(filter->tls_site, filter->has_sni ? filter->sni : NULL, name);
}

static void guard_hosts(struct filter *filter, const struct filter_client *client)
{
    const char *sni = client->facts.sni;

    if (client->site == NULL)
        return;
    filter->tls_site = client->site;
    filter->site_bars = client->site_bars;
    filter->has_sni = sni != NULL && name_normalise(filter->sni, sizeof filter->sni, sni, strlen(sni));
    filter->policy.host_is_barred = is_barred;
    filter->policy.host_arg = filter;
    if (filter->has_sni && client->site_verifies(client->site, filter->sni))
        filter->policy.required_host = filter->sni;
}

static void fill_policy(struct filter *filter, const struct filter_client *client, size_t lines_length)
{
    const struct filter_site *site = filter->site;

    addr_host_text(&client->source, filter->client_ip);
    filter->policy = (struct http_policy){
        .head_max_bytes = site->head_max_bytes,
        .fields_max = site->fields_max,
        .strip = &site->strip,
        .add = filter->lines,
        .add_length = lines_length,
        .append_forwarded_for = (site->add & 1u << HTTP_ADD_FORWARDED_FOR) != 0 &&
                                http_site_trusts(site, &client->source),
        .client_ip = filter->client_ip,
        .add_forwarded_host = (site->add & 1u << HTTP_ADD_FORWARDED_HOST) != 0,
    };
    guard_hosts(filter, client);
}

static struct filter *on_open(const struct filter_site *site, const struct filter_client *client)
{
    struct strbuf lines = STRBUF_INIT;

    http_site_render(site, client, &lines);
    struct filter *filter = calloc(1, sizeof *filter + lines.length + 1);
    if (filter != NULL) {
        filter->site = site;
        memcpy(filter->lines, lines.data, lines.length + 1);
        fill_policy(filter, client, lines.length);
        request_stream_init(&filter->requests);
        reply_scan_init(&filter->replies, &filter->requests.kinds);
    }
    strbuf_clear(&lines);
    if (filter != NULL && http_policy_out_bytes(&filter->policy) > SCRATCH_REWRITTEN_SIZE) {
        free(filter); /* a certificate beyond all measure */
        return NULL;
    }
    return filter;
}

static void on_close(struct filter *filter)
{
    free(filter->redirect);
    free(filter);
}

/* All that is listened to on the port of http-redirect is a head. */
static enum filter_verdict redirect(struct filter *filter, const uint8_t *in, size_t length, struct filter_step *step)
{
    if (memmem(in, length, "\r\n\r\n", 4) == NULL && length < filter->site->head_max_bytes)
        return FILTER_MORE;
    filter->redirect = malloc(REDIRECT_MAX_BYTES);
    if (filter->redirect != NULL) {
        const uint8_t *answer = http_plain_answer(filter->site, in, length, filter->redirect, REDIRECT_MAX_BYTES,
                                                  &filter->answer_length);

        if (answer != filter->redirect) {
            memcpy(filter->redirect, answer, filter->answer_length);
            filter->requests.refusal = HTTP_REFUSAL_TARGET;
        }
    }
    step->consumed = length;
    return FILTER_REFUSED;
}

static enum filter_verdict pass_all(size_t length, struct filter_step *step)
{
    step->consumed = length;
    step->produced = 0;
    step->tail = length;
    return FILTER_MORE;
}

static enum filter_verdict on_request(struct filter *filter, const uint8_t *in, size_t length, uint8_t *out,
                                      size_t out_size, struct filter_step *step)
{
    struct request_step done = {0};

    if (filter->site->is_redirect)
        return length > 0 ? redirect(filter, in, length, step) : FILTER_MORE;
    if (filter->replies.state == REPLY_SCAN_OPAQUE)
        return pass_all(length, step);
    if (filter->replies.state == REPLY_SCAN_LOST)
        filter->requests.kinds.count = 0; /* nobody takes them out any more */
    if (filter->requests.state == REQUEST_WAITS && filter->requests.kinds.count == 0)
        request_stream_resume(&filter->requests);

    enum request_verdict verdict = request_stream_step(&filter->requests, &filter->policy, in, length, out, out_size,
                                                       &done);
    step->consumed = done.consumed;
    step->produced = done.produced;
    step->tail = done.tail;
    switch (verdict) {
    case REQUEST_MORE:
        return FILTER_MORE;
    case REQUEST_FULL:
        return FILTER_FULL;
    case REQUEST_HELD:
        return FILTER_HELD;
    case REQUEST_REFUSED:
        filter->answer_length = http_answer(filter->requests.refusal, filter->answer);
        return FILTER_REFUSED;
    }
    return FILTER_REFUSED;
}

/* An Upgrade or CONNECT is decided when it, and everything before it, has been answered; a full list of unanswered
 * requests, when one of them has been. */
static bool on_is_holding(const struct filter *filter)
{
    const struct request_stream *requests = &filter->requests;

    if (filter->replies.state != REPLY_SCAN_GOOD)
        return false;
    return requests->state == REQUEST_WAITS ? requests->kinds.count > 0 : request_kinds_full(&requests->kinds);
}

static void on_reply(struct filter *filter, const uint8_t *bytes, size_t length)
{
    reply_scan_bytes(&filter->replies, bytes, length);
}

/* Not inside of a reply, nor before the replies to earlier requests. A request that is refused in its body is still among
 * the unanswered ones. */
static bool on_may_answer(const struct filter *filter)
{
    const struct request_stream *requests = &filter->requests;

    if (filter->replies.state != REPLY_SCAN_GOOD)
        return true;
    return !filter->replies.in_reply && requests->kinds.count <= (requests->cut_off ? 1 : 0);
}

/* Nothing, when the backend has answered the refused request already, or when nobody knows where a reply would begin. */
static const uint8_t *on_answer(const struct filter *filter, size_t *length)
{
    bool is_answered = filter->requests.cut_off && filter->requests.kinds.count == 0;

    if (filter->site->is_redirect) {
        *length = filter->redirect != NULL ? filter->answer_length : 0;
        return filter->redirect;
    }
    *length = is_answered || filter->replies.state != REPLY_SCAN_GOOD ? 0 : filter->answer_length;
    return (const uint8_t *)filter->answer;
}

_Static_assert((int)HTTP_REFUSAL_COUNT <= (int)METRICS_REFUSALS_MAX, "each refusal needs its counter");

static unsigned on_reason(const struct filter *filter)
{
    return (unsigned)filter->requests.refusal;
}

static const char *on_reason_name(unsigned reason)
{
    return reason > 0 && reason < HTTP_REFUSAL_COUNT ? http_refusal_word((enum http_refusal)reason) : NULL;
}

static const struct filter_ops ops = {
    .site_new = http_site_new,
    .site_free = http_site_free,
    .open = on_open,
    .close = on_close,
    .request = on_request,
    .is_holding = on_is_holding,
    .reply = on_reply,
    .may_answer = on_may_answer,
    .answer = on_answer,
    .reason = on_reason,
    .reason_name = on_reason_name,
    .plain_answer = http_plain_answer,
};

const struct filter_ops *http_seam_filter_ops(void)
{
    return &ops;
}
