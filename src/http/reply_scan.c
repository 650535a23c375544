#include "reply_scan.h"

#include <string.h>

enum { STATUS_SWITCHING_PROTOCOLS = 101 };

/* What llhttp takes from on_headers_complete. */
enum { BODY_AS_SAID = 0, NO_BODY = 1, NO_BODY_AND_UPGRADE = 2, STOP = -1 };

static bool is_interim(int status)
{
    return status >= 100 && status < 200 && status != STATUS_SWITCHING_PROTOCOLS;
}

static int on_message_begin(llhttp_t *parser)
{
    struct reply_scan *scan = parser->data;

    scan->in_reply = true;
    return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
    struct reply_scan *scan = parser->data;

    if (is_interim(parser->status_code))
        return BODY_AS_SAID;
    if (scan->kinds->count == 0)
        return STOP; /* a reply to nothing */
    switch (request_kinds_view(scan->kinds)) {
    case REQUEST_ORDINARY:
        return parser->status_code == STATUS_SWITCHING_PROTOCOLS ? STOP : BODY_AS_SAID;
    case REQUEST_HEAD:
        return parser->status_code == STATUS_SWITCHING_PROTOCOLS ? STOP : NO_BODY;
    case REQUEST_UPGRADE:
        if (parser->status_code != STATUS_SWITCHING_PROTOCOLS)
            return BODY_AS_SAID;
        scan->state = REPLY_SCAN_OPAQUE;
        return NO_BODY_AND_UPGRADE;
    case REQUEST_CONNECT:
        if (parser->status_code / 100 != 2)
            return BODY_AS_SAID;
        scan->state = REPLY_SCAN_OPAQUE;
        return NO_BODY_AND_UPGRADE;
    }
    return STOP;
}

static int on_message_complete(llhttp_t *parser)
{
    struct reply_scan *scan = parser->data;

    scan->in_reply = false;
    if (!is_interim(parser->status_code))
        (void)request_kinds_pop(scan->kinds);
    parser->upgrade = 0; /* only our own verdict switches */
    return 0;
}

static const llhttp_settings_t *settings(void)
{
    static llhttp_settings_t made = {.on_message_begin = on_message_begin,
                                     .on_headers_complete = on_headers_complete,
                                     .on_message_complete = on_message_complete};

    return &made;
}

void reply_scan_init(struct reply_scan *scan, struct request_kinds *kinds)
{
    memset(scan, 0, sizeof *scan);
    llhttp_init(&scan->parser, HTTP_RESPONSE, settings());
    llhttp_set_lenient_headers(&scan->parser, 1);
    llhttp_set_lenient_keep_alive(&scan->parser, 1);
    llhttp_set_lenient_version(&scan->parser, 1);
    llhttp_set_lenient_optional_lf_after_cr(&scan->parser, 1);
    llhttp_set_lenient_optional_cr_before_lf(&scan->parser, 1);
    llhttp_set_lenient_spaces_after_chunk_size(&scan->parser, 1);
    scan->parser.data = scan;
    scan->kinds = kinds;
    scan->state = REPLY_SCAN_GOOD;
}

void reply_scan_bytes(struct reply_scan *scan, const uint8_t *bytes, size_t length)
{
    if (scan->state != REPLY_SCAN_GOOD)
        return;
    llhttp_errno_t result = llhttp_execute(&scan->parser, (const char *)bytes, length);
    if (result != HPE_OK && scan->state == REPLY_SCAN_GOOD)
        scan->state = REPLY_SCAN_LOST;
}
