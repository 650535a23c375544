/*
 * proxy_fuzz.c: PROXY headers from anybody.
 *
 * The same answer however the bytes are cut; nothing read behind them; what is accepted is whole; and what was
 * understood, written again, is understood the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "proxy/proxy_ip.h"
#include "proxy/proxy_parse.h"
#include "proxy/proxy_v1.h"
#include "proxy/proxy_v2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool addr_equal(const struct addr *a, const struct addr *b)
{
    return a->family == b->family && a->port == b->port && memcmp(a->bytes, b->bytes, addr_size(a)) == 0;
}

static void check_same(const struct proxy_header *a, const struct proxy_header *b)
{
    CHECK(a->version == b->version && a->length == b->length && a->is_local == b->is_local);
    CHECK(addr_equal(&a->source, &b->source) && addr_equal(&a->destination, &b->destination));
    CHECK(a->tlvs.left == b->tlvs.left);
}

/* From its own allocation, so that a read behind the end is seen. */
static enum proxy_parse_result parse_prefix(const uint8_t *data, size_t size, size_t limit, struct proxy_header *header)
{
    uint8_t *copy = malloc(size == 0 ? 1 : size);

    if (size > 0)
        memcpy(copy, data, size);

    enum proxy_parse_result result = proxy_parse(copy, size, limit, header);

    free(copy);
    return result;
}

static void check_cuts(const uint8_t *data, size_t size, size_t limit)
{
    struct proxy_header whole;
    struct proxy_header part;
    enum proxy_parse_result expected = parse_prefix(data, size, limit, &whole);
    bool is_decided = false;

    for (size_t cut = 0; cut <= size && cut < 600; cut++) {
        enum proxy_parse_result result = parse_prefix(data, cut, limit, &part);

        CHECK(!is_decided || result == expected);
        if (result == PROXY_NEED_MORE)
            continue;
        is_decided = true;
        CHECK(result == expected);
        if (result == PROXY_DONE) {
            CHECK(cut >= part.length);
            check_same(&whole, &part);
        }
    }
}

static void check_tlvs(struct proxy_tlv_iterator tlvs)
{
    struct proxy_tlv tlv;
    volatile uint8_t sink = 0;

    while (proxy_tlv_next(&tlvs, &tlv)) {
        struct proxy_ssl ssl;

        for (size_t i = 0; i < tlv.length; i++)
            sink = (uint8_t)(sink + tlv.value[i]);
        CHECK(proxy_ssl_view(&tlv, &ssl) == (tlv.type == PROXY_TLV_SSL));
    }
    CHECK(tlvs.left == 0);
}

static const char *text_of(struct proxy_tlv_iterator tlvs, uint8_t type, char *buffer, size_t size)
{
    struct proxy_tlv tlv;

    if (!proxy_tlv_find(tlvs, type, &tlv) || tlv.length >= size || memchr(tlv.value, 0, tlv.length) != NULL)
        return NULL;
    memcpy(buffer, tlv.value, tlv.length);
    buffer[tlv.length] = '\0';
    return buffer;
}

static void check_text(struct proxy_tlv_iterator tlvs, uint8_t type, const char *expected)
{
    struct proxy_tlv tlv;

    CHECK(proxy_tlv_find(tlvs, type, &tlv) == (expected != NULL));
    CHECK(expected == NULL || (tlv.length == strlen(expected) && memcmp(tlv.value, expected, tlv.length) == 0));
}

static void check_round_trip_v2(const struct proxy_header *header)
{
    static uint8_t buffer[PROXY_V2_MAX];
    char authority[300];
    char version[300];
    struct proxy_tlv tlv = {.length = 0};
    struct proxy_ssl ssl;
    struct proxy_v2_info info = {.source = header->source, .destination = header->destination};
    struct proxy_header again;

    if (proxy_tlv_find(header->tlvs, PROXY_TLV_ALPN, &tlv)) {
        info.alpn = tlv.value;
        info.alpn_length = tlv.length;
    }
    info.authority = text_of(header->tlvs, PROXY_TLV_AUTHORITY, authority, sizeof authority);
    info.has_ssl = proxy_tlv_find(header->tlvs, PROXY_TLV_SSL, &tlv) && proxy_ssl_view(&tlv, &ssl);
    if (info.has_ssl) {
        info.ssl_client = ssl.client;
        info.ssl_verify = ssl.verify;
        info.ssl_version = text_of(ssl.tlvs, PROXY_TLV_SSL_VERSION, version, sizeof version);
    }

    size_t length = proxy_v2_write(buffer, sizeof buffer, &info);

    CHECK(length == proxy_v2_size(&info) && length > 0);
    CHECK(proxy_v2_write(buffer, length - 1, &info) == 0);
    CHECK(proxy_v2_write(buffer, length, &info) == length);
    CHECK(proxy_parse(buffer, length, PROXY_V2_MAX, &again) == PROXY_DONE && again.length == length);
    CHECK(addr_equal(&header->source, &again.source) && addr_equal(&header->destination, &again.destination));
    if (again.is_local)
        return;
    check_text(again.tlvs, PROXY_TLV_AUTHORITY, info.authority);
    CHECK(proxy_tlv_find(again.tlvs, PROXY_TLV_SSL, &tlv) == info.has_ssl);
    if (info.has_ssl) {
        CHECK(proxy_ssl_view(&tlv, &ssl) && ssl.client == info.ssl_client && ssl.verify == info.ssl_verify);
        check_text(ssl.tlvs, PROXY_TLV_SSL_VERSION, info.ssl_version);
    }
}

static void check_round_trip_v1(const struct proxy_header *header)
{
    uint8_t buffer[PROXY_V1_MAX];
    struct proxy_header again;
    size_t length = proxy_v1_write(buffer, sizeof buffer, &header->source, &header->destination);

    CHECK(length > 0 && proxy_v1_write(buffer, length - 1, &header->source, &header->destination) == 0);
    CHECK(proxy_parse(buffer, length, PROXY_V2_MAX, &again) == PROXY_DONE && again.length == length);
    CHECK(addr_equal(&header->source, &again.source) && addr_equal(&header->destination, &again.destination));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proxy_header header;

    if (size < 1)
        return 0;

    size_t limit = data[0] == 0 ? PROXY_V2_MAX : data[0] * (size_t)8;

    data++;
    size--;
    check_cuts(data, size, limit);
    if (proxy_parse(data, size, limit, &header) != PROXY_DONE)
        return 0;
    CHECK(header.length <= size);
    CHECK(header.version == 1 ? header.length <= PROXY_V1_MAX : header.length <= limit);
    check_tlvs(header.tlvs);
    check_round_trip_v1(&header);
    check_round_trip_v2(&header);
    return 0;
}
