"""What halter passes on, real servers understand as halter does: method, target and body of each request, no more, no fewer.

Each stream of tests/unit/http/streams/ goes over one TLS connection through halter-http to a server that records what it
has understood (harness/http_peers.py). The client's address, another one for each stream, comes back as X-Forwarded-For
and tells which stream a connection to the server belongs to.
"""

import re
import ssl
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.halter import http_binary
from harness.http_peers import PEERS, start_peer
from harness.http_streams import CLIENT, Request, Stream, read_streams, requests_of
from harness.tls import TlsClient, TruncatedError, client_context
from harness.wait import DeadlineError

STREAMS_LEAST = 300
CLIENTS_AT_ONCE = 4
REPLY_DEADLINE_S = 10  # met only where a server waits for more of a request than there is
LIMITS = "http = on\nhttp-max-head = 1024\nhttp-max-fields = 20\n"  # as in tests/unit/http/streams_test.c

# By the words of the corpus's policies: what a frontend block says, and its address. "required" comes with virtual hosts
# that verify clients.
BLOCKS = {
    (): ("127.0.0.1", ""),
    ("append",): ("127.0.0.2", 'http-trusted = "127.0.0.0/8"'),
    ("addhost",): ("127.0.0.3", 'http-add = "x-forwarded-for, x-forwarded-proto, x-forwarded-host"'),
}


@pytest.fixture(scope="module")
def streams():
    found = read_streams()
    assert len(found) >= STREAMS_LEAST
    return [stream for stream in found if "required" not in stream.policy]


@pytest.fixture
def start(workdir):
    """Starts a server by its name; skips when its program is not there."""
    started = []

    def start_named(name):
        try:
            started.append(start_peer(name, workdir))
        except LookupError as missing:
            pytest.skip("%s is not installed: nothing is known about how it understands requests" % missing)
        return started[-1]

    yield start_named
    for peer in started:
        peer.close()


def source_of(number):
    return "127.1.%d.%d" % (number >> 8, number & 255)


# statuses: of the final replies; in_time: whether those that were due came before the client's end
Outcome = namedtuple("Outcome", "statuses in_time")


def final_statuses(replies):
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] ([2-5][0-9]{2}) ", replies)]


def send(address, context, source, data, whole):
    """Sends all, waits for as many replies as there are whole requests, then ends.

    A client that ends before it has its replies may lose them: haproxy drops what waits behind the request in work.
    """
    replies, in_time = b"", True
    with TlsClient(address, context, source=(source, 0)) as client:
        client.socket.settimeout(REPLY_DEADLINE_S)
        try:
            client.send(data)
            while len(final_statuses(replies)) < whole and (part := client.recv_some()):
                replies += part
        except DeadlineError:
            in_time = False
        except (ConnectionError, TruncatedError, ssl.SSLError):
            pass  # what is missing shows in the comparison
        try:
            client.shutdown_write()
            for part in iter(client.recv_some, b""):
                replies += part
        except (DeadlineError, ConnectionError, TruncatedError, ssl.SSLError):
            pass
    return Outcome(final_statuses(replies), in_time)


def send_all(instance, streams):
    """The outcome of each stream, in their order."""
    context = client_context()
    addresses = {host: (host, port) for host, port in instance.addresses}

    def send_one(numbered):
        number, stream = numbered
        whole = sum(1 for request in allowed_of(stream)[0] if request.complete)
        address = addresses[BLOCKS[tuple(stream.policy)][0]]
        return send(address, context, source_of(number), stream.data, whole)

    with ThreadPoolExecutor(CLIENTS_AT_ONCE) as pool:
        return list(pool.map(send_one, enumerate(streams)))


# ---- comparison ----


def allowed_of(stream):
    """The requests that a server must see, and those it may see behind these.

    An Upgrade or CONNECT that the server turns down is followed by what the client has sent behind it; the corpus tells
    what comes out before it is turned down.
    """
    must, _ = requests_of(stream.out, exact=True)
    behind, _ = requests_of(stream.data)
    return must, behind[len(must) :] if stream.end == "held" else []


def differences(stream, seen, outcome):
    """What the server has understood otherwise, in words."""
    must, may = allowed_of(stream)
    allowed = must + may
    found = []
    for place, request in enumerate(seen):
        if place >= len(allowed):
            found.append("there is no request %d: %r" % (place, request))
            continue
        wanted = allowed[place]
        if request.method is None:  # what it was is not known: it was refused, and nothing follows
            if place + 1 < len(seen):
                found.append("after request %d was refused there is %r" % (place, seen[place + 1 :]))
            break
        if (request.method, request.target) != (wanted.method, wanted.target):
            found.append("request %d is %r" % (place, request))
        elif request.refused:
            continue
        elif request.body != wanted.body and (wanted.complete or not wanted.body.startswith(request.body)):
            found.append("the body of request %d is %r" % (place, request))
        elif request.complete is not None and request.complete != wanted.complete:
            found.append("request %d ends elsewhere: %r" % (place, request))
    for request in seen:
        if request.method is not None and not request.refused and len(request.forwarded) != 1:
            found.append("X-Forwarded-For is not there once: %r" % (request,))
    whole = sum(1 for request in must if request.complete)
    is_refused = stream.end not in ("more", "held")
    of_server = outcome.statuses[:-1] if is_refused else outcome.statuses  # the last one is halter's
    if len(seen) < whole and not any(status >= 400 for status in of_server):
        found.append("%d of %d requests were seen, and none was refused: %r" % (len(seen), whole, outcome.statuses))
    if not outcome.in_time:
        found.append("the replies to whole requests did not come before the client ended: %r" % (outcome.statuses,))
    return found


def by_stream(connections, count):
    """The connections by the stream's number; and the requests that belong to none."""
    numbers = {source_of(number): number for number in range(count)}
    seen, lost = {}, []
    for client, requests in connections:
        if client in numbers:
            seen.setdefault(numbers[client], []).append(requests)
        elif any(request.method is not None for request in requests):
            lost.append(requests)
    return seen, lost


def report(stream, found):
    return "%s (%s)\n  client: %r\n  halter: %r\n  server: %s" % (
        stream.name,
        stream.end,
        stream.data[:600],
        stream.out[:600],
        "\n          ".join(found),
    )


def compare(streams, connections, outcomes):
    seen, lost = by_stream(connections, len(streams))
    reports = ["of no stream: %r" % (requests,) for requests in lost]
    for number, stream in enumerate(streams):
        of_stream = seen.get(number, [])
        found = differences(stream, of_stream[0] if of_stream else [], outcomes[number])
        if len(of_stream) > 1:
            found.append("there is more than one connection: %r" % (of_stream,))
        if found:
            reports.append(report(stream, found))
    return reports


def bytes_of(stream, source):
    """What halter must put out for this client: the corpus has another address."""
    out = stream.out.replace(b"X-Forwarded-For: " + CLIENT + b"\r\n", b"X-Forwarded-For: " + source + b"\r\n")
    if "append" in stream.policy:
        out = out.replace(b", " + CLIENT + b"\r\n", b", " + source + b"\r\n")
    return out


def compare_bytes(streams, raw_by_client):
    """To the byte. A request that is refused within its body may have been cut short, or not begun."""
    reports = []
    for number, stream in enumerate(streams):
        source = source_of(number)
        raw, out = raw_by_client.get(source, b""), bytes_of(stream, source.encode())
        is_refused = stream.end not in ("more", "held")
        requests, _ = requests_of(out, exact=True)
        cut = out.startswith(raw) and is_refused and requests and not requests[-1].complete
        if raw != out and not cut and not (stream.end == "held" and raw.startswith(out)):
            reports.append("%s: other bytes come out:\n  %r\n  %r" % (stream.name, out[:600], raw[:600]))
    return reports


# ---- tests ----


def test_the_corpus_is_what_rfc_9112_says(streams):
    """A reader of its own comes to the same requests, in what the client sends and in what is passed on."""
    wrong = []
    for stream in streams:
        out, rest = requests_of(stream.out, exact=True)
        sent, _ = requests_of(stream.data)
        if len(out) != stream.count:
            wrong.append((stream.name, stream.count, out, rest))
        for ours, theirs in zip(out, sent + [None] * len(out)):
            same = theirs is not None and (ours.method, ours.target) == (theirs.method, theirs.target)
            if not same or (ours.body != theirs.body if ours.complete else not theirs.body.startswith(ours.body)):
                wrong.append((stream.name, ours, theirs))
        if stream.end == "more" and len(sent) != len(out):
            wrong.append((stream.name, "more is sent than is passed on", sent[len(out) :]))
    assert not wrong, "\n".join(map(repr, wrong))


ONE = Request(b"POST", b"/one", b"body", True, (b"127.1.0.0",))
TWO = Request(b"GET", b"/two", b"", True, (b"127.1.0.0",))
REFUSED = Request(None, None, complete=None, refused=True)


@pytest.mark.parametrize(
    "seen, statuses, is_same",
    [
        ([ONE, TWO], [200, 200], True),
        ([ONE, TWO._replace(refused=True)], [200, 405], True),
        ([ONE, REFUSED], [200, 400], True),
        ([ONE], [200, 400], True),  # as servers do that do not tell of what they refuse
        ([ONE], [200], False),
        ([ONE, TWO, TWO], [200, 200, 200], False),
        ([ONE, TWO, REFUSED], [200, 200, 400], False),
        ([REFUSED, TWO], [400, 200], False),
        ([TWO, ONE], [200, 200], False),
        ([ONE._replace(body=b"bod"), TWO], [200, 200], False),
        ([ONE._replace(complete=False), TWO], [200, 200], False),
        ([ONE, TWO._replace(target=b"/")], [200, 200], False),
        ([ONE, TWO._replace(target=b"/", refused=True)], [200, 400], False),
        ([ONE, TWO._replace(forwarded=())], [200, 200], False),
        ([ONE, TWO._replace(forwarded=(b"6.6.6.6", b"127.1.0.0"))], [200, 200], False),
    ],
)
def test_the_comparison_sees_what_differs(seen, statuses, is_same):
    data = b"POST /one HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbodyGET /two HTTP/1.1\r\nHost: a\r\n\r\n"
    stream = Stream("two requests", [], data, data, "more", 2, False)
    assert (compare([stream], [(source_of(0), seen)], [Outcome(statuses, True)]) == []) == is_same
    assert compare([stream], [(source_of(0), seen)], [Outcome(statuses, False)])  # replies that came too late
    assert compare([stream], [("127.0.0.1", seen)], [Outcome(statuses, True)])  # of nobody


@pytest.mark.parametrize("name", PEERS)
def test_server_understands_what_halter_does(halter, start, streams, name):
    peer = start(name)
    blocks = ['{ host = "%s" port = "0" %s }' % block for block in BLOCKS.values()]
    lines = LIMITS + "write-proxy-v1 = on\n" * peer.wants_proxy
    instance = halter(backend=peer.spec, binary=http_binary(), frontends=blocks, log_level=1, lines=lines)
    outcomes = send_all(instance, streams)
    instance.stop()
    reports = compare(streams, peer.finish(), outcomes)
    if name == "strict":
        reports += compare_bytes(streams, peer.raw)
    assert not reports, "%d of %d streams:\n%s" % (len(reports), len(streams), "\n".join(reports))
