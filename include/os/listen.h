/*
 * listen.h: listening sockets. Which of them exist, and for whom, is decided in master/listeners.h.
 *
 * All are non-blocking and close-on-exec; IPv6 ones take IPv6 only, so that "*" needs one of each family.
 */
#ifndef HALTER_OS_LISTEN_H
#define HALTER_OS_LISTEN_H

#include <stdbool.h>

#include "base/error.h"
#include "os/endpoint.h"

struct listen_options {
    int backlog;
    unsigned keepalive_s; /* inherited by what is accepted, as the next two */
    int recv_bufsize;     /* -1: the kernel's, or what was set before */
    int send_bufsize;
    bool fastopen;
};

/* True when the kernel spreads connections over several sockets of one address (SO_REUSEPORT of Linux, _LB of FreeBSD). */
bool listen_can_share(void);

/*
 * A socket bound to wanted; port 0 lets the kernel choose. Returns the descriptor and sets *bound (which may be wanted) to
 * its address; or -1 with errno. share: other sockets of ours may be bound to the same address.
 */
int listen_bind(const struct endpoint *wanted, bool share, struct endpoint *bound) __attribute__((warn_unused_result));

/*
 * Is the address free of other programs' sockets? A shared bind alone does not tell: it joins another program of the
 * same user without a word. 0, or -1 with errno.
 */
int listen_probe(const struct endpoint *wanted) __attribute__((warn_unused_result));

/* Begins to listen, or applies new options to a socket that listens already. 0, or -1 with errno. */
int listen_start(int fd, const struct listen_options *options) __attribute__((warn_unused_result));

/* Ends listening for all processes that share the socket, and closes it. What waits in its queue is reset. */
void listen_stop(int fd);

/* Adds a fault that says which address failed, why (error_number), and what to do. Returns -1. */
int listen_fault(const struct endpoint *wanted, int error_number, const struct place *place, struct error *errors);

/* True when error_number says that this machine has no such address family. */
bool listen_family_is_missing(int error_number);

#endif
