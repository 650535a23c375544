/*
 * relay.h: one connection, from accept to close, as a state machine.
 *
 * For: the order of things. Not for: waiting (worker/), bytes (pipe.h), sockets and TLS (transport.h).
 *
 *     HANDSHAKE --> CONNECT --> STREAM --> CLOSING --> CLOSED
 *          |            |          |           ^          ^
 *          +------------+----------+-----------+          |   every phase may end in CLOSED
 *          +------------+----------+----------------------+
 *
 *     relay_init(&relay, &env, &client, tls_site, NULL, &peer, now);
 *     each time something happened:   wants = relay_step(&relay, events, now);
 *     each time deadline_ms passed:   wants = relay_expire(&relay, now);
 *     when relay.phase is RELAY_CLOSED: relay_clear(&relay), and forget it
 *
 * Phase and half-close are separate: the phase says what the connection does, each pipe's state how far its direction
 * has come. Nothing here calls back into the loop, and no call closes the struct itself.
 */
#ifndef HALTER_RELAY_RELAY_H
#define HALTER_RELAY_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/config.h"
#include "metrics/metrics.h"
#include "os/endpoint.h"
#include "relay/close_reason.h"
#include "relay/pipe.h"
#include "relay/transport.h"

/* name, what a log line says it was doing */
#define RELAY_PHASE_LIST(X)                                                                                            \
    X(HANDSHAKE, "handshaking")                                                                                        \
    X(CONNECT, "connecting to the backend")                                                                            \
    X(STREAM, "relaying")                                                                                              \
    X(CLOSING, "closing")                                                                                              \
    X(CLOSED, "closed")

enum relay_phase {
#define RELAY_PHASE_ENUM(name, text) RELAY_##name,
    RELAY_PHASE_LIST(RELAY_PHASE_ENUM)
#undef RELAY_PHASE_ENUM
};

const char *relay_phase_text(enum relay_phase phase);

/* Sets of these: what happened, and what to wait for. */
enum relay_event {
    RELAY_CLIENT_READ = 1u << 0,
    RELAY_CLIENT_WRITE = 1u << 1,
    RELAY_BACKEND_READ = 1u << 2,
    RELAY_BACKEND_WRITE = 1u << 3,
};

/* What all connections of a worker share. */
struct relay_env {
    const struct config *config;
    const struct endpoint *backends;
    size_t backend_count;
    struct transport_shared *shared;
    struct metrics_page *metrics;
    const struct filter_ops *filter_ops; /* NULL: built without */
};

enum { RELAY_NO_DEADLINE = 0 };

struct relay {
    const struct relay_env *env;
    enum relay_phase phase;
    struct transport client;
    struct transport backend;
    struct pipe request;
    struct pipe reply;

    enum relay_phase ended_in; /* the phase in which `reason` was found */
    enum close_reason reason;  /* why it ends, once it does */
    bool has_reason;
    bool is_answered_here;       /* by the filter alone: there is no backend. Set before the first step */
    bool is_refused;             /* by the filter; its answer is still to be given */
    bool reply_is_whole;         /* the client may be told that the reply has ended in good order */
    char detail[TLS_REASON_MAX]; /* the library's or the system's word for it; may be "" */

    const struct filter_site *filter_site;
    const struct tls_site *tls_site;
    struct filter *filter;
    struct endpoint peer;
    size_t backend_tried; /* attempts made for this connection */
    size_t backend_index; /* into env->backends */
    uint64_t accepted_ms;
    uint64_t head_since_ms;    /* when the first part of an incomplete request head came; 0: there is none */
    uint64_t deadline_ms;      /* relay_expire() is due then; RELAY_NO_DEADLINE: never */
    uint64_t connect_until_ms; /* the present attempt ends then; RELAY_NO_DEADLINE: never */
    bool connect_waits;        /* the backend's backlog was full: try again at deadline_ms */
};

/* Takes over the client's side, as transport_accept() made it. The sites are those of the frontend, NULL for none. Times
 * are milliseconds of one monotonic clock, not 0. */
void relay_init(struct relay *relay, const struct relay_env *env, const struct transport *client,
                const struct tls_site *tls_site, const struct filter_site *filter_site, const struct endpoint *peer,
                uint64_t now_ms);

/* Goes as far as it can without waiting. events is a set of enum relay_event; returns the set to wait for. */
unsigned relay_step(struct relay *relay, unsigned events, uint64_t now_ms);

/* deadline_ms has passed. Returns as relay_step(). */
unsigned relay_expire(struct relay *relay, uint64_t now_ms);

/* Ends the connection because the worker stops: close_notify to the client if that goes without waiting. */
void relay_shut(struct relay *relay);

/* Closes what is open. Idempotent. */
void relay_clear(struct relay *relay);

#endif
