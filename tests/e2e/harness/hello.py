"""ClientHellos by hand, and reading of the unencrypted part of the answer (RFC 8446, section 4)."""

import os
import struct
from collections import namedtuple

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

TLS12, TLS13 = 0x0303, 0x0304
X25519, P256, X25519MLKEM768 = 0x001D, 0x0017, 0x11EC
AES128_SHA256, AES256_SHA384, CHACHA20_SHA256 = 0x1301, 0x1302, 0x1303
SIGNATURES = (0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0807)

HANDSHAKE, ALERT, CHANGE_CIPHER_SPEC, APPLICATION_DATA = 22, 21, 20, 23
RETRY_RANDOM = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")

ALERT_NAMES = {
    0: "close_notify",
    10: "unexpected_message",
    20: "bad_record_mac",
    22: "record_overflow",
    40: "handshake_failure",
    47: "illegal_parameter",
    50: "decode_error",
    70: "protocol_version",
    80: "internal_error",
    90: "user_canceled",
    100: "no_renegotiation",
    109: "missing_extension",
    112: "unrecognized_name",
    120: "no_application_protocol",
}

Record = namedtuple("Record", "type version payload")
ServerHello = namedtuple("ServerHello", "retry cipher version group")


def vector(size, data):
    return len(data).to_bytes(size, "big") + data


def extension(number, data):
    return struct.pack(">H", number) + vector(2, data)


def x25519_share():
    key = X25519PrivateKey.generate().public_key()
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def key_share(group):
    """A valid share. The all-zero polynomials are a well-formed ML-KEM-768 key (FIPS 203, section 7.2)."""
    if group == X25519MLKEM768:
        return bytes(1184) + x25519_share()
    if group == X25519:
        return x25519_share()
    raise ValueError(group)


def client_hello(
    name=None,
    versions=(TLS13, TLS12),
    ciphers=(AES128_SHA256, AES256_SHA384, CHACHA20_SHA256, 0xC02B, 0xC02F, 0xCCA9, 0xCCA8),
    groups=(X25519, P256),
    shares=(X25519,),
    alpn=(),
    padding=0,
    extra=b"",
):
    """The handshake message ClientHello."""
    extensions = b""
    if name is not None:
        extensions += extension(0, vector(2, b"\0" + vector(2, name.encode())))
    extensions += extension(10, vector(2, b"".join(struct.pack(">H", g) for g in groups)))
    extensions += extension(11, vector(1, b"\0"))
    extensions += extension(13, vector(2, b"".join(struct.pack(">H", s) for s in SIGNATURES)))
    if alpn:
        extensions += extension(16, vector(2, b"".join(vector(1, p.encode()) for p in alpn)))
    if TLS13 in versions:
        extensions += extension(43, vector(1, b"".join(struct.pack(">H", v) for v in versions)))
        extensions += extension(45, vector(1, b"\x01"))
        entries = b"".join(struct.pack(">H", g) + vector(2, key_share(g)) for g in shares)
        extensions += extension(51, vector(2, entries))
    extensions += extra
    if padding:
        extensions += extension(21, bytes(padding))
    content = struct.pack(">H", min(TLS12, max(versions))) + os.urandom(32) + vector(1, os.urandom(32))
    content += vector(2, b"".join(struct.pack(">H", c) for c in ciphers)) + vector(1, b"\0") + vector(2, extensions)
    return b"\x01" + vector(3, content)


def records(message, size=16384, kind=HANDSHAKE, version=0x0301):
    """The message in records of at most size bytes."""
    return b"".join(
        struct.pack(">BH", kind, version) + vector(2, message[start : start + size])
        for start in range(0, len(message), size)
    )


def read_record(wire):
    kind, version, length = struct.unpack(">BHH", wire.recv_exact(5))
    return Record(kind, version, wire.recv_exact(length))


def read_answer(wire):
    """The server's first record: a ServerHello, or the alert's name."""
    record = read_record(wire)
    if record.type == ALERT:
        return alert_name(record)
    assert record.type == HANDSHAKE, record
    return parse_server_hello(record.payload)


def alert_name(record):
    assert record.type == ALERT and len(record.payload) == 2, record
    return ALERT_NAMES.get(record.payload[1], str(record.payload[1]))


def parse_server_hello(message):
    assert message[0] == 2, message[:4]
    at = 4 + 2
    random = message[at : at + 32]
    at += 32
    at += 1 + message[at]
    cipher = struct.unpack_from(">H", message, at)[0]
    at += 3
    end = 4 + int.from_bytes(message[1:4], "big")  # other messages may follow in the record
    at += 2  # the extensions, if there are any
    version, group = struct.unpack_from(">H", message, 4)[0], None
    while at < end:
        number, length = struct.unpack_from(">HH", message, at)
        data = message[at + 4 : at + 4 + length]
        if number == 43:
            version = struct.unpack(">H", data)[0]
        elif number == 51:
            group = struct.unpack_from(">H", data)[0]
        at += 4 + length
    return ServerHello(random == RETRY_RANDOM, cipher, version, group)
