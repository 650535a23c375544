/*
 * transport.h: one side of a connection: a socket, plain or with TLS on it.
 *
 * Both kinds are values of one struct; what differs stands in transport_ops. A transport keeps what its socket would not
 * take (`unsent`) and nothing else: reading goes into the caller's scratch memory.
 *
 *     read     scratch <- socket            gives all that came in one go
 *     write    bytes -> socket -> unsent    takes everything; then the caller stops reading the other side
 *     flush    unsent -> socket
 *     finish   ends the writing direction, as soon as unsent is empty
 *
 * readable and writable say what the socket is believed to be: the loop sets them from its events, a short read and a
 * full socket clear them. So no system call is made only to hear EAGAIN.
 */
#ifndef HALTER_RELAY_TRANSPORT_H
#define HALTER_RELAY_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/io.h"
#include "os/endpoint.h"
#include "relay/chunk.h"
#include "tls/tls_conn.h"

struct transport;

/* Scratch memory and pools of a worker, used by one connection at a time. */
struct transport_shared {
    struct chunk_pool pool;
    struct tls_wire *wire;
    uint8_t *cipher;    /* SCRATCH_CIPHER_SIZE bytes: ciphertext just received */
    uint8_t *plain;     /* SCRATCH_PLAIN_SIZE bytes: plaintext on its way from one side to the other */
    uint8_t *rewritten; /* SCRATCH_REWRITTEN_SIZE bytes: what a filter makes of it */
};

enum {
    SCRATCH_CIPHER_SIZE = 256 * 1024,
    SCRATCH_HEAD_ROOM = 128 * 1024, /* for what is announced to the backend before the first plaintext */
    SCRATCH_REWRITTEN_SIZE = 256 * 1024,
    SCRATCH_PLAIN_SIZE = SCRATCH_HEAD_ROOM + SCRATCH_CIPHER_SIZE + TLS_RECORD_MAX,
};

/* 0, or -1 when memory is exhausted. */
int transport_shared_init(struct transport_shared *shared) __attribute__((warn_unused_result));
void transport_shared_clear(struct transport_shared *shared);

struct transport_ops {
    /* The TLS handshake; a plain transport is always IO_OK. After IO_OK the caller reads at once: the first plaintext
     * may already be there, and has no other place. */
    enum io (*handshake)(struct transport *transport);

    /* At most limit bytes of the socket are taken; buffer holds limit + TLS_RECORD_MAX. IO_OK: *length > 0.
     * IO_WANT_READ: nothing now. IO_EOF: the peer has ended its direction. */
    enum io (*read)(struct transport *transport, uint8_t *buffer, size_t limit, size_t *length);

    /* Takes all bytes. IO_OK: sent; IO_WANT_WRITE: part of them is in unsent; IO_FAILED. */
    enum io (*write)(struct transport *transport, const uint8_t *bytes, size_t length);

    /* The last word of the writing direction, before the FIN: close_notify. */
    void (*say_goodbye)(struct transport *transport);
};

/* How the bytes leave this process: the kernel's sockets, or a test's script. As the functions of os/sock.h. */
struct transport_net {
    enum io (*connect)(const struct endpoint *endpoint, unsigned keepalive_s, int *fd);
    enum io (*connect_result)(int fd);
    enum io (*recv)(int fd, void *buffer, size_t size, size_t *length);
    enum io (*send)(int fd, const void *bytes, size_t size, size_t *length);
    void (*finish)(int fd);
    void (*close)(int fd);
    void (*abort)(int fd);
};

extern const struct transport_net transport_net_kernel;

struct transport {
    const struct transport_ops *ops;
    const struct transport_net *net;
    struct transport_shared *shared;
    int fd; /* -1: none */
    bool readable;
    bool writable;
    bool end_pending;     /* the next read tells of an end that is already known; no event will announce it */
    bool eof;             /* the peer has ended its direction */
    bool eof_unannounced; /* it did so without close_notify */
    bool finishing;       /* the writing direction is to end when unsent is empty */
    bool finished;        /* it has ended */
    bool looks_for_plain; /* say so when the first bytes are no TLS but may be HTTP, instead of failing as TLS */
    bool heard_anything;
    size_t plain_length; /* then they are this many bytes in shared->cipher, and handshake has said IO_FAILED */
    struct chunk *unsent;
    struct tls_conn *tls; /* NULL in a plain one */
};

extern const struct transport_ops plain_transport_ops;
extern const struct transport_ops tls_transport_ops;

/* A transport without a socket yet. */
void transport_init(struct transport *transport, const struct transport_ops *ops, const struct transport_net *net,
                    struct transport_shared *shared);

/* The client's side of an accepted connection on site. 0, or -1 with fd closed when memory is exhausted. */
int transport_accept(struct transport *transport, struct transport_shared *shared, int fd, const struct tls_site *site)
    __attribute__((warn_unused_result));

/* Likewise, without TLS. */
void transport_accept_plain(struct transport *transport, struct transport_shared *shared, int fd);

/* Begins to connect; results as sock_connect(). */
enum io transport_connect(struct transport *transport, const struct endpoint *endpoint, unsigned keepalive_s)
    __attribute__((warn_unused_result));

/* Gives up an attempt to connect; what is unsent stays, for the next one. */
void transport_disconnect(struct transport *transport);

/* Sends what is unsent, then the FIN when finishing. IO_OK: nothing is left; IO_WANT_WRITE; IO_FAILED. */
enum io transport_flush(struct transport *transport) __attribute__((warn_unused_result));

/* Ends the writing direction: now, or when unsent is gone. polite: say goodbye first; without it a TLS peer can tell that
 * the end is not a proper one. Once only. Results as transport_flush(). */
enum io transport_finish(struct transport *transport, bool polite) __attribute__((warn_unused_result));

/* Closes the socket and frees all. abort: the peer sees a reset. Idempotent. */
void transport_close(struct transport *transport, bool abort);

/* For ops: sends bytes, keeps in unsent what the socket does not take. */
enum io transport_send(struct transport *transport, const uint8_t *bytes, size_t length)
    __attribute__((warn_unused_result));

#endif
