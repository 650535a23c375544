#include "tls_context.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "conf/keyword.h"
#include "tls/tls_lib.h"

/* What TLS 1.0 and 1.1 need beside the default list, which has AEAD ciphers only. */
#define LEGACY_CIPHERS                                                                                                 \
    "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:AES128-SHA:AES256-SHA"

static const struct {
    unsigned bit;
    int version;
    uint64_t forbid;
} version_table[] = {
    {TLS_VERSION_1_0, TLS1_VERSION, SSL_OP_NO_TLSv1},
    {TLS_VERSION_1_1, TLS1_1_VERSION, SSL_OP_NO_TLSv1_1},
    {TLS_VERSION_1_2, TLS1_2_VERSION, SSL_OP_NO_TLSv1_2},
    {TLS_VERSION_1_3, TLS1_3_VERSION, SSL_OP_NO_TLSv1_3},
};

enum { VERSION_COUNT = sizeof version_table / sizeof version_table[0] };

static const struct place *place_of(const struct tls_context_options *options, const char *keyword)
{
    const struct keyword *row = keyword_find(keyword, strlen(keyword));
    const struct place *place = conf_marks_find(options->own_marks, row);

    if (place == NULL)
        place = conf_marks_find(options->global_marks, row);
    return place != NULL ? place : options->place;
}

static int refuse(struct error *errors, const struct tls_context_options *options, const char *keyword,
                  const char *value)
{
    bool has_reason = ERR_peek_error() != 0;
    char reason[TLS_REASON_MAX];

    tls_lib_reason(reason, sizeof reason);
    return error_add(errors, place_of(options, keyword), "%s = \"%s\" is refused by the TLS library%s%s%s", keyword,
                     value, has_reason ? " (" : "", has_reason ? reason : "", has_reason ? ")" : "");
}

static int set_versions(SSL_CTX *ctx, unsigned versions)
{
    int lowest = 0;
    int highest = 0;

    for (int i = 0; i < VERSION_COUNT; i++) {
        if ((versions & version_table[i].bit) == 0) {
            SSL_CTX_set_options(ctx, version_table[i].forbid);
            continue;
        }
        if (lowest == 0)
            lowest = version_table[i].version;
        highest = version_table[i].version;
    }
    if ((versions & (TLS_VERSION_1_0 | TLS_VERSION_1_1)) != 0)
        SSL_CTX_set_security_level(ctx, 0); /* they sign with SHA-1, which every higher level forbids */
    return SSL_CTX_set_min_proto_version(ctx, lowest) == 1 && SSL_CTX_set_max_proto_version(ctx, highest) == 1 ? 0 : -1;
}

static int set_ciphers(SSL_CTX *ctx, const struct tls_context_options *options, struct error *errors)
{
    const struct conf_tls *tls = options->tls;
    const char *suites = tls->ciphersuites != NULL ? tls->ciphersuites : TLS_CIPHERSUITES_DEFAULT;
    const bool legacy = (tls->versions & (TLS_VERSION_1_0 | TLS_VERSION_1_1)) != 0;
    struct strbuf list = STRBUF_INIT;
    int result = 0;

    strbuf_adds(&list, tls->ciphers);
    if (legacy && strcmp(tls->ciphers, keyword_find("ciphers", 7)->default_text) == 0)
        strbuf_adds(&list, ":" LEGACY_CIPHERS);
    if (SSL_CTX_set_cipher_list(ctx, list.data) != 1)
        result = refuse(errors, options, "ciphers", tls->ciphers);
    strbuf_clear(&list);
    if (SSL_CTX_set_ciphersuites(ctx, suites) != 1)
        result = refuse(errors, options, "ciphersuites", suites);
    return result;
}

/* The default list; with DH parameters in the PEM file also the finite-field groups, without which clients that name
 * such groups are refused DHE: RFC 7919, section 4. */
static int set_default_groups(SSL_CTX *ctx, bool with_ffdhe)
{
    static const char *const lists[][2] = {
        {TLS_GROUPS_DEFAULT, TLS_GROUPS_DEFAULT TLS_GROUPS_FFDHE},
        {TLS_GROUPS_DEFAULT_CLASSIC, TLS_GROUPS_DEFAULT_CLASSIC TLS_GROUPS_FFDHE},
    };

    if (SSL_CTX_set1_groups_list(ctx, lists[0][with_ffdhe]) == 1)
        return 0;
    ERR_clear_error();
    return SSL_CTX_set1_groups_list(ctx, lists[1][with_ffdhe]) == 1 ? 0 : -1;
}

static int set_groups(SSL_CTX *ctx, const struct tls_cert *cert, const struct tls_context_options *options,
                      struct error *errors)
{
    const char *list = options->tls->ecdh_curve;

    if (list == NULL)
        return set_default_groups(ctx, cert->dh_params != NULL) == 0
                   ? 0
                   : refuse(errors, options, "ecdh-curve", TLS_GROUPS_DEFAULT_CLASSIC);
    return SSL_CTX_set1_groups_list(ctx, list) == 1 ? 0 : refuse(errors, options, "ecdh-curve", list);
}

static int set_certificate(SSL_CTX *ctx, const struct tls_cert *cert, struct error *errors)
{
    char reason[TLS_REASON_MAX];
    struct place place = {.file = cert->label};

    if (SSL_CTX_use_certificate(ctx, cert->leaf) != 1 || SSL_CTX_use_PrivateKey(ctx, cert->key) != 1 ||
        SSL_CTX_set1_chain(ctx, cert->chain) != 1)
        return error_add(errors, &place, "the certificate cannot be used: %s", tls_lib_reason(reason, sizeof reason));
    if (cert->dh_params == NULL)
        return 0;
    EVP_PKEY_up_ref(cert->dh_params);
    if (SSL_CTX_set0_tmp_dh_pkey(ctx, cert->dh_params) == 1)
        return 0;
    EVP_PKEY_free(cert->dh_params);
    return error_add(errors, &place, "its DH parameters cannot be used: %s", tls_lib_reason(reason, sizeof reason));
}

/* A session must not outlive its host nor its verification policy: RFC 5077 leaves that to us (CVE-2025-23419). */
static int set_session_context(SSL_CTX *ctx, const struct tls_cert *cert, const struct tls_verify *verify)
{
    unsigned char id[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    struct strbuf text = STRBUF_INIT;

    strbuf_add(&text, cert->digest, sizeof cert->digest);
    strbuf_addf(&text, " verify=%d ", (int)verify->mode);
    if (verify->authorities != NULL)
        strbuf_add(&text, verify->authorities->digest, sizeof verify->authorities->digest);
    int good = EVP_Digest(text.data, text.length, id, &length, EVP_sha256(), NULL) == 1 &&
               SSL_CTX_set_session_id_context(ctx, id, length) == 1;
    strbuf_clear(&text);
    return good ? 0 : -1;
}

/* Answers the client's server_name, and makes the library remember it in the session: RFC 6066, section 3. */
static int on_server_name(SSL *ssl, int *alert, void *arg)
{
    (void)alert;
    (void)arg;
    return SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) != NULL ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

/* Our first protocol that the client has too; no overlap is no_application_protocol: RFC 7301, section 3.2. */
static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_length, const unsigned char *in,
                   unsigned int in_length, void *arg)
{
    const char *ours = arg;

    (void)ssl;
    while (*ours != '\0') {
        size_t length = strcspn(ours, ",");

        for (unsigned int i = 0; i < in_length && i + in[i] < in_length; i += 1u + in[i]) {
            if (in[i] == length && memcmp(in + i + 1, ours, length) == 0) {
                *out = in + i + 1;
                *out_length = in[i];
                return SSL_TLSEXT_ERR_OK;
            }
        }
        ours += length + (ours[length] == ',' ? 1 : 0);
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void set_modes(SSL_CTX *ctx, const struct tls_context_options *options)
{
    uint64_t flags = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_PRIORITIZE_CHACHA;

#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
    flags |= SSL_OP_NO_RX_CERTIFICATE_COMPRESSION | SSL_OP_NO_TX_CERTIFICATE_COMPRESSION;
#endif
    if (options->tls->prefer_server_ciphers)
        flags |= SSL_OP_CIPHER_SERVER_PREFERENCE;
    SSL_CTX_set_options(ctx, flags);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 1);
    SSL_CTX_set_tlsext_servername_callback(ctx, on_server_name);
    if (options->alpn_protos != NULL)
        SSL_CTX_set_alpn_select_cb(ctx, on_alpn, (void *)(uintptr_t)options->alpn_protos);
}

SSL_CTX *tls_context_new(const struct tls_cert *cert, const struct tls_context_options *options, struct error *errors)
{
    char reason[TLS_REASON_MAX];
    struct place place = {.file = cert->label};
    struct tls_ticket_keys keys = *options->keys;
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    int result = 0;

    ERR_clear_error();
    if (ctx == NULL || set_versions(ctx, options->tls->versions) < 0 || tls_verify_set(ctx, options->verify) < 0 ||
        set_session_context(ctx, cert, options->verify) < 0 ||
        SSL_CTX_set_tlsext_ticket_keys(ctx, keys.bytes, sizeof keys.bytes) != 1)
        result = error_add(errors, &place, "cannot set up TLS: %s", tls_lib_reason(reason, sizeof reason));
    OPENSSL_cleanse(&keys, sizeof keys);
    if (result == 0) {
        set_modes(ctx, options);
        if (set_ciphers(ctx, options, errors) < 0)
            result = -1;
        if (set_groups(ctx, cert, options, errors) < 0)
            result = -1;
        if (set_certificate(ctx, cert, errors) < 0)
            result = -1;
    }
    if (result < 0) {
        SSL_CTX_free(ctx);
        return NULL;
    }
    return ctx;
}
