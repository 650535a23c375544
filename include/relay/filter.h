/*
 * filter.h: the place where an optional part may look at, and rewrite, what a client sends.
 *
 * For: HTTP mode (http/), which the core knows only through this header. Not for: the core's own work. Without a filter
 * a connection is a pipe of bytes in both directions.
 *
 *     client --> request() --> backend          rewritten; may be held, may be refused
 *     client <------------ reply() <-- backend  looked at only
 *
 * A filter keeps no bytes: what it does not consume, the pipe keeps and gives again with more behind it.
 * One filter object belongs to one connection; one struct filter_site to one frontend, made before the workers are forked
 * and never changed afterwards.
 */
#ifndef HALTER_RELAY_FILTER_H
#define HALTER_RELAY_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/error.h"
#include "conf/config.h"
#include "tls/tls_conn.h"

struct filter;
struct filter_site;

/* What a filter is told about a connection; borrowed for the call of open(). */
struct filter_client {
    struct addr source;
    struct addr destination;
    struct tls_facts facts;      /* all zero when the client came without TLS */
    struct tls_client_cert cert; /* all NULL when it has shown none */

    /* Lives as long as the connection; NULL without TLS, and when none of its hosts asks for certificates. The functions are tls_site_verifies() and tls_site_bars(). */
    const struct tls_site *site;
    bool (*site_verifies)(const struct tls_site *site, const char *name);
    bool (*site_bars)(const struct tls_site *site, const char *sni, const char *host);
};

enum filter_verdict {
    FILTER_MORE,    /* all that can be used has been consumed; the rest waits for more */
    FILTER_FULL,    /* out is full: call again with the rest */
    FILTER_HELD,    /* nothing more may be consumed until is_holding() is false again */
    FILTER_REFUSED, /* the client is told answer(), and nothing more of it is passed on */
};

struct filter_step {
    size_t consumed; /* of in */
    size_t produced; /* bytes put into out */
    size_t tail;     /* behind them, this many bytes just before in + consumed go out as they are */
};

struct filter_ops {
    /* The site of config->frontends[frontend], or of http-redirect when frontend is their count. NULL when a fault was
     * added to errors. */
    struct filter_site *(*site_new)(const struct config *config, size_t frontend, struct error *errors);
    void (*site_free)(struct filter_site *site);

    /* NULL when memory is exhausted. */
    struct filter *(*open)(const struct filter_site *site, const struct filter_client *client);
    void (*close)(struct filter *filter);

    enum filter_verdict (*request)(struct filter *filter, const uint8_t *in, size_t length, uint8_t *out,
                                   size_t out_size, struct filter_step *step);
    bool (*is_holding)(const struct filter *filter);

    /* Bytes that the backend sends, before they go to the client. */
    void (*reply)(struct filter *filter, const uint8_t *bytes, size_t length);

    /* After FILTER_REFUSED: whether all replies to what was passed on before have been seen, so that the answer can
     * follow; what the answer is (static storage); and why, in a few words for the log. */
    bool (*may_answer)(const struct filter *filter);
    const uint8_t *(*answer)(const struct filter *filter, size_t *length);
    unsigned (*reason)(const struct filter *filter); /* its number, less than METRICS_REFUSALS_MAX; 0: redirected */
    const char *(*reason_name)(unsigned reason);     /* NULL for numbers that mean nothing; static storage */

    /* The answer to a client that does not speak TLS at all, when it can be told something; NULL when not. bytes are
     * the first that it sent; the answer is in buffer or in static storage. */
    const uint8_t *(*plain_answer)(const struct filter_site *site, const uint8_t *bytes, size_t length, uint8_t *buffer,
                                   size_t size, size_t *answer_length);
};

#endif
