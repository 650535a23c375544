#include "proxy/proxy_v2.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy_test_addr.h"

#define SIGNATURE 0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a

/* Exact bytes, in every buffer that is large enough; nothing at all in every one that is not. */
static void check_bytes(const struct proxy_v2_info *info, const uint8_t *expected, size_t length)
{
    assert_int_equal(proxy_v2_size(info), length);
    for (size_t size = 0; size <= length + 1; size++) {
        uint8_t *buffer = malloc(size + 1);

        assert_non_null(buffer);
        memset(buffer, 0xee, size + 1);
        assert_int_equal(proxy_v2_write(buffer, size, info), size < length ? 0 : length);
        if (size >= length)
            assert_memory_equal(buffer, expected, length);
        assert_int_equal(buffer[size], 0xee);
        free(buffer);
    }
}

static void test_ipv4_alone(void **state)
{
    (void)state;
    static const uint8_t expected[] = {SIGNATURE, 0x21, 0x11, 0x00, 0x0c, 192,  168,  0,   1,
                                       192,       168,  0,    11,   0xdc, 0x04, 0x01, 0xbb};
    struct proxy_v2_info info = {.source = address("192.168.0.1", 56324), .destination = address("192.168.0.11", 443)};

    check_bytes(&info, expected, sizeof expected);
}

static void test_ipv6_alone(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        SIGNATURE, 0x21, 0x21, 0x00, 0x24, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,    0,    0,    0,    1,
        0,         0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 1, 0xdc, 0x04, 0x01, 0xbb,
    };
    struct proxy_v2_info info = {.source = address("2001:db8::1", 56324), .destination = address("::1", 443)};

    check_bytes(&info, expected, sizeof expected);
}

static void test_mixed_families_are_mapped(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        SIGNATURE, 0x21, 0x21, 0x00, 0x24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192,  0,    2,    1,
        0x20,      0x01, 0x0d, 0xb8, 0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,    0x00, 0x01, 0xff, 0xff,
    };
    struct proxy_v2_info info = {.source = address("192.0.2.1", 1), .destination = address("2001:db8::1", 65535)};

    check_bytes(&info, expected, sizeof expected);
}

static void test_no_address_is_local(void **state)
{
    (void)state;
    static const uint8_t expected[] = {SIGNATURE, 0x20, 0x00, 0x00, 0x00};
    struct proxy_v2_info info = {.authority = "example.com", .has_ssl = true, .ssl_version = "TLSv1.3"};

    check_bytes(&info, expected, sizeof expected);
    info.source = address("192.0.2.1", 1);
    check_bytes(&info, expected, sizeof expected);
}

/* What hitch sends for a TLS 1.3 client with ALPN and SNI. */
static void test_tlvs_in_hitchs_order(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        SIGNATURE, 0x21, 0x11, 0x00, 12 + 5 + 14 + 6 + 3 + 40,
        10,        0,    0,    1,    10,
        0,         0,    2,    0x04, 0x00,
        0x01,      0xbb, 0x01, 0x00, 0x02,
        'h',       '2',  0x02, 0x00, 0x0b,
        'e',       'x',  'a',  'm',  'p',
        'l',       'e',  '.',  'c',  'o',
        'm',       0xe0, 0x00, 0x03, 'P',
        'E',       'M',  0x20, 0x00, 5 + 10 + 25,
        0x07,      0x00, 0x00, 0x00, 0x12,
        0x21,      0x00, 0x07, 'T',  'L',
        'S',       'v',  '1',  '.',  '3',
        0x23,      0x00, 0x16, 'T',  'L',
        'S',       '_',  'A',  'E',  'S',
        '_',       '1',  '2',  '8',  '_',
        'G',       'C',  'M',  '_',  'S',
        'H',       'A',  '2',  '5',  '6',
    };
    struct proxy_v2_info info = {
        .source = address("10.0.0.1", 1024),
        .destination = address("10.0.0.2", 443),
        .alpn = (const uint8_t *)"h2",
        .alpn_length = 2,
        .authority = "example.com",
        .client_cert_pem = "PEM",
        .client_cert_pem_length = 3,
        .has_ssl = true,
        .ssl_client = PROXY_CLIENT_SSL | PROXY_CLIENT_CERT_CONN | PROXY_CLIENT_CERT_SESS,
        .ssl_verify = 18,
        .ssl_version = "TLSv1.3",
        .ssl_cipher = "TLS_AES_128_GCM_SHA256",
    };

    check_bytes(&info, expected, sizeof expected);
}

static void test_group(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        SIGNATURE, 0x21, 0x11, 0x00, 12 + 3 + 5 + 10 + 4 + 9,
        10,        0,    0,    1,    10,
        0,         0,    2,    0x04, 0x00,
        0x01,      0xbb, 0x20, 0x00, 5 + 10 + 4 + 9,
        0x01,      0x00, 0x00, 0x00, 0x01,
        0x21,      0x00, 0x07, 'T',  'L',
        'S',       'v',  '1',  '.',  '2',
        0x23,      0x00, 0x01, 'C',  0x26,
        0x00,      0x06, 'X',  '2',  '5',
        '5',       '1',  '9',
    };
    struct proxy_v2_info info = {
        .source = address("10.0.0.1", 1024),
        .destination = address("10.0.0.2", 443),
        .has_ssl = true,
        .ssl_client = PROXY_CLIENT_SSL,
        .ssl_verify = PROXY_V2_VERIFY_NO_CERT,
        .ssl_version = "TLSv1.2",
        .ssl_cipher = "C",
        .ssl_group = "X25519",
    };

    check_bytes(&info, expected, sizeof expected);
}

/* A value of 65535 bytes fits into a TLV but not into the header with it; a longer one not even into the TLV. */
static void test_lengths_that_cannot_be_expressed(void **state)
{
    (void)state;
    size_t room = 65535 - 12 - PROXY_TLV_HEAD_SIZE;
    size_t size = 2 * PROXY_V2_MAX;
    char *pem = malloc(size);
    uint8_t *buffer = malloc(size);
    struct proxy_v2_info info = {.source = address("10.0.0.1", 1), .destination = address("10.0.0.2", 2)};

    assert_non_null(pem);
    assert_non_null(buffer);
    memset(pem, 'P', size);
    info.client_cert_pem = pem;
    info.client_cert_pem_length = room;
    assert_int_equal(proxy_v2_size(&info), PROXY_V2_MAX);
    assert_int_equal(proxy_v2_write(buffer, size, &info), PROXY_V2_MAX);
    assert_int_equal(buffer[14], 0xff);
    assert_int_equal(buffer[15], 0xff);
    for (size_t more = 1; more < 20; more++) {
        info.client_cert_pem_length = room + more;
        assert_int_equal(proxy_v2_size(&info), 0);
        assert_int_equal(proxy_v2_write(buffer, size, &info), 0);
    }
    free(pem);
    free(buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ipv4_alone),
        cmocka_unit_test(test_ipv6_alone),
        cmocka_unit_test(test_mixed_families_are_mapped),
        cmocka_unit_test(test_no_address_is_local),
        cmocka_unit_test(test_tlvs_in_hitchs_order),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_lengths_that_cannot_be_expressed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
