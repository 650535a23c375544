#include "proxy/proxy_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/proxy_v1.h"
#include "proxy/proxy_v2.h"
#include "proxy_test_addr.h"

#define SIGNATURE "\x0d\x0a\x0d\x0a\x00\x0d\x0a\x51\x55\x49\x54\x0a"
#define BYTES(literal) (const uint8_t *)(literal), sizeof(literal) - 1

/* From an allocation of exactly length bytes, so that a sanitizer sees every read behind them. */
static enum proxy_parse_result parse_copy(const uint8_t *bytes, size_t length, size_t limit,
                                          struct proxy_header *header)
{
    uint8_t *copy = malloc(length == 0 ? 1 : length);

    assert_non_null(copy);
    memcpy(copy, bytes, length);

    enum proxy_parse_result result = proxy_parse(copy, length, limit, header);

    free(copy); /* the TLVs are not looked at by who calls this */
    return result;
}

/* Every truncation wants more; the whole is done, also with payload behind it. */
static struct proxy_header check_done(const uint8_t *bytes, size_t length)
{
    struct proxy_header header;
    uint8_t *longer = malloc(length + 9);

    assert_non_null(longer);
    memcpy(longer, bytes, length);
    memcpy(longer + length, "GET / HTT", 9);
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(parse_copy(bytes, cut, PROXY_V2_MAX, &header), PROXY_NEED_MORE);
    for (size_t more = 0; more <= 9; more++) {
        assert_int_equal(parse_copy(longer, length + more, PROXY_V2_MAX, &header), PROXY_DONE);
        assert_int_equal(header.length, length);
    }
    free(longer);
    assert_int_equal(proxy_parse(bytes, length, PROXY_V2_MAX, &header), PROXY_DONE);
    return header;
}

/* Refused with this result, having wanted more before; and it stays so with more bytes. */
static void check_refused(enum proxy_parse_result expected, const uint8_t *bytes, size_t length)
{
    struct proxy_header header;
    uint8_t longer[512];
    size_t cut = 0;

    assert_in_range(length, 0, sizeof longer - 200);
    memset(longer, '\n', sizeof longer);
    memcpy(longer, bytes, length);
    while (parse_copy(bytes, cut, PROXY_V2_MAX, &header) == PROXY_NEED_MORE) {
        assert_true(cut < length);
        cut++;
    }
    for (; cut <= length + 200; cut++)
        assert_int_equal(parse_copy(longer, cut, PROXY_V2_MAX, &header), expected);
}

static void check_addr(const struct addr *addr, const char *expected)
{
    char text[ADDR_TEXT_MAX];

    assert_string_equal(addr_text(addr, text), expected);
}

static void test_v1_good(void **state)
{
    (void)state;
    struct proxy_header header = check_done(BYTES("PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n"));

    assert_int_equal(header.version, 1);
    assert_false(header.is_local);
    check_addr(&header.source, "192.168.0.1:56324");
    check_addr(&header.destination, "192.168.0.11:443");
    assert_int_equal(header.tlvs.left, 0);

    header = check_done(BYTES("PROXY TCP4 255.255.255.255 0.0.0.0 65535 0\r\n"));
    check_addr(&header.source, "255.255.255.255:65535");
    check_addr(&header.destination, "0.0.0.0:0");

    header = check_done(BYTES("PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
                              "FFFF:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"));
    check_addr(&header.source, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");
    check_addr(&header.destination, "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535");

    header = check_done(BYTES("PROXY TCP6 2001:DB8::1 ::ffff:192.0.2.1 1 2\r\n"));
    check_addr(&header.source, "[2001:db8::1]:1");
    check_addr(&header.destination, "[::ffff:192.0.2.1]:2");
}

static void test_v1_unknown(void **state)
{
    (void)state;
    struct proxy_header header = check_done(BYTES("PROXY UNKNOWN\r\n"));

    assert_true(header.is_local);
    assert_int_equal(header.source.family, ADDR_NONE);
    assert_int_equal(header.destination.family, ADDR_NONE);

    /* the worst case of the specification: 107 bytes, whose text must be ignored */
    header = check_done(BYTES("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
                              "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"));
    assert_int_equal(header.length, PROXY_V1_MAX);
    assert_true(header.is_local);
    assert_int_equal(header.source.family, ADDR_NONE);
    header = check_done(BYTES("PROXY UNKNOWN \xff\x00 anything\r\n"));
    assert_true(header.is_local);
}

static void test_v1_bad(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "PROXY \r\n",
        "PROXY TCP4\r\n",
        "PROXY TCP4 \r\n",
        "PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY tcp4 1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY UNKNOWNX\r\n",
        "PROXY UNKNOW\r\n",
        "PROXY UNKNOWN\n",
        "PROXY UNKNOWN\r \n",
        "PROXY UNKNOWN\r\r\n",
        "PROXY UNKNOWN a\nb\r\n",
        "PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP4 1.2.3.4  1.2.3.4 1 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4  1 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1  2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 \r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n",
        "PROXY TCP4 1.2.3.4\t1.2.3.4 1 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\rX",
        "PROXY TCP4 1.2.3.4 ::1 1 2\r\n",
        "PROXY TCP4 ::1 ::1 1 2\r\n",
        "PROXY TCP6 1.2.3.4 ::1 1 2\r\n",
        "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP4 1.2.3.04 1.2.3.4 1 2\r\n",
        "PROXY TCP4 1.2.3.256 1.2.3.4 1 2\r\n",
        "PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n",
        "PROXY TCP4 1.2.3.4.5 1.2.3.4 1 2\r\n",
        "PROXY TCP4 0x1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP4 -1.2.3.4 1.2.3.4 1 2\r\n",
        "PROXY TCP6 fe80::1%lo ::1 1 2\r\n",
        "PROXY TCP6 [::1] ::1 1 2\r\n",
        "PROXY TCP6 1::2::3 ::1 1 2\r\n",
        "PROXY TCP6 :::1 ::1 1 2\r\n",
        "PROXY TCP6 12345::1 ::1 1 2\r\n",
        "PROXY TCP6 1:2:3:4:5:6:7 ::1 1 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 00\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 99999999999999999999\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 +1 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1a 2\r\n",
        "PROXY TCP4 localhost 1.2.3.4 1 2\r\n",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        check_refused(PROXY_MALFORMED, (const uint8_t *)lines[i], strlen(lines[i]));
    check_refused(PROXY_MALFORMED, BYTES("PROXY TCP4 1.2.3.4\0 1.2.3.4 1 2\r\n"));
    check_refused(PROXY_MALFORMED, BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1\0 2\r\n"));
}

static void test_v1_length_limit(void **state)
{
    (void)state;
    uint8_t line[PROXY_V1_MAX + 10];
    struct proxy_header header;

    memset(line, 'x', sizeof line);
    memcpy(line, "PROXY UNKNOWN ", 14);
    check_refused(PROXY_MALFORMED, line, PROXY_V1_MAX);
    assert_int_equal(proxy_parse(line, PROXY_V1_MAX - 1, PROXY_V2_MAX, &header), PROXY_NEED_MORE);

    /* a carriage return as byte 107, so that the line feed would be one too far */
    line[PROXY_V1_MAX - 1] = '\r';
    line[PROXY_V1_MAX] = '\n';
    check_refused(PROXY_MALFORMED, line, PROXY_V1_MAX + 1);
}

static void test_not_proxy(void **state)
{
    (void)state;
    check_refused(PROXY_NOT_PROXY, BYTES("GET / HTTP/1.1\r\n"));
    check_refused(PROXY_NOT_PROXY, BYTES("PROXX TCP4"));
    check_refused(PROXY_NOT_PROXY, BYTES("PROXYTCP4"));
    check_refused(PROXY_NOT_PROXY, BYTES("proxy TCP4"));
    check_refused(PROXY_NOT_PROXY, BYTES("\x16\x03\x01\x02\x00\x01"));
    check_refused(PROXY_NOT_PROXY, BYTES("\r\n\r\nGET / HTTP/1.0"));
    check_refused(PROXY_NOT_PROXY, BYTES("\x0d\x0a\x0d\x0a\x00\x0d\x0aQUIT\r"));
    check_refused(PROXY_NOT_PROXY, BYTES("\0"));
}

static void test_v2_addresses(void **state)
{
    (void)state;
    struct proxy_header header = check_done(
        BYTES(SIGNATURE "\x21\x11\x00\x0c\xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb"));

    assert_int_equal(header.version, 2);
    assert_false(header.is_local);
    check_addr(&header.source, "192.168.0.1:56324");
    check_addr(&header.destination, "192.168.0.11:443");
    assert_int_equal(header.tlvs.left, 0);

    header = check_done(BYTES(SIGNATURE "\x21\x21\x00\x24"
                                        "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"
                                        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"
                                        "\xdc\x04\x01\xbb"));
    check_addr(&header.source, "[2001:db8::1]:56324");
    check_addr(&header.destination, "[::1]:443");
}

static void test_v2_without_addresses(void **state)
{
    (void)state;
    struct proxy_header header = check_done(BYTES(SIGNATURE "\x20\x00\x00\x00"));

    assert_true(header.is_local);

    /* LOCAL: the block is discarded whatever it holds, and the family is ignored */
    header = check_done(BYTES(SIGNATURE "\x20\x11\x00\x03\x01\xff\xff"));
    assert_true(header.is_local);
    assert_int_equal(header.source.family, ADDR_NONE);
    assert_int_equal(header.tlvs.left, 0);
    header = check_done(BYTES(SIGNATURE "\x20\xff\x00\x00"));
    assert_true(header.is_local);

    /* PROXY of something unspecified */
    header = check_done(BYTES(SIGNATURE "\x21\x00\x00\x05what?"));
    assert_true(header.is_local);
    assert_int_equal(header.source.family, ADDR_NONE);
    header = check_done(BYTES(SIGNATURE "\x21\x10\x00\x00"));
    assert_true(header.is_local);
    header = check_done(BYTES(SIGNATURE "\x21\x01\x00\x00"));
    assert_true(header.is_local);
}

static void test_v2_other_transports(void **state)
{
    (void)state;
    static const uint8_t families[] = {0x31, 0x32};

    for (size_t i = 0; i < sizeof families; i++) {
        uint8_t bytes[16 + 216 + 4] = SIGNATURE "\x21";

        bytes[13] = families[i];
        bytes[15] = 216 + 4;
        bytes[16 + 216] = PROXY_TLV_NOOP;
        bytes[16 + 216 + 2] = 1;

        struct proxy_header header = check_done(bytes, sizeof bytes);

        assert_false(header.is_local);
        assert_int_equal(header.source.family, ADDR_NONE);
        assert_int_equal(header.tlvs.left, 4);
        bytes[15] = 215;
        check_refused(PROXY_MALFORMED, bytes, 16 + 215);
    }

    struct proxy_header header = check_done(
        BYTES(SIGNATURE "\x21\x12\x00\x0c\xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb"));

    assert_false(header.is_local);
    assert_int_equal(header.source.family, ADDR_NONE);
}

static void test_v2_bad_heads(void **state)
{
    (void)state;
    check_refused(PROXY_MALFORMED, BYTES(SIGNATURE "\x11\x11\x00\x00"));
    check_refused(PROXY_MALFORMED, BYTES(SIGNATURE "\x31\x11\x00\x00"));
    check_refused(PROXY_MALFORMED, BYTES(SIGNATURE "\x22\x11\x00\x00"));
    check_refused(PROXY_MALFORMED, BYTES(SIGNATURE "\x21\x41\x00\x00"));
    check_refused(PROXY_MALFORMED, BYTES(SIGNATURE "\x21\x13\x00\x00"));
    check_refused(PROXY_MALFORMED, BYTES(SIGNATURE "\x21\x11\x00\x0b\xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01"));
    check_refused(PROXY_MALFORMED, BYTES(SIGNATURE "\x21\x21\x00\x0c\xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb"));
}

static void test_v2_limit(void **state)
{
    (void)state;
    struct proxy_header header;
    static const uint8_t bytes[] = SIGNATURE "\x21\x11\x00\x0c\xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb";

    assert_int_equal(proxy_parse(bytes, 28, 28, &header), PROXY_DONE);
    assert_int_equal(proxy_parse(bytes, 28, 27, &header), PROXY_MALFORMED);
    assert_int_equal(proxy_parse(bytes, 16, 27, &header), PROXY_MALFORMED); /* refused before the rest has come */
    assert_int_equal(proxy_parse(bytes, 15, 27, &header), PROXY_NEED_MORE);
}

static void check_tlv(struct proxy_tlv_iterator from, uint8_t type, const char *expected)
{
    struct proxy_tlv tlv;

    assert_true(proxy_tlv_find(from, type, &tlv));
    assert_int_equal(tlv.length, strlen(expected));
    assert_memory_equal(tlv.value, expected, tlv.length);
}

static void test_v2_tlvs_of_our_own(void **state)
{
    (void)state;
    struct proxy_v2_info info = {
        .source = address("2001:db8::1", 1024),
        .destination = address("10.0.0.2", 443),
        .alpn = (const uint8_t *)"http/1.1",
        .alpn_length = 8,
        .authority = "example.com",
        .client_cert_pem = "-----BEGIN",
        .client_cert_pem_length = 10,
        .has_ssl = true,
        .ssl_client = PROXY_CLIENT_SSL | PROXY_CLIENT_CERT_SESS,
        .ssl_verify = 0x01020304,
        .ssl_version = "TLSv1.3",
        .ssl_cipher = "TLS_AES_128_GCM_SHA256",
        .ssl_group = "X25519MLKEM768",
    };
    uint8_t bytes[512];
    size_t length = proxy_v2_write(bytes, sizeof bytes, &info);

    assert_true(length > 0);

    struct proxy_header header = check_done(bytes, length);
    struct proxy_tlv tlv;
    struct proxy_ssl ssl;

    check_addr(&header.source, "[2001:db8::1]:1024");
    check_addr(&header.destination, "[::ffff:10.0.0.2]:443");
    check_tlv(header.tlvs, PROXY_TLV_ALPN, "http/1.1");
    check_tlv(header.tlvs, PROXY_TLV_AUTHORITY, "example.com");
    check_tlv(header.tlvs, PROXY_TLV_CLIENT_CERT, "-----BEGIN");
    assert_false(proxy_tlv_find(header.tlvs, PROXY_TLV_SSL_VERSION, &tlv));
    assert_false(proxy_ssl_view(&(struct proxy_tlv){.type = PROXY_TLV_ALPN, .value = bytes, .length = 100}, &ssl));
    assert_true(proxy_tlv_find(header.tlvs, PROXY_TLV_SSL, &tlv));
    assert_true(proxy_ssl_view(&tlv, &ssl));
    assert_int_equal(ssl.client, PROXY_CLIENT_SSL | PROXY_CLIENT_CERT_SESS);
    assert_int_equal(ssl.verify, 0x01020304);
    check_tlv(ssl.tlvs, PROXY_TLV_SSL_VERSION, "TLSv1.3");
    check_tlv(ssl.tlvs, PROXY_TLV_SSL_CIPHER, "TLS_AES_128_GCM_SHA256");
    check_tlv(ssl.tlvs, PROXY_TLV_SSL_GROUP, "X25519MLKEM768");
}

/* Every wrong length of the TLVs, with the header's length made to match what is there. */
static void test_v2_bad_tlvs(void **state)
{
    (void)state;
#define TCP4(length) SIGNATURE "\x21\x11\x00" length "\x0a\0\0\x01\x0a\0\0\x02\0\x01\0\x02"
    check_refused(PROXY_MALFORMED, BYTES(TCP4("\x0d") "\x04"));
    check_refused(PROXY_MALFORMED, BYTES(TCP4("\x0e") "\x04\x00"));
    check_refused(PROXY_MALFORMED, BYTES(TCP4("\x0f") "\x04\x00\x01"));
    check_refused(PROXY_MALFORMED, BYTES(TCP4("\x10") "\x04\x00\x02x"));
    check_refused(PROXY_MALFORMED, BYTES(TCP4("\x10") "\x04\xff\xffx"));
    check_refused(PROXY_MALFORMED, BYTES(TCP4("\x10") "\x04\x00\x00x"));
    check_refused(PROXY_MALFORMED, BYTES(TCP4("\x13") "\x20\x00\x04\x01\x00\x00\x00"));
    check_refused(PROXY_MALFORMED, BYTES(TCP4("\x16") "\x20\x00\x07\x01\x00\x00\x00\x00\x21\x00"));
    check_refused(PROXY_MALFORMED, BYTES(TCP4("\x17") "\x20\x00\x08\x01\x00\x00\x00\x00\x21\x00\x01"));

    struct proxy_header header = check_done(BYTES(TCP4("\x0f") "\x04\x00\x00"));
    struct proxy_tlv tlv;

    assert_true(proxy_tlv_next(&header.tlvs, &tlv));
    assert_int_equal(tlv.type, PROXY_TLV_NOOP);
    assert_int_equal(tlv.length, 0);
    assert_false(proxy_tlv_next(&header.tlvs, &tlv));
    assert_false(proxy_tlv_next(&header.tlvs, &tlv));
    check_done(BYTES(TCP4("\x14") "\x20\x00\x05\x00\x00\x00\x00\x01"));
#undef TCP4
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v1_good),
        cmocka_unit_test(test_v1_unknown),
        cmocka_unit_test(test_v1_bad),
        cmocka_unit_test(test_v1_length_limit),
        cmocka_unit_test(test_not_proxy),
        cmocka_unit_test(test_v2_addresses),
        cmocka_unit_test(test_v2_without_addresses),
        cmocka_unit_test(test_v2_other_transports),
        cmocka_unit_test(test_v2_bad_heads),
        cmocka_unit_test(test_v2_limit),
        cmocka_unit_test(test_v2_tlvs_of_our_own),
        cmocka_unit_test(test_v2_bad_tlvs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
