/*
 * demo_backend.h: the HTTP server inside `halter demo`.
 *
 * One process, one poll loop, plain HTTP/1 behind a PROXY header of either version. Memory is bounded for each
 * connection and in number. Not for anything but the demonstration.
 */
#ifndef HALTER_SRC_MAIN_DEMO_BACKEND_H
#define HALTER_SRC_MAIN_DEMO_BACKEND_H

/*
 * Serves connections of listener (listening, non-blocking) until parent_fd, the reading end of a pipe, is at its end:
 * then the process that held the other end is gone. Returns 0 then, or 1 when poll() fails.
 */
int demo_backend_run(int listener, int parent_fd) __attribute__((warn_unused_result));

#endif
