#include "proxy/proxy_v2.h"

#include "proxy_pair.h"
#include "proxy_wire.h"

const uint8_t proxy_v2_signature[PROXY_V2_SIGNATURE_SIZE] = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
                                                             0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};

static void write_addresses(struct proxy_writer *writer, const struct proxy_pair *pair)
{
    proxy_writer_bytes(writer, pair->source.bytes, addr_size(&pair->source));
    proxy_writer_bytes(writer, pair->destination.bytes, addr_size(&pair->destination));
    proxy_writer_u16(writer, pair->source.port);
    proxy_writer_u16(writer, pair->destination.port);
}

/* Section 2.2.6. */
static void write_ssl(struct proxy_writer *writer, const struct proxy_v2_info *info)
{
    size_t mark = proxy_writer_begin(writer, PROXY_TLV_SSL);

    proxy_writer_u8(writer, info->ssl_client);
    proxy_writer_u32(writer, info->ssl_verify);
    proxy_writer_tlv_text(writer, PROXY_TLV_SSL_VERSION, info->ssl_version);
    proxy_writer_tlv_text(writer, PROXY_TLV_SSL_CIPHER, info->ssl_cipher);
    proxy_writer_tlv_text(writer, PROXY_TLV_SSL_GROUP, info->ssl_group);
    proxy_writer_end(writer, mark);
}

static void write_tlvs(struct proxy_writer *writer, const struct proxy_v2_info *info)
{
    if (info->alpn_length > 0)
        proxy_writer_tlv(writer, PROXY_TLV_ALPN, info->alpn, info->alpn_length);
    proxy_writer_tlv_text(writer, PROXY_TLV_AUTHORITY, info->authority);
    if (info->client_cert_pem_length > 0)
        proxy_writer_tlv(writer, PROXY_TLV_CLIENT_CERT, info->client_cert_pem, info->client_cert_pem_length);
    if (info->has_ssl)
        write_ssl(writer, info);
}

static size_t write_header(struct proxy_writer *writer, const struct proxy_v2_info *info)
{
    struct proxy_pair pair = proxy_pair_make(&info->source, &info->destination);
    bool is_local = pair.family == ADDR_NONE;

    proxy_writer_bytes(writer, proxy_v2_signature, sizeof proxy_v2_signature);
    proxy_writer_u8(writer, PROXY_WIRE_VERSION_2 | (is_local ? PROXY_WIRE_LOCAL : PROXY_WIRE_PROXY));
    if (is_local)
        proxy_writer_u8(writer, PROXY_WIRE_UNSPEC);
    else
        proxy_writer_u8(writer, pair.family == ADDR_IPV4 ? PROXY_WIRE_TCP4 : PROXY_WIRE_TCP6);
    proxy_writer_u16(writer, 0);
    if (!is_local) {
        write_addresses(writer, &pair);
        write_tlvs(writer, info);
    }
    if (writer->overflow || writer->length > PROXY_V2_MAX)
        return 0;
    proxy_writer_patch_u16(writer, PROXY_WIRE_LENGTH_AT, (uint16_t)(writer->length - PROXY_V2_HEAD_SIZE));
    return writer->length;
}

size_t proxy_v2_write(uint8_t *buffer, size_t size, const struct proxy_v2_info *info)
{
    if (buffer == NULL)
        return 0;

    struct proxy_writer writer = proxy_writer_over(buffer, size);

    return write_header(&writer, info);
}

size_t proxy_v2_size(const struct proxy_v2_info *info)
{
    struct proxy_writer writer = proxy_writer_counting();

    return write_header(&writer, info);
}
