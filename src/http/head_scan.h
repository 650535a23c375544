/*
 * head_scan.h: the bytes of a request head or trailer section, as RFC 9112 sections 2, 3 and 5 have them, strictly.
 *
 * For: where the head ends, where its lines and names begin and end, and whether every byte may stand where it does.
 * Not for: what fields mean. Lines end with CR LF and nothing else; no folding, no blanks around names, no other CTL
 * than HTAB, and that in values only; one SP between the parts of the request line; HTTP/1.1 or HTTP/1.0.
 *
 * The first wrong byte decides, so that the outcome does not depend on how the bytes were cut. A scan that ran out of
 * bytes goes on where it stopped when more come; the places of lines are complete only when one call saw the whole
 * head.
 */
#ifndef HALTER_HTTP_HEAD_SCAN_H
#define HALTER_HTTP_HEAD_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "http/http_policy.h"
#include "http/http_refusal.h"

enum scan_state {
    SCAN_METHOD,
    SCAN_TARGET,
    SCAN_VERSION,
    SCAN_LINE_LF,
    SCAN_FIELD, /* the first byte of a line */
    SCAN_NAME,
    SCAN_VALUE,
    SCAN_VALUE_LF,
    SCAN_END_LF,
};

enum scan_verdict { SCAN_MORE, SCAN_DONE, SCAN_REFUSED };

/* How far a scan has come. */
struct head_scan {
    uint32_t offset; /* bytes seen */
    uint32_t mark;   /* where the element began that the scan is in */
    uint16_t fields;
    enum scan_state state : 8;
};

/* What is to become of a field. */
enum field_action {
    FIELD_KEEP,
    FIELD_DROP,
    FIELD_CONNECTION,         /* keep what may be kept of the list */
    FIELD_CONNECTION_UPGRADE, /* the same, if there is no upgrade; else keep */
    FIELD_UPGRADE,            /* drop, if there is no upgrade; else keep */
    FIELD_UPGRADE_PART,       /* the same, without HTTP/2 */
    FIELD_FORWARDED_FOR,      /* its value goes into the one at the end */
};

struct head_field {
    uint32_t start; /* of the name */
    uint32_t colon; /* behind the name */
    uint32_t end;   /* the CR */
    enum field_action action;
};

struct head_lines {
    uint32_t method_end;
    uint32_t target; /* begins */
    uint32_t target_end;
    uint32_t minor; /* of the version */
    uint32_t fields;
    uint32_t end; /* behind the empty line */
    struct head_field field[HTTP_FIELDS_MAX];
};

/* Begins a head, or a trailer section (which has no request line). */
void head_scan_init(struct head_scan *scan, bool trailer);

/*
 * Goes on with the head that begins at in, of which length bytes are there: the same bytes as before, with more behind.
 * DONE: lines is filled in (after a scan of more than one call: call once more after head_scan_init). REFUSED:
 * *refusal.
 */
enum scan_verdict head_scan_step(struct head_scan *scan, const struct http_policy *policy, const uint8_t *in,
                                 size_t length, struct head_lines *lines, enum http_refusal *refusal)
    __attribute__((warn_unused_result));

#endif
