/*
 * tls_conn_local.h: the inside of a connection, for the files of tls/.
 */
#ifndef HALTER_TLS_TLS_CONN_LOCAL_H
#define HALTER_TLS_TLS_CONN_LOCAL_H

#include <openssl/ssl.h>

#include "tls/tls_conn.h"

/* Borrowed; lives as long as conn. */
SSL *tls_conn_ssl(const struct tls_conn *conn);

#endif
