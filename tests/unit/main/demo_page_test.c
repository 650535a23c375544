#include "demo_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/proxy_v2.h"

static void take_facts(struct demo_facts *facts, const char *server_name)
{
    uint8_t bytes[2048];
    struct proxy_header header;
    struct proxy_v2_info info = {
        .source = {.family = ADDR_IPV4, .bytes = {192, 0, 2, 1}, .port = 1024},
        .destination = {.family = ADDR_IPV4, .bytes = {192, 0, 2, 2}, .port = 443},
        .alpn = (const uint8_t *)"ht\0p<\x1b",
        .alpn_length = 6,
        .authority = server_name,
        .has_ssl = true,
        .ssl_client = PROXY_CLIENT_SSL,
        .ssl_verify = PROXY_V2_VERIFY_NO_CERT,
        .ssl_version = "TLSv1.3",
        .ssl_cipher = "TLS_AES_128_GCM_SHA256",
        .ssl_group = "X25519MLKEM768",
    };
    size_t length = proxy_v2_write(bytes, sizeof bytes, &info);

    assert_true(length > 0);
    assert_int_equal(proxy_parse(bytes, length, PROXY_V2_MAX, &header), PROXY_DONE);
    demo_facts_take(facts, &header);
}

static void test_facts(void **state)
{
    (void)state;
    struct demo_facts facts;
    char name[1000];

    take_facts(&facts, NULL);
    assert_int_equal(facts.proxy_version, 2);
    assert_string_equal(facts.server_name, "");
    assert_string_equal(facts.alpn, "ht?p<\x1b");
    assert_string_equal(facts.tls_version, "TLSv1.3");
    assert_string_equal(facts.cipher, "TLS_AES_128_GCM_SHA256");
    assert_string_equal(facts.group, "X25519MLKEM768");
    assert_false(facts.client_cert);

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    take_facts(&facts, name);
    assert_int_equal(strlen(facts.server_name), DEMO_TEXT_MAX - 1);
}

static struct demo_page page_of(const struct demo_facts *facts)
{
    static const char head[] = "GET /<&>\"' HTTP/1.1\r\nX: \x1b[31m\xff\x7f\t.\r\n\r\n";
    static const char body[] = "<b>\0\x01</b>";

    return (struct demo_page){
        .facts = facts,
        .request_number = 3,
        .head = head,
        .head_length = sizeof head - 1,
        .body = body,
        .body_shown = sizeof body - 1,
        .body_length = 1000,
    };
}

/* Nothing but visible ASCII, tabs and line feeds. */
static void check_bytes(const struct strbuf *text)
{
    for (size_t i = 0; i < text->length; i++) {
        unsigned char byte = (unsigned char)text->data[i];

        assert_true(byte == '\n' || byte == '\t' || (byte >= ' ' && byte <= '~'));
    }
}

static void test_text(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    struct demo_facts facts;

    take_facts(&facts, "localhost");

    struct demo_page page = page_of(&facts);

    demo_page_add_text(&text, &page);
    check_bytes(&text);
    assert_non_null(strstr(text.data, "PROXY protocol, version 2:\n  client        192.0.2.1:1024\n"));
    assert_non_null(strstr(text.data, "  connected to  192.0.2.2:443\n"));
    assert_non_null(strstr(text.data, "  server name   localhost\n"));
    assert_non_null(strstr(text.data, "  ALPN          ht?p<\\x1b\n"));
    assert_non_null(strstr(text.data, "  TLS version   TLSv1.3\n"));
    assert_non_null(strstr(text.data, "  cipher        TLS_AES_128_GCM_SHA256\n"));
    assert_non_null(strstr(text.data, "  group         X25519MLKEM768\n"));
    assert_non_null(
        strstr(text.data, "\nRequest 3 of this connection:\nGET /<&>\"' HTTP/1.1\nX: \\x1b[31m\\xff\\x7f\t.\n"));
    assert_non_null(strstr(text.data, "\nBody, 1000 bytes:\n<b>\\x00\\x01</b>\n... and 991 bytes more\n"));
    strbuf_clear(&text);
}

static void test_html(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    struct demo_facts facts;

    take_facts(&facts, "<script>alert('\"&\")</script>");

    struct demo_page page = page_of(&facts);

    demo_page_add_html(&text, &page);
    check_bytes(&text);
    assert_null(strstr(text.data, "<script"));
    assert_null(strstr(text.data, "<b>"));
    assert_non_null(strstr(text.data, "<td>&lt;script&gt;alert(&#39;&quot;&amp;&quot;)&lt;/script&gt;</td>"));
    assert_non_null(strstr(text.data, "GET /&lt;&amp;&gt;&quot;&#39; HTTP/1.1\n"));
    assert_non_null(strstr(text.data, "&lt;b&gt;\\x00\\x01&lt;/b&gt;"));
    assert_non_null(strstr(text.data, "<tr><th>group</th><td>X25519MLKEM768</td></tr>"));
    strbuf_clear(&text);
}

static void test_nothing_known(void **state)
{
    (void)state;
    struct strbuf text = STRBUF_INIT;
    struct demo_facts facts = {.proxy_version = 1};
    struct demo_page page = {.facts = &facts, .request_number = 1, .head = "", .body = ""};

    demo_page_add_text(&text, &page);
    assert_non_null(strstr(text.data, "  client        -\n"));
    assert_non_null(strstr(text.data, "  group         (none)\n"));
    strbuf_clear(&text);
    demo_page_add_html(&text, &page);
    assert_null(strstr(text.data, "Body"));
    strbuf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_nothing_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
