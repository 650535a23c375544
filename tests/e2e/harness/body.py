"""Bodies whose every byte is known, of any length, without keeping them."""

import hashlib
import random

_BLOCK = random.Random(20).getrandbits(8 * (1 << 18)).to_bytes(1 << 18, "little")


def blocks(length):
    """The body of this length, in blocks; no two of them are equal, so a swap or a loss shows in the hash."""
    index = 0
    while length > 0:
        turn = (index * 257) % len(_BLOCK)
        block = (_BLOCK[turn:] + _BLOCK[:turn])[:length]
        yield block
        length -= len(block)
        index += 1


def body(length):
    return b"".join(blocks(length))


def digest(data):
    """SHA-256 in hexadecimal, of bytes or of an iterable of bytes."""
    sha = hashlib.sha256()
    for part in (data,) if isinstance(data, (bytes, bytearray)) else data:
        sha.update(part)
    return sha.hexdigest()


def body_digest(length):
    return digest(blocks(length))
