#include "proxy/proxy_tlv.h"

#include <string.h>

#include "base/check.h"

void proxy_writer_bytes(struct proxy_writer *writer, const void *bytes, size_t length)
{
    if (writer->overflow || length > writer->size - writer->length) {
        writer->overflow = true;
        return;
    }
    if (writer->buffer != NULL && length > 0)
        memcpy(writer->buffer + writer->length, bytes, length);
    writer->length += length;
}

void proxy_writer_u8(struct proxy_writer *writer, uint8_t value)
{
    proxy_writer_bytes(writer, &value, 1);
}

void proxy_writer_u16(struct proxy_writer *writer, uint16_t value)
{
    uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};

    proxy_writer_bytes(writer, bytes, sizeof bytes);
}

void proxy_writer_u32(struct proxy_writer *writer, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};

    proxy_writer_bytes(writer, bytes, sizeof bytes);
}

void proxy_writer_patch_u16(struct proxy_writer *writer, size_t offset, uint16_t value)
{
    if (writer->overflow)
        return;
    CHECK(offset <= writer->length && writer->length - offset >= 2);
    if (writer->buffer == NULL)
        return;
    writer->buffer[offset] = (uint8_t)(value >> 8);
    writer->buffer[offset + 1] = (uint8_t)value;
}

size_t proxy_writer_begin(struct proxy_writer *writer, uint8_t type)
{
    size_t mark = writer->length;

    proxy_writer_u8(writer, type);
    proxy_writer_u16(writer, 0);
    return mark;
}

void proxy_writer_end(struct proxy_writer *writer, size_t mark)
{
    if (writer->overflow)
        return;
    CHECK(mark <= writer->length && writer->length - mark >= PROXY_TLV_HEAD_SIZE);

    size_t length = writer->length - mark - PROXY_TLV_HEAD_SIZE;

    if (length > PROXY_TLV_VALUE_MAX)
        writer->overflow = true;
    else
        proxy_writer_patch_u16(writer, mark + 1, (uint16_t)length);
}

void proxy_writer_tlv(struct proxy_writer *writer, uint8_t type, const void *value, size_t length)
{
    size_t mark = proxy_writer_begin(writer, type);

    proxy_writer_bytes(writer, value, length);
    proxy_writer_end(writer, mark);
}

void proxy_writer_tlv_text(struct proxy_writer *writer, uint8_t type, const char *text)
{
    if (text != NULL)
        proxy_writer_tlv(writer, type, text, strlen(text));
}

bool proxy_tlv_next(struct proxy_tlv_iterator *iterator, struct proxy_tlv *tlv)
{
    if (iterator->left < PROXY_TLV_HEAD_SIZE)
        return false;

    const uint8_t *head = iterator->next;
    size_t length = (size_t)head[1] << 8 | head[2];

    if (length > iterator->left - PROXY_TLV_HEAD_SIZE)
        return false;
    tlv->type = head[0];
    tlv->value = head + PROXY_TLV_HEAD_SIZE;
    tlv->length = length;
    iterator->next += PROXY_TLV_HEAD_SIZE + length;
    iterator->left -= PROXY_TLV_HEAD_SIZE + length;
    return true;
}

bool proxy_tlv_valid(const uint8_t *bytes, size_t length)
{
    struct proxy_tlv_iterator iterator = proxy_tlv_iterate(bytes, length);
    struct proxy_tlv tlv;

    while (proxy_tlv_next(&iterator, &tlv))
        ;
    return iterator.left == 0;
}

bool proxy_tlv_find(struct proxy_tlv_iterator from, uint8_t type, struct proxy_tlv *tlv)
{
    while (proxy_tlv_next(&from, tlv))
        if (tlv->type == type)
            return true;
    return false;
}

bool proxy_ssl_view(const struct proxy_tlv *tlv, struct proxy_ssl *ssl)
{
    if (tlv->type != PROXY_TLV_SSL || tlv->length < PROXY_SSL_HEAD_SIZE)
        return false;

    const uint8_t *value = tlv->value;

    ssl->client = value[0];
    ssl->verify = (uint32_t)value[1] << 24 | (uint32_t)value[2] << 16 | (uint32_t)value[3] << 8 | value[4];
    ssl->tlvs = proxy_tlv_iterate(value + PROXY_SSL_HEAD_SIZE, tlv->length - PROXY_SSL_HEAD_SIZE);
    return proxy_tlv_valid(ssl->tlvs.next, ssl->tlvs.left);
}
