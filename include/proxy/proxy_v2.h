/*
 * proxy_v2.h: writes the binary header of the PROXY protocol, version 2.
 *
 * PROXY protocol specification, section 2.2. The order of the TLVs is hitch's:
 *
 *     signature 12 | 0x21 | family | length 2 | addresses and ports 12 or 36
 *     ALPN 0x01, AUTHORITY 0x02, client certificate 0xe0, SSL 0x20 { VERSION 0x21, CIPHER 0x23, GROUP 0x26 }
 *
 * What is absent in struct proxy_v2_info is not written. The caller decides by its configuration (proxy-tlv,
 * proxy-authority, proxy-client-cert) what it fills in.
 */
#ifndef HALTER_PROXY_PROXY_V2_H
#define HALTER_PROXY_PROXY_V2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "proxy/proxy_tlv.h"

enum {
    PROXY_V2_SIGNATURE_SIZE = 12,
    PROXY_V2_HEAD_SIZE = 16,                   /* signature, version and command, family, length */
    PROXY_V2_MAX = PROXY_V2_HEAD_SIZE + 65535, /* the longest header that can be expressed */
    PROXY_V2_VERIFY_NO_CERT = 1,               /* ssl_verify when the client gave no certificate */
};

extern const uint8_t proxy_v2_signature[PROXY_V2_SIGNATURE_SIZE];

/* All pointers are borrowed for the call. */
struct proxy_v2_info {
    struct addr source;
    struct addr destination;

    const uint8_t *alpn; /* the negotiated protocol; not written when alpn_length is 0 */
    size_t alpn_length;
    const char *authority;       /* the server name that the client asked for; NULL */
    const char *client_cert_pem; /* not written when client_cert_pem_length is 0 */
    size_t client_cert_pem_length;

    bool has_ssl;            /* write the SSL TLV with the fields below */
    uint8_t ssl_client;      /* set of enum proxy_client_bit */
    uint32_t ssl_verify;     /* the verify result; 0 is "verified", PROXY_V2_VERIFY_NO_CERT without a certificate */
    const char *ssl_version; /* "TLSv1.3"; NULL */
    const char *ssl_cipher;  /* "TLS_AES_128_GCM_SHA256"; NULL */
    const char *ssl_group;   /* "X25519MLKEM768"; NULL */
};

/*
 * Writes the header. Families are chosen as in proxy_v1_write(). When an address is ADDR_NONE, it is the LOCAL command
 * with family UNSPEC and nothing behind the head (a receiver must discard whatever stands there).
 * Returns its length; 0 when it does not fit in size bytes, or not into the protocol's 16-bit lengths.
 */
size_t proxy_v2_write(uint8_t *buffer, size_t size, const struct proxy_v2_info *info)
    __attribute__((warn_unused_result));

/* The exact length that proxy_v2_write() needs; 0 when the protocol cannot express it. */
size_t proxy_v2_size(const struct proxy_v2_info *info) __attribute__((warn_unused_result));

#endif
