/* HTTP mode as configured: lists, prefixes, the lines that requests get, and the answer to plain HTTP. */
#include "http_site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "http_plain.h"

static struct config config;
static struct error errors;
static struct filter_site *site;
static struct filter_client client;

static int set_up(void **state)
{
    (void)state;
    config_init(&config);
    config.frontends = mem_new(1, sizeof *config.frontends);
    config.frontend_count = 1;
    struct conf_http *http = &config.frontends[0].http;
    http->on = true;
    http->max_head_bytes = 16384;
    http->max_fields = 100;
    error_init(&errors);
    memset(&client, 0, sizeof client);
    assert_true(addr_parse_host(&client.source, "192.0.2.7", 9));
    client.destination.port = 443;
    client.facts.version = "TLSv1.3";
    client.facts.cipher = "TLS_AES_128_GCM_SHA256";
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    http_site_free(site);
    site = NULL;
    error_clear(&errors);
    config_clear(&config);
    return 0;
}

static struct conf_http *http(void)
{
    return &config.frontends[0].http;
}

static void build(void)
{
    site = http_site_new(&config, 0, &errors);
    assert_non_null(site);
    assert_int_equal(0, errors.count);
}

static void assert_lines(const char *expected)
{
    struct strbuf lines = STRBUF_INIT;

    http_site_render(site, &client, &lines);
    assert_string_equal(expected, lines.data);
    strbuf_clear(&lines);
}

static bool strips(const char *name)
{
    return http_names_match(&site->strip, (const uint8_t *)name, strlen(name));
}

static void test_defaults(void **state)
{
    (void)state;
    http()->add = mem_strdup("x-forwarded-for,x-forwarded-proto");
    build();
    assert_lines("X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n");
    assert_true(strips("X_FORWARDED_Anything"));
    assert_true(strips("x-forward-for"));
    assert_true(strips("forwarded"));
    assert_true(strips("X-Real-Ip"));
    assert_false(strips("Via"));
    assert_false(strips("X-Forward"));
}

static void test_all_additions(void **state)
{
    (void)state;
    http()->add = mem_strdup("Forwarded X-Real-IP,x-forwarded-port x-forwarded-tls-version, X-Forwarded-TLS-Cipher,"
                             "x-forwarded-tls-sni,x-forwarded-host");
    client.facts.sni = "www.example.com";
    build();
    assert_lines("X-Forwarded-Port: 443\r\nX-Real-IP: 192.0.2.7\r\nForwarded: for=192.0.2.7;proto=https\r\n"
                 "X-Forwarded-TLS-Version: TLSv1.3\r\nX-Forwarded-TLS-Cipher: TLS_AES_128_GCM_SHA256\r\n"
                 "X-Forwarded-TLS-SNI: www.example.com\r\n");
}

static void test_ipv6(void **state)
{
    (void)state;
    http()->add = mem_strdup("x-forwarded-for,forwarded");
    assert_true(addr_parse_host(&client.source, "2001:db8::1", 11));
    build();
    assert_lines("X-Forwarded-For: 2001:db8::1\r\nForwarded: for=\"[2001:db8::1]\";proto=https\r\n");
}

static void test_a_name_cannot_end_its_line(void **state)
{
    (void)state;
    http()->add = mem_strdup("x-forwarded-tls-sni");
    client.facts.sni = "evil\r\nX-Forwarded-For: 6.6.6.6";
    build();
    assert_lines("X-Forwarded-TLS-SNI: evil??X-Forwarded-For: 6.6.6.6\r\n");
}

static void test_nothing_to_add(void **state)
{
    (void)state;
    http()->add = mem_strdup("none");
    build();
    assert_lines("");
}

static void test_trusted_prefixes(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        bool trusted;
    } cases[] = {{"192.0.2.1", true},     {"192.0.2.2", false},    {"10.1.2.3", true},    {"11.0.0.0", false},
                 {"172.16.5.5", true},    {"172.32.0.1", false},   {"2001:db8::9", true}, {"2001:db9::9", false},
                 {"203.0.113.127", true}, {"203.0.113.128", false}};

    http()->add = mem_strdup("x-forwarded-for");
    http()->trusted = mem_strdup("192.0.2.1, ::ffff:10.0.0.0/104 172.16.0.0/12,2001:db8::/32,203.0.113.0/25");
    build();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(addr_parse_host(&client.source, cases[i].address, strlen(cases[i].address)));
        assert_int_equal(cases[i].trusted, http_site_trusts(site, &client.source));
        struct strbuf expected = STRBUF_INIT;
        if (!cases[i].trusted)
            strbuf_addf(&expected, "X-Forwarded-For: %s\r\n", cases[i].address);
        assert_lines(expected.data);
        strbuf_clear(&expected);
    }
}

static void test_faults(void **state)
{
    (void)state;
    http()->add = mem_strdup("x-forwarded-for,host,x-nonsense");
    http()->strip = mem_strdup("content-length");
    http()->trusted = mem_strdup("10.0.0.0/33,elsewhere,::1/129,1.2.3.4/,1.2.3.4/1x");
    assert_null(http_site_new(&config, 0, &errors));
    assert_true(errors.error_count >= 8);
}

/* --- plain HTTP on the port of TLS --- */

static char answer[4096];

static void ask_plainly(const char *request)
{
    uint8_t buffer[3000];
    size_t length;
    const uint8_t *bytes = http_plain_answer(site, (const uint8_t *)request, strlen(request), buffer, sizeof buffer,
                                             &length);

    assert_true(length < sizeof answer);
    memcpy(answer, bytes, length);
    answer[length] = '\0';
}

static void assert_redirect(const char *request, const char *location)
{
    ask_plainly(request);
    assert_int_equal(0, strncmp(answer, "HTTP/1.1 308 ", 13));
    const char *found = strstr(answer, "Location: ");
    assert_non_null(found);
    found += strlen("Location: ");
    assert_int_equal(strlen(location), strcspn(found, "\r"));
    assert_int_equal(0, strncmp(found, location, strlen(location)));
}

static void assert_told(const char *request)
{
    ask_plainly(request);
    assert_int_equal(0, strncmp(answer, "HTTP/1.1 400 ", 13));
    const char *body = strstr(answer, "\r\n\r\n") + 4;
    assert_int_equal(strtoul(strstr(answer, "Content-Length: ") + 16, NULL, 10), strlen(body));
}

static void test_plain_http_is_told(void **state)
{
    (void)state;
    build();
    assert_told("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n");
    assert_told("GET");
}

static void test_plain_http_is_redirected(void **state)
{
    (void)state;
    http()->plain_redirect = true;
    build();
    assert_redirect("GET /a?b=c HTTP/1.1\r\nHost: example.com\r\n\r\n", "https://example.com/a?b=c");
    assert_redirect("GET / HTTP/1.1\r\nAccept: */*\r\nhost:example.com:8443\r\n\r\n", "https://example.com:8443/");
    /* what is no plain request for a page of a host is only told */
    assert_told("GET / HTTP/1.1\r\n\r\n");
    assert_told("GET / HTTP/1.1\r\nHost: a@b\r\n\r\n");
    assert_told("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n");
    assert_told("GET //evil.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n");
    assert_told("GET http://evil.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n");
    assert_told("GET /\x01 HTTP/1.1\r\nHost: example.com\r\n\r\n");
    assert_told("GET / HTTP/1.1\r\nHost: exam");
    assert_told("GET /nothing more");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_defaults),
        TEST(test_all_additions),
        TEST(test_ipv6),
        TEST(test_a_name_cannot_end_its_line),
        TEST(test_nothing_to_add),
        TEST(test_trusted_prefixes),
        TEST(test_faults),
        TEST(test_plain_http_is_told),
        TEST(test_plain_http_is_redirected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
