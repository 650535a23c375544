#include "relay/transport.h"

static enum io plain_handshake(struct transport *transport)
{
    (void)transport;
    return IO_OK;
}

static enum io plain_read(struct transport *transport, uint8_t *buffer, size_t limit, size_t *length)
{
    *length = 0;
    if (transport->eof)
        return IO_EOF;
    if (!transport->readable)
        return IO_WANT_READ;

    enum io io = transport->net->recv(transport->fd, buffer, limit, length);
    if (io != IO_OK || *length < limit)
        transport->readable = false;
    if (io == IO_EOF)
        transport->eof = true;
    return io;
}

static enum io plain_write(struct transport *transport, const uint8_t *bytes, size_t length)
{
    return transport_send(transport, bytes, length);
}

static void plain_say_goodbye(struct transport *transport)
{
    (void)transport; /* the FIN says it all */
}

const struct transport_ops plain_transport_ops = {
    .handshake = plain_handshake,
    .read = plain_read,
    .write = plain_write,
    .say_goodbye = plain_say_goodbye,
};
