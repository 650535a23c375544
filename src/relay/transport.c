#include "relay/transport.h"

#include <stdlib.h>
#include <string.h>

#include "os/sock.h"

const struct transport_net transport_net_kernel = {
    .connect = sock_connect,
    .connect_result = sock_connect_result,
    .recv = sock_recv,
    .send = sock_send,
    .finish = sock_finish,
    .close = sock_close,
    .abort = sock_abort,
};

int transport_shared_init(struct transport_shared *shared)
{
    chunk_pool_init(&shared->pool);
    shared->wire = tls_wire_new();
    shared->cipher = malloc(SCRATCH_CIPHER_SIZE);
    shared->plain = malloc(SCRATCH_PLAIN_SIZE);
    shared->rewritten = malloc(SCRATCH_REWRITTEN_SIZE);
    if (shared->wire != NULL && shared->cipher != NULL && shared->plain != NULL && shared->rewritten != NULL)
        return 0;
    transport_shared_clear(shared);
    return -1;
}

void transport_shared_clear(struct transport_shared *shared)
{
    chunk_pool_clear(&shared->pool);
    tls_wire_free(shared->wire);
    free(shared->cipher);
    free(shared->plain);
    free(shared->rewritten);
    memset(shared, 0, sizeof *shared);
}

void transport_init(struct transport *transport, const struct transport_ops *ops, const struct transport_net *net,
                    struct transport_shared *shared)
{
    memset(transport, 0, sizeof *transport);
    transport->ops = ops;
    transport->net = net;
    transport->shared = shared;
    transport->fd = -1;
}

int transport_accept(struct transport *transport, struct transport_shared *shared, int fd, const struct tls_site *site)
{
    transport_init(transport, &tls_transport_ops, &transport_net_kernel, shared);
    transport->fd = fd;
    transport->writable = true;
    transport->tls = tls_conn_new(site, shared->wire);
    if (transport->tls != NULL)
        return 0;
    transport_close(transport, false);
    return -1;
}

void transport_accept_plain(struct transport *transport, struct transport_shared *shared, int fd)
{
    transport_init(transport, &plain_transport_ops, &transport_net_kernel, shared);
    transport->fd = fd;
    transport->writable = true;
}

enum io transport_connect(struct transport *transport, const struct endpoint *endpoint, unsigned keepalive_s)
{
    transport->readable = false;
    transport->writable = false;
    return transport->net->connect(endpoint, keepalive_s, &transport->fd);
}

void transport_disconnect(struct transport *transport)
{
    if (transport->fd >= 0)
        transport->net->close(transport->fd);
    transport->fd = -1;
}

enum io transport_send(struct transport *transport, const uint8_t *bytes, size_t length)
{
    size_t sent = 0;

    if (length == 0)
        return transport->unsent == NULL ? IO_OK : IO_WANT_WRITE;
    if (transport->unsent == NULL && transport->writable) {
        enum io io = transport->net->send(transport->fd, bytes, length, &sent);

        if (io == IO_FAILED)
            return IO_FAILED;
        if (sent == length)
            return IO_OK;
        transport->writable = false;
    }
    if (!chunk_append(&transport->shared->pool, &transport->unsent, bytes + sent, length - sent))
        return IO_FAILED;
    return IO_WANT_WRITE;
}

static enum io end_if_finishing(struct transport *transport)
{
    if (transport->finishing && !transport->finished) {
        transport->net->finish(transport->fd);
        transport->finished = true;
    }
    return IO_OK;
}

enum io transport_flush(struct transport *transport)
{
    size_t sent = 0;

    if (transport->unsent == NULL)
        return end_if_finishing(transport);
    if (!transport->writable)
        return IO_WANT_WRITE;

    size_t length = transport->unsent->length;
    enum io io = transport->net->send(transport->fd, chunk_data(transport->unsent), length, &sent);
    if (io == IO_FAILED)
        return IO_FAILED;
    if (sent > 0)
        chunk_consume(&transport->shared->pool, &transport->unsent, sent);
    if (sent < length) {
        transport->writable = false;
        return IO_WANT_WRITE;
    }
    return end_if_finishing(transport);
}

enum io transport_finish(struct transport *transport, bool polite)
{
    if (!transport->finishing) {
        transport->finishing = true;
        if (polite)
            transport->ops->say_goodbye(transport);
    }
    return transport_flush(transport);
}

void transport_close(struct transport *transport, bool abort)
{
    chunk_drop(&transport->shared->pool, &transport->unsent);
    tls_conn_free(transport->tls);
    transport->tls = NULL;
    if (transport->fd < 0)
        return;
    if (abort)
        transport->net->abort(transport->fd);
    else
        transport->net->close(transport->fd);
    transport->fd = -1;
}
