/*
 * close_reason.h: why a connection ended. Each has a word for counters and a text for people.
 */
#ifndef HALTER_RELAY_CLOSE_REASON_H
#define HALTER_RELAY_CLOSE_REASON_H

/* name, who is to be told (NOBODY: ordinary end; CLIENT: weather on the client's side; BACKEND: the operator), text */
#define CLOSE_REASON_LIST(X)                                                                                           \
    X(done, NOBODY, "both sides have ended")                                                                           \
    X(client_closed_early, CLIENT, "the client closed before the handshake was complete")                              \
    X(client_reset, CLIENT, "the client reset the connection")                                                         \
    X(handshake_failed, CLIENT, "the TLS handshake failed")                                                            \
    X(handshake_timeout, CLIENT, "no complete TLS handshake within ssl-handshake-timeout")                             \
    X(tls_error, CLIENT, "the client broke the TLS protocol")                                                          \
    X(redirected, NOBODY, "the client was sent to https")                                                              \
    X(plain_http, CLIENT, "the client spoke HTTP without TLS")                                                         \
    X(request_refused, CLIENT, "a request broke the rules of HTTP, or a limit")                                        \
    X(head_timeout, CLIENT, "a request head was not complete within first-data-timeout")                               \
    X(first_data_timeout, CLIENT, "no data in either direction within first-data-timeout")                             \
    X(idle_timeout, CLIENT, "no data in either direction within idle-timeout")                                         \
    X(half_close_timeout, CLIENT, "the backend had ended, and the client was silent for half-close-timeout")           \
    X(close_timeout, CLIENT, "the client did not end the connection within close-timeout")                             \
    X(backend_refused, BACKEND, "no backend address accepted the connection")                                          \
    X(backend_timeout, BACKEND, "no backend address answered within backend-connect-timeout")                          \
    X(backend_reset, BACKEND, "the backend reset the connection")                                                      \
    X(announce_failed, BACKEND, "the backend could not be told who the client is")                                     \
    X(drained, NOBODY, "this worker is stopping")                                                                      \
    X(out_of_memory, BACKEND, "out of memory or descriptors")

enum close_reason {
#define CLOSE_REASON_ENUM(name, audience, text) CLOSE_##name,
    CLOSE_REASON_LIST(CLOSE_REASON_ENUM)
#undef CLOSE_REASON_ENUM
        CLOSE_REASON_COUNT
};

enum close_audience {
    CLOSE_TELLS_NOBODY,
    CLOSE_TELLS_CLIENT,
    CLOSE_TELLS_BACKEND,
};

const char *close_reason_name(enum close_reason reason);
const char *close_reason_text(enum close_reason reason);
enum close_audience close_reason_audience(enum close_reason reason);

#endif
