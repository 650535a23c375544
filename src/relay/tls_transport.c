#include "base/check.h"
#include "relay/transport.h"

/* What may be unsent when the library itself wants to say something (alerts, key updates); more is a client that makes
 * us talk and does not listen. */
enum { UNSENT_REPLIES_MAX = 512 * 1024 };

static enum io send_wire(struct transport *transport)
{
    size_t length;
    const uint8_t *bytes = tls_wire_take(transport->shared->wire, &length);

    if (transport->finished)
        return IO_OK; /* nothing may follow our close_notify */
    return transport_send(transport, bytes, length);
}

/* Puts what the socket has on the wire. */
static enum io receive(struct transport *transport, size_t limit)
{
    struct transport_shared *shared = transport->shared;
    size_t length;

    if (!transport->readable)
        return IO_WANT_READ;
    if (limit > SCRATCH_CIPHER_SIZE)
        limit = SCRATCH_CIPHER_SIZE;
    enum io io = transport->net->recv(transport->fd, shared->cipher, limit, &length);
    if (io != IO_OK || length < limit)
        transport->readable = false;
    if (io == IO_OK)
        tls_wire_feed(shared->wire, shared->cipher, length);
    return io;
}

/* A ClientHello begins with 0x16 (RFC 8446, section 5.1), an HTTP request with the first letter of its method. */
static bool is_plain(struct transport *transport)
{
    struct tls_wire *wire = transport->shared->wire;
    bool is_first = !transport->heard_anything;
    uint8_t byte = transport->shared->cipher[0];

    transport->heard_anything = true;
    if (!transport->looks_for_plain || !is_first || byte < 'A' || byte > 'Z')
        return false;
    transport->plain_length = tls_wire_left(wire);
    tls_wire_drop(wire);
    return true;
}

static enum io tls_handshake(struct transport *transport)
{
    enum io io = transport_flush(transport);

    CHECK(tls_wire_left(transport->shared->wire) == 0);
    if (io != IO_OK)
        return io;
    io = receive(transport, TLS_RECORD_MAX * 2);
    if (io == IO_EOF)
        transport->eof = true;
    if (io != IO_OK)
        return io;
    if (is_plain(transport))
        return IO_FAILED;
    io = tls_conn_handshake(transport->tls);
    enum io sent = send_wire(transport);
    if (sent == IO_FAILED)
        tls_wire_drop(transport->shared->wire);
    return sent == IO_FAILED ? IO_FAILED : io;
}

static enum io tls_read(struct transport *transport, uint8_t *buffer, size_t limit, size_t *length)
{
    struct tls_wire *wire = transport->shared->wire;

    *length = 0;
    if (transport->eof)
        return IO_EOF;
    if (tls_wire_left(wire) == 0 && !tls_conn_has_ended(transport->tls)) {
        enum io io = receive(transport, limit);

        if (io == IO_EOF) {
            transport->eof = true;
            transport->eof_unannounced = true;
        }
        if (io != IO_OK)
            return io;
    }
    enum io io = tls_conn_decrypt(transport->tls, buffer, limit + TLS_RECORD_MAX, length);
    CHECK(tls_wire_left(wire) == 0);
    transport->end_pending = io == IO_OK && tls_conn_has_ended(transport->tls);
    if (io == IO_EOF)
        transport->eof = true;
    if (send_wire(transport) == IO_FAILED)
        return IO_FAILED;
    if (transport->unsent != NULL && transport->unsent->length > UNSENT_REPLIES_MAX)
        return IO_FAILED;
    return io;
}

static enum io tls_write(struct transport *transport, const uint8_t *bytes, size_t length)
{
    enum io io = IO_OK;

    while (length > 0) {
        size_t part = length < TLS_PLAIN_MAX ? length : TLS_PLAIN_MAX;

        if (tls_conn_encrypt(transport->tls, bytes, part) != IO_OK)
            return IO_FAILED;
        io = send_wire(transport);
        if (io == IO_FAILED)
            return io;
        bytes += part;
        length -= part;
    }
    return io;
}

static void tls_say_goodbye(struct transport *transport)
{
    tls_conn_close_notify(transport->tls);
    (void)send_wire(transport); /* a failure shows at the flush that follows */
}

const struct transport_ops tls_transport_ops = {
    .handshake = tls_handshake,
    .read = tls_read,
    .write = tls_write,
    .say_goodbye = tls_say_goodbye,
};
