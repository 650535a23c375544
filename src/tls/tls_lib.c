#include "tls/tls_lib.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>

void tls_lib_init(void)
{
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_LOAD_SSL_STRINGS | OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
                     NULL);
}

void tls_lib_version(char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", OpenSSL_version(OPENSSL_VERSION));
}

const char *tls_lib_reason(char *buffer, size_t size)
{
    unsigned long code = ERR_get_error();
    const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;

    if (reason != NULL)
        snprintf(buffer, size, "%s", reason);
    else if (code != 0)
        snprintf(buffer, size, "library error %lx", code);
    else
        snprintf(buffer, size, "no reason given");
    ERR_clear_error();
    return buffer;
}
