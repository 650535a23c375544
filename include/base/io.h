/*
 * io.h: the five outcomes of moving bytes. Network weather is one of these, never a struct error.
 */
#ifndef HALTER_BASE_IO_H
#define HALTER_BASE_IO_H

enum io {
    IO_OK,         /* moved something, or nothing was left to do */
    IO_WANT_READ,  /* nothing now: wait until the socket is readable */
    IO_WANT_WRITE, /* nothing now: wait until the socket is writable */
    IO_EOF,        /* the peer ended its direction in good order */
    IO_FAILED,     /* reset, alert, protocol error: the transport is dead */
};

#endif
