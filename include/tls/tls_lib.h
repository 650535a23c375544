/*
 * tls_lib.h: the TLS library as a whole: start, version, error texts.
 */
#ifndef HALTER_TLS_TLS_LIB_H
#define HALTER_TLS_TLS_LIB_H

#include <stddef.h>

enum { TLS_REASON_MAX = 160 };

/* Once in each process that uses tls/, before anything else of it. Reads no configuration file of the library. */
void tls_lib_init(void);

/* "OpenSSL 4.0.3 ..." as the linked library names itself; buffer is always terminated. */
void tls_lib_version(char *buffer, size_t size);

/*
 * Takes the first reason out of the library's error queue as a short lower-case text ("wrong version number"), empties
 * the queue; "no reason given" when it was empty. Returns buffer.
 */
const char *tls_lib_reason(char *buffer, size_t size);

#endif
