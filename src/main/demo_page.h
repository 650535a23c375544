/*
 * demo_page.h: the page of `halter demo`: shows a client what reached the backend.
 *
 * Pure. All that came from the client is escaped: for HTML, and for terminals (control bytes and bytes above 0x7e as
 * \xNN).
 */
#ifndef HALTER_SRC_MAIN_DEMO_PAGE_H
#define HALTER_SRC_MAIN_DEMO_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/strbuf.h"
#include "proxy/proxy_parse.h"

enum { DEMO_TEXT_MAX = 256, DEMO_BODY_SHOWN = 4096 };

/* What the PROXY header said; texts are as they came, "" when there was none. Longer ones are cut. */
struct demo_facts {
    unsigned proxy_version;
    struct addr client;
    struct addr frontend;
    char server_name[DEMO_TEXT_MAX];
    char alpn[DEMO_TEXT_MAX];
    char tls_version[DEMO_TEXT_MAX];
    char cipher[DEMO_TEXT_MAX];
    char group[DEMO_TEXT_MAX];
    bool client_cert;
};

/* Copies what header says; NUL bytes in its texts become '?'. */
void demo_facts_take(struct demo_facts *facts, const struct proxy_header *header);

struct demo_page {
    const struct demo_facts *facts;
    unsigned long request_number; /* on this connection, from 1 */
    const char *head;             /* of the request */
    size_t head_length;
    const char *body; /* its first bytes, at most DEMO_BODY_SHOWN */
    size_t body_shown;
    uint64_t body_length;
};

/* Adds the page to out. */
void demo_page_add_text(struct strbuf *out, const struct demo_page *page);
void demo_page_add_html(struct strbuf *out, const struct demo_page *page);

#endif
