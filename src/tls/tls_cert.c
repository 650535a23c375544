#include "tls_cert.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "names/sni.h"
#include "os/file.h"
#include "tls/tls_lib.h"
#include "tls_key.h"

enum { PEM_FILE_MAX_BYTES = 1024 * 1024 };

void tls_cert_free(struct tls_cert *cert)
{
    if (cert == NULL)
        return;
    for (size_t i = 0; i < cert->name_count; i++)
        free(cert->names[i]);
    free(cert->names);
    X509_free(cert->leaf);
    sk_X509_pop_free(cert->chain, X509_free);
    EVP_PKEY_free(cert->key);
    EVP_PKEY_free(cert->dh_params);
    free(cert->label);
    free(cert);
}

static void add_name(struct tls_cert *cert, const char *text, size_t length)
{
    char name[NAME_TEXT_MAX];

    /* A name with a NUL or any other byte that no host name has is not a name: the class of CVE-2009-2408. */
    if (!name_pattern_normalise(name, sizeof name, text, length))
        return;
    cert->names = mem_resize(cert->names, cert->name_count + 1, sizeof *cert->names);
    cert->names[cert->name_count++] = mem_strdup(name);
}

static void add_san_names(struct tls_cert *cert, const GENERAL_NAMES *names)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        int type;
        const ASN1_STRING *value = GENERAL_NAME_get0_value(name, &type);

        if (type == GEN_DNS)
            add_name(cert, (const char *)ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value));
    }
}

static void add_common_name(struct tls_cert *cert)
{
    const X509_NAME *subject = X509_get_subject_name(cert->leaf);
    int index = X509_NAME_get_index_by_NID((X509_NAME *)(uintptr_t)subject, NID_commonName, -1);

    if (index < 0)
        return;
    const X509_NAME_ENTRY *entry = X509_NAME_get_entry((X509_NAME *)(uintptr_t)subject, index);
    const ASN1_STRING *value = X509_NAME_ENTRY_get_data((X509_NAME_ENTRY *)(uintptr_t)entry);
    unsigned char *text = NULL;
    int length = ASN1_STRING_to_UTF8(&text, (ASN1_STRING *)(uintptr_t)value);

    if (length > 0)
        add_name(cert, (const char *)text, (size_t)length);
    OPENSSL_free(text);
}

static void collect_names(struct tls_cert *cert)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(cert->leaf, NID_subject_alt_name, NULL, NULL);

    if (names != NULL)
        add_san_names(cert, names);
    else
        add_common_name(cert);
    GENERAL_NAMES_free(names);
    ERR_clear_error();
}

static int read_certificates(struct tls_cert *cert, const struct place *place, BIO *bio, struct error *errors)
{
    char reason[TLS_REASON_MAX];

    cert->leaf = PEM_read_bio_X509_AUX(bio, NULL, NULL, NULL);
    if (cert->leaf == NULL) {
        if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
            ERR_clear_error();
            return error_add(errors, place,
                             "no certificate in it: a PEM file holds the private key, the certificate and its chain");
        }
        return error_add(errors, place, "the certificate cannot be read: %s", tls_lib_reason(reason, sizeof reason));
    }
    cert->chain = sk_X509_new_null();
    if (cert->chain == NULL)
        return error_add(errors, place, "out of memory");

    for (;;) {
        X509 *next = PEM_read_bio_X509(bio, NULL, NULL, NULL);

        if (next == NULL)
            break;
        if (sk_X509_push(cert->chain, next) <= 0) {
            X509_free(next);
            return error_add(errors, place, "out of memory");
        }
    }
    if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
        ERR_clear_error();
        return 0;
    }
    return error_add(errors, place, "certificate %d of its chain cannot be read: %s", sk_X509_num(cert->chain) + 2,
                     tls_lib_reason(reason, sizeof reason));
}

static int parse_certificates(struct tls_cert *cert, const struct place *place, const char *pem, size_t length,
                              struct error *errors)
{
    ERR_clear_error();
    BIO *bio = BIO_new_mem_buf(pem, (int)length);

    if (bio == NULL)
        return error_add(errors, place, "out of memory");
    int result = read_certificates(cert, place, bio, errors);
    BIO_free(bio);
    if (result < 0)
        return -1;

    unsigned int digest_length = 0;
    if (X509_digest(cert->leaf, EVP_sha256(), cert->digest, &digest_length) != 1)
        return error_add(errors, place, "its SHA-256 digest cannot be computed");
    return 0;
}

static void parse_dh_params(struct tls_cert *cert, const char *pem, size_t length)
{
    BIO *bio = BIO_new_mem_buf(pem, (int)length);
    EVP_PKEY *params = bio != NULL && strstr(pem, "DH PARAMETERS") != NULL ? PEM_read_bio_Parameters(bio, NULL) : NULL;

    BIO_free(bio);
    ERR_clear_error();
    if (params != NULL && EVP_PKEY_get_base_id(params) != EVP_PKEY_DH && EVP_PKEY_get_base_id(params) != EVP_PKEY_DHX) {
        EVP_PKEY_free(params); /* "EC PARAMETERS", as openssl ecparam writes before a key */
        params = NULL;
    }
    cert->dh_params = params;
}

static int read_key_file(struct tls_cert *cert, const char *path, struct error *errors)
{
    char *pem = NULL;
    size_t length = 0;

    if (file_read(path, FILE_REGULAR, PEM_FILE_MAX_BYTES, &pem, &length, &cert->pem->place, errors) < 0)
        return -1;
    cert->key = tls_key_read(path, pem, length, errors);
    file_wipe(pem, length);
    return cert->key != NULL ? 0 : -1;
}

struct tls_cert *tls_cert_load(const struct conf_pem *pem, struct error *errors)
{
    struct tls_cert *cert = mem_new(1, sizeof *cert);
    const bool inline_pem = pem->inline_pem != NULL;
    char *text = NULL;
    size_t length = 0;
    int result = -1;

    cert->pem = pem;
    cert->label = mem_strdup(inline_pem ? "built-in certificate" : pem->cert);
    struct place place = {.file = cert->label};

    if (inline_pem) {
        text = mem_strdup(pem->inline_pem);
        length = strlen(text);
    } else if (file_read(pem->cert, FILE_REGULAR, PEM_FILE_MAX_BYTES, &text, &length, &pem->place, errors) < 0) {
        goto out;
    }
    result = parse_certificates(cert, &place, text, length, errors);
    if (pem->private_key != NULL) {
        if (read_key_file(cert, pem->private_key, errors) < 0)
            result = -1;
    } else {
        cert->key = tls_key_read(cert->label, text, length, errors);
        if (cert->key == NULL)
            result = -1;
    }
    if (result < 0)
        goto out;
    parse_dh_params(cert, text, length);
    if (X509_check_private_key(cert->leaf, cert->key) != 1) {
        ERR_clear_error();
        result = error_add(errors, &place, "the private key%s%s does not belong to the certificate",
                           pem->private_key != NULL ? " in " : "", pem->private_key != NULL ? pem->private_key : "");
        goto out;
    }
    collect_names(cert);

out:
    file_wipe(text, length);
    if (result < 0) {
        tls_cert_free(cert);
        return NULL;
    }
    return cert;
}
