#include "tls_verify.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "tls/tls_lib.h"

enum { BUNDLE_MAX_BYTES = 16 * 1024 * 1024 };

static void authorities_free(struct tls_authorities *authorities)
{
    X509_STORE_free(authorities->store);
    sk_X509_NAME_pop_free(authorities->names, X509_NAME_free);
    free(authorities->path);
    free(authorities);
}

void tls_authority_list_clear(struct tls_authority_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        authorities_free(list->items[i]);
    free(list->items);
    list->items = NULL;
    list->count = 0;
}

static bool add_authority(struct tls_authorities *authorities, X509 *cert)
{
    X509_NAME *name = X509_NAME_dup(X509_get_subject_name(cert));

    if (name == NULL || X509_STORE_add_cert(authorities->store, cert) != 1 ||
        sk_X509_NAME_push(authorities->names, name) <= 0) {
        X509_NAME_free(name);
        return false;
    }
    return true;
}

/* How many certificates the text has; -1 when one of them cannot be used. */
static int read_bundle(struct tls_authorities *authorities, const char *text, size_t length)
{
    BIO *bio = BIO_new_mem_buf(text, (int)length);
    X509 *cert;
    int count = 0;

    if (bio == NULL)
        return -1;
    ERR_clear_error();
    while ((cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)) != NULL) {
        bool good = add_authority(authorities, cert);

        X509_free(cert);
        if (!good) {
            BIO_free(bio);
            return -1;
        }
        count++;
    }
    BIO_free(bio);
    if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        return -1;
    ERR_clear_error();
    return count;
}

static int load(struct tls_authorities *authorities, const struct place *place, struct error *errors)
{
    char reason[TLS_REASON_MAX];
    char *text = NULL;
    size_t length = 0;

    if (file_read(authorities->path, FILE_REGULAR, BUNDLE_MAX_BYTES, &text, &length, place, errors) < 0)
        return -1;
    authorities->store = X509_STORE_new();
    authorities->names = sk_X509_NAME_new_null();
    int count = authorities->store != NULL && authorities->names != NULL ? read_bundle(authorities, text, length) : -1;
    int digested = EVP_Digest(text, length, authorities->digest, NULL, EVP_sha256(), NULL);
    free(text);
    if (count < 0 || digested != 1)
        return error_add(errors, place, "client-verify-ca \"%s\" cannot be used: %s", authorities->path,
                         tls_lib_reason(reason, sizeof reason));
    if (count == 0)
        return error_add(errors, place,
                         "client-verify-ca \"%s\" has no certificate in it: it is a PEM file with those "
                         "of the authorities",
                         authorities->path);
    return 0;
}

const struct tls_authorities *tls_authorities_find(struct tls_authority_list *list, const char *path,
                                                   const struct place *place, struct error *errors)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i]->path, path) == 0)
            return list->items[i];

    struct tls_authorities *authorities = mem_new(1, sizeof *authorities);
    authorities->path = mem_strdup(path);
    if (load(authorities, place, errors) < 0) {
        authorities_free(authorities);
        return NULL;
    }
    list->items = mem_resize(list->items, list->count + 1, sizeof *list->items);
    list->items[list->count++] = authorities;
    return authorities;
}

int tls_verify_set(SSL_CTX *ctx, const struct tls_verify *verify)
{
    if (verify->mode == CLIENT_VERIFY_NONE)
        return 0;
    STACK_OF(X509_NAME) *names = SSL_dup_CA_list(verify->authorities->names);
    if (names == NULL)
        return -1;
    SSL_CTX_set_client_CA_list(ctx, names);
    if (SSL_CTX_set1_verify_cert_store(ctx, verify->authorities->store) != 1)
        return -1;
    SSL_CTX_set_verify(
        ctx, SSL_VERIFY_PEER | (verify->mode == CLIENT_VERIFY_REQUIRED ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), NULL);
    return 0;
}

bool tls_verify_is_satisfied(const SSL *ssl)
{
    int mode = SSL_get_verify_mode(ssl);

    if ((mode & SSL_VERIFY_PEER) == 0)
        return true;
    if (SSL_get0_peer_certificate(ssl) == NULL)
        return (mode & SSL_VERIFY_FAIL_IF_NO_PEER_CERT) == 0;
    return SSL_get_verify_result(ssl) == X509_V_OK;
}
