/*
 * proxy_wire.h: the numbers in the fixed part of a PROXY v2 header (specification, section 2.2).
 */
#ifndef HALTER_SRC_PROXY_PROXY_WIRE_H
#define HALTER_SRC_PROXY_PROXY_WIRE_H

enum {
    PROXY_WIRE_COMMAND_AT = 12,
    PROXY_WIRE_FAMILY_AT = 13,
    PROXY_WIRE_LENGTH_AT = 14,

    PROXY_WIRE_VERSION_2 = 0x20,
    PROXY_WIRE_LOCAL = 0x00,
    PROXY_WIRE_PROXY = 0x01,

    /* high half of the family byte */
    PROXY_WIRE_FAMILY_UNSPEC = 0x0,
    PROXY_WIRE_FAMILY_INET = 0x1,
    PROXY_WIRE_FAMILY_INET6 = 0x2,
    PROXY_WIRE_FAMILY_UNIX = 0x3,

    /* low half of the family byte */
    PROXY_WIRE_TRANSPORT_UNSPEC = 0x0,
    PROXY_WIRE_TRANSPORT_STREAM = 0x1,
    PROXY_WIRE_TRANSPORT_DGRAM = 0x2,

    PROXY_WIRE_UNSPEC = 0x00,
    PROXY_WIRE_TCP4 = 0x11,
    PROXY_WIRE_TCP6 = 0x21,

    PROXY_WIRE_INET_SIZE = 12,
    PROXY_WIRE_INET6_SIZE = 36,
    PROXY_WIRE_UNIX_SIZE = 216,
};

#endif
