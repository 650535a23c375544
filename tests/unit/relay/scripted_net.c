#include "scripted_net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct script_socket script_client;
struct script_socket script_backend;

static void reset(struct script_socket *socket)
{
    unsigned char *input = socket->input != NULL ? socket->input : malloc(SCRIPT_BYTES);
    unsigned char *output = socket->output != NULL ? socket->output : malloc(SCRIPT_BYTES);

    memset(socket, 0, sizeof *socket);
    socket->input = input;
    socket->output = output;
    socket->room = SCRIPT_BYTES;
    CHECK(socket->input != NULL && socket->output != NULL);
}

void script_reset(void)
{
    reset(&script_client);
    reset(&script_backend);
}

void script_free(void)
{
    free(script_client.input);
    free(script_client.output);
    free(script_backend.input);
    free(script_backend.output);
    memset(&script_client, 0, sizeof script_client);
    memset(&script_backend, 0, sizeof script_backend);
}

void script_input(struct script_socket *socket, const char *text)
{
    size_t length = strlen(text);

    CHECK(socket->input_length + length <= SCRIPT_BYTES);
    memcpy(socket->input + socket->input_length, text, length);
    socket->input_length += length;
}

void script_input_bytes(struct script_socket *socket, unsigned char byte, size_t count)
{
    CHECK(socket->input_length + count <= SCRIPT_BYTES);
    memset(socket->input + socket->input_length, byte, count);
    socket->input_length += count;
}

static struct script_socket *find(int fd)
{
    CHECK(fd == CLIENT_FD || fd == BACKEND_FD);
    struct script_socket *socket = fd == CLIENT_FD ? &script_client : &script_backend;
    CHECK(!socket->closed);
    return socket;
}

static enum io on_connect(const struct endpoint *endpoint, unsigned keepalive_s, int *fd)
{
    (void)endpoint;
    (void)keepalive_s;
    script_backend.connect_calls++;
    script_backend.closed = false;
    *fd = BACKEND_FD;
    if (script_backend.connect_result == IO_FAILED || script_backend.connect_result == IO_WANT_READ) {
        *fd = -1;
        errno = ECONNREFUSED;
    }
    return script_backend.connect_result;
}

static enum io on_connect_result(int fd)
{
    errno = ECONNREFUSED;
    return find(fd)->late_result;
}

static enum io on_recv(int fd, void *buffer, size_t size, size_t *length)
{
    struct script_socket *socket = find(fd);

    socket->recv_calls++;
    *length = size < socket->input_length ? size : socket->input_length;
    if (*length > 0) {
        memcpy(buffer, socket->input, *length);
        memmove(socket->input, socket->input + *length, socket->input_length - *length);
        socket->input_length -= *length;
        return IO_OK;
    }
    switch (socket->end) {
    case SCRIPT_OPEN:
        return IO_WANT_READ;
    case SCRIPT_EOF:
        return IO_EOF;
    case SCRIPT_RESET:
        errno = ECONNRESET;
        return IO_FAILED;
    }
    return IO_FAILED;
}

static enum io on_send(int fd, const void *bytes, size_t size, size_t *length)
{
    struct script_socket *socket = find(fd);

    socket->send_calls++;
    *length = 0;
    CHECK(!socket->finished);
    if (socket->send_errno != 0) {
        errno = socket->send_errno;
        return IO_FAILED;
    }
    if (socket->room == 0)
        return IO_WANT_WRITE;
    *length = size < socket->room ? size : socket->room;
    CHECK(socket->output_length + *length <= SCRIPT_BYTES);
    memcpy(socket->output + socket->output_length, bytes, *length);
    socket->output_length += *length;
    socket->room -= *length;
    return IO_OK;
}

static void on_finish(int fd)
{
    struct script_socket *socket = find(fd);

    CHECK(!socket->finished);
    socket->finished = true;
}

static void on_close(int fd)
{
    find(fd)->closed = true;
}

static void on_abort(int fd)
{
    struct script_socket *socket = find(fd);

    socket->closed = true;
    socket->aborted = true;
}

const struct transport_net script_net = {
    .connect = on_connect,
    .connect_result = on_connect_result,
    .recv = on_recv,
    .send = on_send,
    .finish = on_finish,
    .close = on_close,
    .abort = on_abort,
};
