/*
 * proxy_parse.h: reads a PROXY protocol header, version 1 or 2.
 *
 * Give it all bytes of the connection so far, from the first on; while it says PROXY_NEED_MORE, call it again with more.
 *
 *     struct proxy_header header;
 *     switch (proxy_parse(bytes, length, limit, &header)) {
 *     case PROXY_DONE: payload starts at bytes + header.length; ...
 *
 * Invariants: the answer depends on the bytes alone, not on how they were cut: once it is not PROXY_NEED_MORE, it stays
 * the same with more bytes. It is given as soon as the bytes allow. Work per call is constant until the header is whole.
 * Everything in it comes from the peer: the caller must have decided by configuration, not by looking, that this peer
 * may send a header (specification, section 5).
 *
 * Strict where the specification is: single CR or LF, leading zeroes, missing or doubled blanks, unknown commands and
 * families, TLVs that are cut off are all malformed.
 */
#ifndef HALTER_PROXY_PROXY_PARSE_H
#define HALTER_PROXY_PROXY_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "proxy/proxy_tlv.h"

enum proxy_parse_result {
    PROXY_NEED_MORE,
    PROXY_DONE,
    PROXY_NOT_PROXY, /* the first bytes are neither "PROXY " nor the signature of version 2 */
    PROXY_MALFORMED, /* a header, but one that must not be accepted, or one longer than the limit */
};

struct proxy_header {
    unsigned version; /* 1 or 2 */
    size_t length;    /* of the header: the client's bytes begin there */

    /* LOCAL, UNKNOWN or UNSPEC: the endpoints of the connection itself count; both addresses are ADDR_NONE. */
    bool is_local;

    /* Both of one family. ADDR_NONE, too, for what is not TCP over IP (UDP, unix sockets). */
    struct addr source;
    struct addr destination;

    /* Version 2: the TLVs, checked to be whole, also those in PROXY_TLV_SSL. Borrowed from the parsed bytes. */
    struct proxy_tlv_iterator tlvs;
};

/*
 * limit: the longest header of version 2 to accept, its first 16 bytes included (PROXY_V2_MAX for no limit). A line of
 * version 1 is never longer than PROXY_V1_MAX.
 * header is filled in when the result is PROXY_DONE, and unspecified otherwise.
 */
enum proxy_parse_result proxy_parse(const uint8_t *bytes, size_t length, size_t limit, struct proxy_header *header)
    __attribute__((warn_unused_result));

#endif
