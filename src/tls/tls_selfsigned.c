#include "tls/tls_selfsigned.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/addr.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "tls/tls_lib.h"

enum { VALID_BEFORE_S = 60 * 60, VALID_AFTER_S = 30 * 24 * 60 * 60 };

static int add_extension(X509 *cert, int nid, const char *value)
{
    X509V3_CTX context;

    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, cert, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (extension == NULL)
        return 0;
    int result = X509_add_ext(cert, extension, -1);
    X509_EXTENSION_free(extension);
    return result;
}

static int add_names(X509 *cert, const char *const names[], size_t count)
{
    struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < count; i++) {
        struct addr addr;
        bool is_address = addr_parse_host(&addr, names[i], strlen(names[i]));

        strbuf_addf(&text, "%s%s:%s", i > 0 ? "," : "", is_address ? "IP" : "DNS", names[i]);
    }
    int result = add_extension(cert, NID_subject_alt_name, text.data);
    strbuf_clear(&text);
    return result;
}

static int fill(X509 *cert, EVP_PKEY *key, const char *const names[], size_t count)
{
    unsigned char serial[16];
    BIGNUM *number = NULL;
    X509_NAME *name = X509_NAME_new();
    int good = 0;

    if (name == NULL || RAND_bytes(serial, sizeof serial) != 1)
        goto out;
    serial[0] &= 0x7f;
    number = BN_bin2bn(serial, sizeof serial, NULL);
    good = number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL &&
           X509_set_version(cert, X509_VERSION_3) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -VALID_BEFORE_S) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(cert), VALID_AFTER_S) != NULL &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)names[0], -1, -1, 0) == 1 &&
           X509_set_subject_name(cert, name) == 1 && X509_set_issuer_name(cert, name) == 1 &&
           X509_set_pubkey(cert, key) == 1 && add_names(cert, names, count) == 1 &&
           add_extension(cert, NID_basic_constraints, "critical,CA:FALSE") == 1 &&
           add_extension(cert, NID_key_usage, "critical,digitalSignature") == 1 &&
           add_extension(cert, NID_ext_key_usage, "serverAuth") == 1 && X509_sign(cert, key, EVP_sha256()) > 0;
out:
    BN_free(number);
    X509_NAME_free(name);
    return good;
}

static char *to_pem(X509 *cert, EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *pem = NULL;

    if (bio != NULL && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1 &&
        PEM_write_bio_X509(bio, cert) == 1) {
        char *data = NULL;
        long length = BIO_get_mem_data(bio, &data);

        pem = mem_strndup(data, (size_t)length);
    }
    BIO_free(bio);
    return pem;
}

static void to_fingerprint(X509 *cert, char fingerprint[96])
{
    unsigned char digest[32];
    unsigned int length = 0;

    fingerprint[0] = '\0';
    if (X509_digest(cert, EVP_sha256(), digest, &length) != 1)
        return;
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(fingerprint + 3 * i, 4, "%02X%s", digest[i], i + 1 < sizeof digest ? ":" : "");
}

int tls_selfsigned_make(char **pem, char fingerprint[96], const char *const names[], size_t count, struct error *errors)
{
    char reason[TLS_REASON_MAX];
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();

    *pem = NULL;
    if (key != NULL && cert != NULL && fill(cert, key, names, count)) {
        *pem = to_pem(cert, key);
        to_fingerprint(cert, fingerprint);
    }
    X509_free(cert);
    EVP_PKEY_free(key);
    if (*pem == NULL)
        return error_add(errors, NULL, "cannot make a certificate: %s", tls_lib_reason(reason, sizeof reason));
    return 0;
}
