"""The corpus of tests/unit/http/streams/, and a reader of HTTP/1 requests that is written from RFC 9112, not from halter."""

import io
import re
from collections import namedtuple

from .halter import REPOSITORY

FOLDER = REPOSITORY / "tests" / "unit" / "http" / "streams"
CLIENT = b"192.0.2.1"  # whose address the corpus has put into what goes out
ADDED_FOR = b"X-Forwarded-For: " + CLIENT + b"\r\n"
ADDED = b"X-Forwarded-Proto: https\r\n"

# data: what the client sends; out: what is passed on; end: "more", "held" or the refusal's word; count: of requests passed on
Stream = namedtuple("Stream", "name policy data out end count resume")

# complete: None when it is not known. forwarded: the values of X-Forwarded-For. refused: answered with an error.
Request = namedtuple("Request", "method target body complete forwarded refused", defaults=(b"", True, (), False))


# ---- corpus ----

_ESCAPES = {b"r": b"\r", b"n": b"\n", b"t": b"\t", b"e": b"\r\n", b"\\": b"\\"}


def _unescape(text, added):
    def replace(match):
        found = match.group(1)
        if found == b"+":
            return added
        return bytes([int(found[1:], 16)]) if found[:1] == b"x" else _ESCAPES[found]

    return re.sub(rb"\\(x[0-9A-Fa-f]{2}|.)", replace, text)


def _read_stream(lines):
    found = {"policy": [], "in": b"", "out": b"", "resume": False}
    for line in lines:
        if line == b"resume":
            found["resume"] = True
            continue
        key, _, value = line.partition(b":")
        value = value[1:] if value.startswith(b" ") else value
        key, _, times = key.decode().partition("*")
        if key in ("in", "out"):
            added = ADDED if "append" in found["policy"] else ADDED_FOR + ADDED
            found[key] += _unescape(value, added) * int(times or 1)
        elif key == "policy":
            found[key] = value.decode().split()
        else:
            found[key] = value.decode()
    word, _, count = found["end"].partition(" ")
    return Stream(found["name"], found["policy"], found["in"], found["out"], word, int(count or -1), found["resume"])


def read_streams(folder=FOLDER):
    """All streams of the corpus, in order."""
    streams = []
    for path in sorted(folder.glob("*.txt")):
        lines = [line for line in path.read_bytes().split(b"\n") if not line.startswith(b"#")]
        block = []
        for line in lines + [b""]:
            if line:
                block.append(line)
            elif block:
                streams.append(_read_stream(block))
                block = []
    return streams


# ---- requests ----

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = re.compile(rb"(%s) ([!-\"$-~]+) HTTP/1\.([01])\r\n" % _TOKEN)
_FIELD = re.compile(rb"(%s):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*\r\n" % _TOKEN)
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})\r\n")
_QUOTED = rb'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"'
_SIZE_EXTENDED = re.compile(
    rb"([0-9A-Fa-f]{1,16})(?:[ \t]*;[ \t]*%s(?:[ \t]*=[ \t]*(?:%s|%s))?)*\r\n" % (_TOKEN, _TOKEN, _QUOTED)
)
_CODING = re.compile(rb"(?:(?:x-)?gzip,[ \t]*|deflate,[ \t]*|(?:x-)?compress,[ \t]*)*chunked", re.IGNORECASE)
_LINE_MAX = 1 << 20


class RefusedError(Exception):
    """These bytes are no request that RFC 9112 allows; or they end too early."""


def _line(source, expression):
    line = source.readline(_LINE_MAX)
    match = expression.fullmatch(line)
    if match is None:
        raise RefusedError(line)
    return match


def _fields(source):
    """The field lines up to the empty one: (name in lower case, value)."""
    fields = []
    while True:
        line = source.readline(_LINE_MAX)
        if line == b"\r\n":
            return fields
        match = _FIELD.fullmatch(line)
        if match is None:
            raise RefusedError(line)
        fields.append((match.group(1).lower(), match.group(2)))


def _values(fields, name):
    return [value for key, value in fields if key == name]


def _options(fields):
    """What stands in Connection."""
    return {option.strip().lower() for value in _values(fields, b"connection") for option in value.split(b",")}


def _framing(method, minor, fields):
    """The length of the body, or None for chunked: RFC 9112 section 6.3."""
    lengths, codings = _values(fields, b"content-length"), _values(fields, b"transfer-encoding")
    if len(lengths) + len(codings) > 1:
        raise RefusedError("more than one field about the body's length")
    if codings:
        if minor != b"1" or not _CODING.fullmatch(codings[0]):
            raise RefusedError(codings)
        return None
    if lengths and (not re.fullmatch(rb"[0-9]{1,19}", lengths[0]) or int(lengths[0]) >= 1 << 63):
        raise RefusedError(lengths)
    return int(lengths[0]) if lengths else 0


def _read_exact(source, length, body):
    while length > 0:
        part = source.read(min(length, 65536))
        if not part:
            raise RefusedError("the body is cut short")
        body += part
        length -= len(part)


def _read_body(source, length, body, size_line):
    """Appends to body, so that the caller has what there was when the body is cut short."""
    if length is not None:
        _read_exact(source, length, body)
        return
    while True:
        size = int(_line(source, size_line).group(1), 16)
        if size == 0:
            _fields(source)
            return
        _read_exact(source, size, body)
        if source.read(2) != b"\r\n":
            raise RefusedError("a chunk does not end")


def read_requests(source, answer=None, exact=False):
    """Yields a Request for each, until the end, what may not be, or the last one that the connection may have.

    source has readline() and read(). answer(request, last) is called after each complete one; exact: chunk extensions and
    empty lines between requests are not tolerated. RefusedError is raised when there are bytes that are no request; when
    these belong to a body, its Request with what there was of it comes first.
    """
    while True:
        first = source.readline(_LINE_MAX)
        if first == b"\r\n" and not exact:
            first = source.readline(_LINE_MAX)
        if not first:
            return
        match = _REQUEST_LINE.fullmatch(first)
        if match is None:
            raise RefusedError(first)
        method, target, minor = match.groups()
        fields = _fields(source)
        hosts = _values(fields, b"host")
        if len(hosts) > 1 or (minor == b"1" and not hosts):
            raise RefusedError("Host: %r" % hosts)
        body, forwarded = bytearray(), tuple(_values(fields, b"x-forwarded-for"))
        try:
            _read_body(source, _framing(method, minor, fields), body, _SIZE if exact else _SIZE_EXTENDED)
        except RefusedError:
            yield Request(method, target, bytes(body), False, forwarded)
            raise
        request = Request(method, target, bytes(body), True, forwarded)
        options = _options(fields)
        last = b"close" in options or (minor == b"0" and b"keep-alive" not in options)
        if answer is not None:
            answer(request, last)
        yield request
        if last:
            return


def requests_of(data, exact=False):
    """The requests in these bytes, and what they are followed by that is none (or None)."""
    found = []
    try:
        for request in read_requests(io.BytesIO(data), exact=exact):
            found.append(request)
    except RefusedError as fault:
        return found, fault.args[0]
    return found, None
