#include "tls_wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static int on_write(BIO *bio, const char *bytes, size_t length, size_t *written)
{
    struct tls_wire *wire = BIO_get_data(bio);

    if (length > wire->out_capacity - wire->out_length) {
        /* Cannot happen while callers keep to TLS_PLAIN_MAX; if it does, the connection waits and is closed. */
        BIO_set_retry_write(bio);
        *written = 0;
        return 0;
    }
    memcpy(wire->out + wire->out_length, bytes, length);
    wire->out_length += length;
    *written = length;
    BIO_clear_retry_flags(bio);
    return 1;
}

static int on_read(BIO *bio, char *buffer, size_t size, size_t *length)
{
    struct tls_wire *wire = BIO_get_data(bio);
    size_t count = size < wire->in_left ? size : wire->in_left;

    if (count == 0) {
        BIO_set_retry_read(bio);
        *length = 0;
        return 0;
    }
    memcpy(buffer, wire->in, count);
    wire->in += count;
    wire->in_left -= count;
    *length = count;
    BIO_clear_retry_flags(bio);
    return 1;
}

static long on_ctrl(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

struct tls_wire *tls_wire_new(void)
{
    struct tls_wire *wire = calloc(1, sizeof *wire);

    if (wire == NULL)
        return NULL;
    wire->out_capacity = TLS_WIRE_OUT_SIZE;
    wire->out = malloc(wire->out_capacity);
    wire->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "halter wire");
    if (wire->out == NULL || wire->method == NULL)
        goto fail;
    if (!BIO_meth_set_write_ex(wire->method, on_write) || !BIO_meth_set_read_ex(wire->method, on_read) ||
        !BIO_meth_set_ctrl(wire->method, on_ctrl))
        goto fail;
    wire->bio = BIO_new(wire->method);
    if (wire->bio == NULL)
        goto fail;
    BIO_set_data(wire->bio, wire);
    BIO_set_init(wire->bio, 1);
    return wire;

fail:
    tls_wire_free(wire);
    return NULL;
}

void tls_wire_free(struct tls_wire *wire)
{
    if (wire == NULL)
        return;
    BIO_free(wire->bio);
    BIO_meth_free(wire->method);
    free(wire->out);
    free(wire);
}

void tls_wire_feed(struct tls_wire *wire, const uint8_t *bytes, size_t length)
{
    CHECK(wire->in_left == 0);
    wire->in = bytes;
    wire->in_left = length;
}

size_t tls_wire_left(const struct tls_wire *wire)
{
    return wire->in_left;
}

void tls_wire_drop(struct tls_wire *wire)
{
    wire->in_left = 0;
}

const uint8_t *tls_wire_take(struct tls_wire *wire, size_t *length)
{
    *length = wire->out_length;
    wire->out_length = 0;
    return wire->out;
}
