/*
 * proxy_tlv.h: the Type-Length-Value vectors of the PROXY protocol, version 2: a bounded writer and a safe iterator.
 *
 * PROXY protocol specification, section 2.2 ("TLV vectors") and 2.2.1 to 2.2.8:
 *
 *     +------+-----------+-----------+---------------+
 *     | type | length hi | length lo | value ...     |
 *     +------+-----------+-----------+---------------+
 *
 * Writing, with one level of nesting or more:
 *
 *     struct proxy_writer writer = proxy_writer_over(buffer, size);
 *     proxy_writer_tlv(&writer, PROXY_TLV_ALPN, "h2", 2);
 *     size_t mark = proxy_writer_begin(&writer, PROXY_TLV_SSL);
 *     ...
 *     proxy_writer_end(&writer, mark);
 *     if (writer.overflow) ...
 *
 * Invariant: a writer never writes at or behind buffer + size; once something did not fit, overflow stays true and
 * nothing more is written.
 */
#ifndef HALTER_PROXY_PROXY_TLV_H
#define HALTER_PROXY_PROXY_TLV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types on the wire. Values that are not listed occur, too: a TLV's type is a plain uint8_t. */
enum proxy_tlv_type {
    PROXY_TLV_ALPN = 0x01,
    PROXY_TLV_AUTHORITY = 0x02,
    PROXY_TLV_CRC32C = 0x03,
    PROXY_TLV_NOOP = 0x04,
    PROXY_TLV_UNIQUE_ID = 0x05,
    PROXY_TLV_SSL = 0x20,
    PROXY_TLV_SSL_VERSION = 0x21, /* from here to SSL_GROUP: inside of PROXY_TLV_SSL only */
    PROXY_TLV_SSL_CN = 0x22,
    PROXY_TLV_SSL_CIPHER = 0x23,
    PROXY_TLV_SSL_SIG_ALG = 0x24,
    PROXY_TLV_SSL_KEY_ALG = 0x25,
    PROXY_TLV_SSL_GROUP = 0x26,
    PROXY_TLV_NETNS = 0x30,
    PROXY_TLV_CLIENT_CERT = 0xe0, /* hitch's: the client's certificate as PEM (section 2.2.8: application-specific) */
};

/* Bits of the first byte of PROXY_TLV_SSL, section 2.2.6. */
enum proxy_client_bit {
    PROXY_CLIENT_SSL = 0x01,       /* the client came over TLS */
    PROXY_CLIENT_CERT_CONN = 0x02, /* it gave a certificate in this connection */
    PROXY_CLIENT_CERT_SESS = 0x04, /* it gave a certificate at least once in this TLS session */
};

enum { PROXY_TLV_HEAD_SIZE = 3, PROXY_TLV_VALUE_MAX = 65535, PROXY_SSL_HEAD_SIZE = 5 };

/* Writer */

struct proxy_writer {
    uint8_t *buffer; /* NULL: nothing is written, only length counted */
    size_t size;
    size_t length; /* written so far; with a NULL buffer: what would have been */
    bool overflow;
};

/* A writer over size bytes at buffer (borrowed). */
static inline struct proxy_writer proxy_writer_over(uint8_t *buffer, size_t size)
{
    return (struct proxy_writer){.buffer = buffer, .size = size};
}

/* A writer that only counts. */
static inline struct proxy_writer proxy_writer_counting(void)
{
    return (struct proxy_writer){.size = SIZE_MAX};
}

void proxy_writer_bytes(struct proxy_writer *writer, const void *bytes, size_t length);
void proxy_writer_u8(struct proxy_writer *writer, uint8_t value);
void proxy_writer_u16(struct proxy_writer *writer, uint16_t value); /* network order */
void proxy_writer_u32(struct proxy_writer *writer, uint32_t value); /* network order */

/* One whole TLV. A value longer than PROXY_TLV_VALUE_MAX is an overflow. */
void proxy_writer_tlv(struct proxy_writer *writer, uint8_t type, const void *value, size_t length);

/* As proxy_writer_tlv() with a NUL-terminated text; a NULL text writes nothing. */
void proxy_writer_tlv_text(struct proxy_writer *writer, uint8_t type, const char *text);

/* Begins a TLV whose value is all that is written up to proxy_writer_end() with the returned mark. */
size_t proxy_writer_begin(struct proxy_writer *writer, uint8_t type) __attribute__((warn_unused_result));
void proxy_writer_end(struct proxy_writer *writer, size_t mark);

/* Writes value over the two bytes at offset, which must have been written before. For length fields. */
void proxy_writer_patch_u16(struct proxy_writer *writer, size_t offset, uint16_t value);

/* Reader */

struct proxy_tlv {
    uint8_t type;
    const uint8_t *value; /* borrowed, not NUL-terminated; not NULL even when length is 0 */
    size_t length;
};

struct proxy_tlv_iterator {
    const uint8_t *next;
    size_t left;
};

/* length bytes of TLVs at bytes (borrowed). */
static inline struct proxy_tlv_iterator proxy_tlv_iterate(const uint8_t *bytes, size_t length)
{
    return (struct proxy_tlv_iterator){.next = bytes, .left = length};
}

/* The next TLV; false at the end, and at a TLV that is cut off (then iterator->left is not 0). */
bool proxy_tlv_next(struct proxy_tlv_iterator *iterator, struct proxy_tlv *tlv);

/* True when the bytes are a whole number of TLVs; none at all is fine. */
bool proxy_tlv_valid(const uint8_t *bytes, size_t length);

/* Finds the first TLV of this type. False when there is none. */
bool proxy_tlv_find(struct proxy_tlv_iterator from, uint8_t type, struct proxy_tlv *tlv);

/* The value of PROXY_TLV_SSL, section 2.2.6. */
struct proxy_ssl {
    uint8_t client;                 /* set of enum proxy_client_bit */
    uint32_t verify;                /* 0: the client gave a certificate and it was verified */
    struct proxy_tlv_iterator tlvs; /* PROXY_TLV_SSL_* */
};

/* Looks into a PROXY_TLV_SSL. False when it is not one or is malformed. The iterator borrows from tlv->value. */
bool proxy_ssl_view(const struct proxy_tlv *tlv, struct proxy_ssl *ssl);

#endif
