"""A reader of PROXY protocol headers, versions 1 and 2, written from the specification and independent of halter's."""

import ipaddress
import struct
from collections import namedtuple

Header = namedtuple("Header", "version family source destination tlvs raw")

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
ALPN, AUTHORITY, SSL, SSL_VERSION, SSL_CIPHER = 0x01, 0x02, 0x20, 0x21, 0x23


def read_v1(wire):
    line = wire.recv_line()
    assert line.endswith(b"\r\n") and len(line) <= 107, line
    word, family, source, destination, source_port, destination_port = line[:-2].decode("ascii").split(" ")
    assert word == "PROXY" and family in ("TCP4", "TCP6"), line
    return Header(1, family, (source, int(source_port)), (destination, int(destination_port)), [], line)


def read_v2(wire):
    fixed = wire.recv_exact(16)
    assert fixed[:12] == SIGNATURE, fixed
    assert fixed[12] == 0x21, "version 2, command PROXY"
    rest = wire.recv_exact(struct.unpack(">H", fixed[14:16])[0])
    size, family = {0x11: (4, "TCP4"), 0x21: (16, "TCP6")}[fixed[13]]
    source_port, destination_port = struct.unpack_from(">HH", rest, 2 * size)
    source = (str(ipaddress.ip_address(rest[:size])), source_port)
    destination = (str(ipaddress.ip_address(rest[size : 2 * size])), destination_port)
    return Header(2, family, source, destination, read_tlvs(rest[2 * size + 4 :]), fixed + rest)


def read_tlvs(data):
    found = []
    while data:
        kind, length = struct.unpack_from(">BH", data)
        assert len(data) >= 3 + length, data
        found.append((kind, data[3 : 3 + length]))
        data = data[3 + length :]
    return found


def read_ssl_tlv(value):
    """client bits, verify result, inner TLVs."""
    client, verify = struct.unpack_from(">BI", value)
    return client, verify, dict(read_tlvs(value[5:]))
