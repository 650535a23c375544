#include "demo_page.h"

#include <inttypes.h>
#include <string.h>

/* Facts */

static void copy_text(char text[DEMO_TEXT_MAX], struct proxy_tlv_iterator tlvs, uint8_t type)
{
    struct proxy_tlv tlv;

    text[0] = '\0';
    if (!proxy_tlv_find(tlvs, type, &tlv))
        return;

    size_t length = tlv.length < DEMO_TEXT_MAX ? tlv.length : DEMO_TEXT_MAX - 1;

    for (size_t i = 0; i < length; i++)
        text[i] = tlv.value[i] == '\0' ? '?' : (char)tlv.value[i];
    text[length] = '\0';
}

void demo_facts_take(struct demo_facts *facts, const struct proxy_header *header)
{
    struct proxy_tlv tlv;
    struct proxy_ssl ssl;

    memset(facts, 0, sizeof *facts);
    facts->proxy_version = header->version;
    facts->client = header->source;
    facts->frontend = header->destination;
    copy_text(facts->server_name, header->tlvs, PROXY_TLV_AUTHORITY);
    copy_text(facts->alpn, header->tlvs, PROXY_TLV_ALPN);
    if (!proxy_tlv_find(header->tlvs, PROXY_TLV_SSL, &tlv) || !proxy_ssl_view(&tlv, &ssl))
        return;
    copy_text(facts->tls_version, ssl.tlvs, PROXY_TLV_SSL_VERSION);
    copy_text(facts->cipher, ssl.tlvs, PROXY_TLV_SSL_CIPHER);
    copy_text(facts->group, ssl.tlvs, PROXY_TLV_SSL_GROUP);
    facts->client_cert = (ssl.client & PROXY_CLIENT_CERT_SESS) != 0;
}

/* Escaping */

typedef void adder(struct strbuf *out, const char *bytes, size_t length);

/* Line feeds stay; carriage returns, which only stand before them in what is shown here, vanish. */
static void add_plain(struct strbuf *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        if (byte == '\n' || byte == '\t' || (byte >= ' ' && byte <= '~'))
            strbuf_add(out, &bytes[i], 1);
        else if (byte != '\r')
            strbuf_addf(out, "\\x%02x", byte);
    }
}

static void add_html(struct strbuf *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        switch (bytes[i]) {
        case '&':
            strbuf_adds(out, "&amp;");
            break;
        case '<':
            strbuf_adds(out, "&lt;");
            break;
        case '>':
            strbuf_adds(out, "&gt;");
            break;
        case '"':
            strbuf_adds(out, "&quot;");
            break;
        case '\'':
            strbuf_adds(out, "&#39;");
            break;
        default:
            add_plain(out, &bytes[i], 1);
            break;
        }
    }
}

/* Rows: the same for both forms */

typedef void row_adder(struct strbuf *out, const char *name, const char *value);

static void add_plain_row(struct strbuf *out, const char *name, const char *value)
{
    strbuf_addf(out, "  %-13s ", name);
    add_plain(out, value, strlen(value));
    strbuf_adds(out, "\n");
}

static void add_html_row(struct strbuf *out, const char *name, const char *value)
{
    strbuf_addf(out, "<tr><th>%s</th><td>", name);
    add_html(out, value, strlen(value));
    strbuf_adds(out, "</td></tr>\n");
}

static const char *or_none(const char *text)
{
    return text[0] == '\0' ? "(none)" : text;
}

static void add_rows(struct strbuf *out, const struct demo_facts *facts, row_adder *add_row)
{
    char text[ADDR_TEXT_MAX];

    add_row(out, "client", addr_text(&facts->client, text));
    add_row(out, "connected to", addr_text(&facts->frontend, text));
    add_row(out, "server name", or_none(facts->server_name));
    add_row(out, "ALPN", or_none(facts->alpn));
    add_row(out, "TLS version", or_none(facts->tls_version));
    add_row(out, "cipher", or_none(facts->cipher));
    add_row(out, "group", or_none(facts->group));
    add_row(out, "client cert", facts->client_cert ? "yes" : "(none)");
}

static void add_body(struct strbuf *out, const struct demo_page *page, adder *add)
{
    add(out, page->body, page->body_shown);
    if (page->body_shown < page->body_length)
        strbuf_addf(out, "\n... and %" PRIu64 " bytes more", page->body_length - page->body_shown);
}

/* The head without its empty line. */
static size_t shown_head_length(const struct demo_page *page)
{
    return page->head_length >= 2 ? page->head_length - 2 : 0;
}

void demo_page_add_text(struct strbuf *out, const struct demo_page *page)
{
    strbuf_adds(out, "This came through halter, which took the TLS off. Here is what its backend was sent.\n\n");
    strbuf_addf(out, "PROXY protocol, version %u:\n", page->facts->proxy_version);
    add_rows(out, page->facts, add_plain_row);
    strbuf_addf(out, "\nRequest %lu of this connection:\n", page->request_number);
    add_plain(out, page->head, shown_head_length(page));
    if (page->body_length > 0) {
        strbuf_addf(out, "\nBody, %" PRIu64 " bytes:\n", page->body_length);
        add_body(out, page, add_plain);
        strbuf_adds(out, "\n");
    }
}

void demo_page_add_html(struct strbuf *out, const struct demo_page *page)
{
    strbuf_adds(out,
                "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>halter demo</title>\n"
                "<link rel=\"icon\" href=\"data:,\">\n"
                "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
                "body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 3rem auto; padding: 0 1rem; }\n"
                "th { text-align: left; padding-right: 2rem; font-weight: 600; white-space: nowrap; }\n"
                "td, pre { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }\n"
                "pre { background: #f3f3f3; color: #111; padding: 1rem; white-space: pre-wrap; }\n"
                "</style></head><body>\n<h1>halter demo</h1>\n"
                "<p>This came through halter, which took the TLS off. Here is what its backend was sent.</p>\n");
    strbuf_addf(out, "<h2>PROXY protocol, version %u</h2>\n<table>\n", page->facts->proxy_version);
    add_rows(out, page->facts, add_html_row);
    strbuf_addf(out, "</table>\n<h2>Request %lu of this connection</h2>\n<pre>", page->request_number);
    add_html(out, page->head, shown_head_length(page));
    strbuf_adds(out, "</pre>\n");
    if (page->body_length > 0) {
        strbuf_addf(out, "<h2>Body, %" PRIu64 " bytes</h2>\n<pre>", page->body_length);
        add_body(out, page, add_html);
        strbuf_adds(out, "</pre>\n");
    }
    strbuf_adds(out, "</body></html>\n");
}
