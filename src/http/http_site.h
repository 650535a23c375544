/*
 * http_site.h: HTTP mode as one frontend is configured for it. Made before the fork, then read only.
 */
#ifndef HALTER_HTTP_HTTP_SITE_H
#define HALTER_HTTP_HTTP_SITE_H

#include "base/addr.h"
#include "base/strbuf.h"
#include "conf/config.h"
#include "http/http_names.h"
#include "relay/filter.h"

/* X(name, field): what http-add can name, and the field that requests get for it. */
#define HTTP_ADDITIONS(X)                                                                                              \
    X(FORWARDED_FOR, "X-Forwarded-For")                                                                                \
    X(FORWARDED_PROTO, "X-Forwarded-Proto")                                                                            \
    X(FORWARDED_PORT, "X-Forwarded-Port")                                                                              \
    X(FORWARDED_HOST, "X-Forwarded-Host")                                                                              \
    X(REAL_IP, "X-Real-IP")                                                                                            \
    X(FORWARDED, "Forwarded")                                                                                          \
    X(TLS_VERSION, "X-Forwarded-TLS-Version")                                                                          \
    X(TLS_CIPHER, "X-Forwarded-TLS-Cipher")                                                                            \
    X(TLS_SNI, "X-Forwarded-TLS-SNI")                                                                                  \
    X(CLIENT_SUBJECT, "X-Forwarded-Client-Subject")                                                                    \
    X(CLIENT_SERIAL, "X-Forwarded-Client-Serial")                                                                      \
    X(CLIENT_FINGERPRINT, "X-Forwarded-Client-Fingerprint")                                                            \
    X(CLIENT_CERT, "X-Forwarded-Client-Cert")

enum http_addition {
#define X(name, field) HTTP_ADD_##name,
    HTTP_ADDITIONS(X)
#undef X
        HTTP_ADDITION_COUNT
};

/* An address and how many of its leading bits count. */
struct http_prefix {
    struct addr addr;
    unsigned bits;
};

struct filter_site {
    unsigned add; /* set of 1 << enum http_addition */
    struct http_names strip;
    struct http_prefix *trusted;
    size_t trusted_count;
    size_t head_max_bytes;
    unsigned fields_max;
    bool plain_redirect;
    bool is_redirect;   /* of http-redirect: all requests are answered with the way to https */
    char https_port[8]; /* behind the host in that answer, ":8443"; "" for 443, and when it is not known */
};

struct filter_site *http_site_new(const struct config *config, size_t frontend, struct error *errors)
    __attribute__((warn_unused_result));
void http_site_free(struct filter_site *site);

bool http_site_trusts(const struct filter_site *site, const struct addr *source);

/* The field lines that each request of this client gets, but for those that depend on the request. */
void http_site_render(const struct filter_site *site, const struct filter_client *client, struct strbuf *lines);

#endif
