/*
 * sock.h: the connection sockets of a worker.
 *
 * Thin: one function is one or two system calls, with errno sorted into enum io. Not for listening sockets
 * (os/listen.h). All sockets are non-blocking and close-on-exec.
 */
#ifndef HALTER_OS_SOCK_H
#define HALTER_OS_SOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/io.h"
#include "os/endpoint.h"

enum sock_accept_result {
    SOCK_ACCEPTED,
    SOCK_ACCEPT_NONE,      /* nothing waits */
    SOCK_ACCEPT_GONE,      /* that client has left again: go on with the next */
    SOCK_ACCEPT_EXHAUSTED, /* no descriptor or memory: pause */
    SOCK_ACCEPT_FAILED,    /* the listening socket itself is faulty; errno tells */
};

/* Takes one connection from the queue. peer is set on SOCK_ACCEPTED; *fd belongs to the caller. */
enum sock_accept_result sock_accept(int listener, int *fd, struct endpoint *peer);

/*
 * Reads what is there. IO_OK: *length > 0, and a *length < size means that the socket is now empty. IO_WANT_READ: it was
 * empty. IO_EOF, IO_FAILED: as their names say.
 */
enum io sock_recv(int fd, void *buffer, size_t size, size_t *length);

/* Sends what fits. IO_OK: *length may be less than size, then the socket is full. Never raises SIGPIPE. */
enum io sock_send(int fd, const void *bytes, size_t size, size_t *length);

/*
 * Begins to connect. IO_OK: connected; IO_WANT_WRITE: under way, *fd becomes writable when it is decided; IO_FAILED:
 * errno tells, *fd is -1. IO_WANT_READ: a unix socket whose backlog is full, which no event will announce: try again
 * later; *fd is -1. keepalive_s as sock_tune_listener(); not set for peers on this machine.
 */
enum io sock_connect(const struct endpoint *endpoint, unsigned keepalive_s, int *fd);

/* The outcome of a connection attempt whose socket has become writable. IO_FAILED sets errno. */
enum io sock_connect_result(int fd);

/* Ends the writing direction (FIN). */
void sock_finish(int fd);

/* Closes so that the peer sees a reset instead of an orderly end. */
void sock_abort(int fd);

void sock_close(int fd);

/* The local address of a connected socket; length 0 on failure. */
void sock_local(int fd, struct endpoint *local);

/*
 * Sets on a listening socket what the connections accepted from it inherit: TCP_NODELAY, keep-alive after keepalive_s
 * seconds (0: off), SO_RCVBUF and SO_SNDBUF in bytes (-1: the kernel's choice; it cannot be given back to the kernel once
 * it was set).
 */
void sock_tune_listener(int listener, unsigned keepalive_s, int recv_bufsize, int send_bufsize);

#endif
