/*
 * scripted_net.h: sockets that do what a test says, so that each edge of the relay is a few lines without a kernel.
 *
 * Two sockets exist: CLIENT_FD and BACKEND_FD. A test gives input (bytes, an end, a reset) and room for output, and
 * looks at what was written and how it was closed.
 */
#ifndef HALTER_TESTS_UNIT_RELAY_SCRIPTED_NET_H
#define HALTER_TESTS_UNIT_RELAY_SCRIPTED_NET_H

#include <stdbool.h>
#include <stddef.h>

#include "relay/transport.h"

enum { CLIENT_FD = 1000, BACKEND_FD = 1001, SCRIPT_BYTES = 1024 * 1024 };

enum script_end { SCRIPT_OPEN, SCRIPT_EOF, SCRIPT_RESET };

struct script_socket {
    unsigned char *input; /* what the peer has sent and was not read yet */
    size_t input_length;
    enum script_end end; /* what follows the input */
    unsigned char *output;
    size_t output_length;
    size_t room;    /* how much more the peer takes before the socket is full */
    int send_errno; /* send() fails with it; 0: it does not */
    bool finished;
    bool closed;
    bool aborted;
    unsigned recv_calls;
    unsigned send_calls;
    enum io connect_result; /* of connect(): IO_OK, IO_WANT_WRITE, IO_WANT_READ, IO_FAILED */
    enum io late_result;    /* of connect_result() */
    unsigned connect_calls;
};

extern struct script_socket script_client;
extern struct script_socket script_backend;
extern const struct transport_net script_net;

void script_reset(void);
void script_free(void);
void script_input(struct script_socket *socket, const char *text);
void script_input_bytes(struct script_socket *socket, unsigned char byte, size_t count);

#endif
