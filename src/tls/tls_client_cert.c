#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls/tls_conn.h"
#include "tls_conn_local.h"

/* Takes what was written to bio as a text. */
static char *take_text(BIO *bio)
{
    char *data = NULL;
    long length = bio != NULL ? BIO_get_mem_data(bio, &data) : 0;
    char *text = length > 0 ? calloc(1, (size_t)length + 1) : NULL;

    if (text != NULL)
        memcpy(text, data, (size_t)length);
    BIO_free(bio);
    return text;
}

static char *to_pem(X509 *cert)
{
    BIO *bio = BIO_new(BIO_s_mem());

    if (bio != NULL)
        PEM_write_bio_X509(bio, cert);
    return take_text(bio);
}

static char *to_subject(X509 *cert)
{
    BIO *bio = BIO_new(BIO_s_mem());

    if (bio != NULL)
        X509_NAME_print_ex(bio, X509_get_subject_name(cert), 0, XN_FLAG_RFC2253);
    return take_text(bio);
}

static char *to_serial(X509 *cert)
{
    BIO *bio = BIO_new(BIO_s_mem());

    if (bio != NULL)
        i2a_ASN1_INTEGER(bio, X509_get0_serialNumber(cert));
    return take_text(bio);
}

static char *to_fingerprint(X509 *cert)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int length = 0;

    if (X509_digest(cert, EVP_sha256(), digest, &length) != 1)
        return NULL;
    char *text = malloc(2 * (size_t)length + 1);
    for (unsigned i = 0; text != NULL && i < length; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", digest[i]);
    return text;
}

void tls_conn_client_cert(const struct tls_conn *conn, struct tls_client_cert *cert)
{
    X509 *shown = SSL_get0_peer_certificate(tls_conn_ssl(conn));

    memset(cert, 0, sizeof *cert);
    if (shown == NULL)
        return;
    cert->pem = to_pem(shown);
    cert->subject = to_subject(shown);
    cert->serial = to_serial(shown);
    cert->fingerprint = to_fingerprint(shown);
    ERR_clear_error();
}

void tls_client_cert_clear(struct tls_client_cert *cert)
{
    free(cert->pem);
    free(cert->subject);
    free(cert->serial);
    free(cert->fingerprint);
    memset(cert, 0, sizeof *cert);
}
