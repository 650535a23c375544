"""HTTP mode: every request of a connection is rewritten, or refused; replies and bodies pass as they are."""

import base64
import hashlib
import json
import shutil
import ssl
import subprocess
import threading
from contextlib import closing

import pytest

from harness.backends import ThreadedBackend, http
from harness.body import body, body_digest
from harness.halter import http_binary, run
from harness.peers import curl
from harness.tls import TlsClient, client_context
from harness.wire import connect

ADDED = b"X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: https\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
def web(halter, backend):
    """Starts halter-http with http = on; more lines of configuration may follow."""

    def start(lines="", **more):
        return halter(backend=more.pop("backend", backend), binary=http_binary(), lines="http = on\n" + lines, **more)

    return start


def read_head(wire):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += wire.recv_exact(1)
    return head


def request(fields=b"", target=b"/", method=b"GET", version=b"HTTP/1.1"):
    return method + b" " + target + b" " + version + b"\r\nHost: example.com\r\n" + fields + b"\r\n"


def rewritten(fields=b"", target=b"/", method=b"GET", version=b"HTTP/1.1", added=ADDED):
    return method + b" " + target + b" " + version + b"\r\nHost: example.com\r\n" + fields + added + b"\r\n"


def read_reply(client):
    """One reply with a Content-Length: (status line, body)."""
    head = read_head(client)
    lines = head.split(b"\r\n")
    length = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")]
    return lines[0], client.recv_exact(length[0])


# ---- rewriting ----


def test_the_two_fields_are_added(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(b"User-Agent: test\r\nAccept: */*\r\n"))
        assert read_head(served) == rewritten(b"User-Agent: test\r\nAccept: */*\r\n")
        served.send(OK)
        assert read_reply(client) == (b"HTTP/1.1 200 OK", b"ok")


@pytest.mark.parametrize(
    "field",
    [
        b"X-Forwarded-For: 6.6.6.6\r\n",
        b"x-forwarded-for: 6.6.6.6\r\n",
        b"X_Forwarded_For: 6.6.6.6\r\n",
        b"X-Forwarded-Host: 6.6.6.6\r\n",
        b"X-Forwarded-Anything: 6.6.6.6\r\n",
        b"X-Forward-For: 6.6.6.6\r\n",
        b"X-Forward-Proto: 6.6.6.6\r\n",
        b"Forwarded: for=6.6.6.6\r\n",
        b"X-Real-IP: 6.6.6.6\r\n",
        b"X-REAL_ip: 6.6.6.6\r\n",
    ],
)
def test_what_clients_claim_is_removed(web, backend, field):
    with TlsClient(web().address) as client, backend.accept() as served:
        for _ in range(2):
            client.send(request(b"Via: 1.1 somewhere\r\n" + field + b"X-Kept: yes\r\n"))
            assert read_head(served) == rewritten(b"Via: 1.1 somewhere\r\nX-Kept: yes\r\n")
            served.send(OK)
            read_reply(client)


def test_connection_cannot_remove_what_is_added(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(b"Connection: keep-alive, X-Forwarded-For, x-forwarded-proto\r\n"))
        head = read_head(served)
        assert head.count(b"X-Forwarded-For: 127.0.0.1\r\n") == 1
        connection = [line for line in head.split(b"\r\n") if line.lower().startswith(b"connection:")]
        assert len(connection) <= 1
        assert all(b"forwarded" not in line.lower() for line in connection)


def test_one_byte_at_a_time(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        message = request(b"X-Forwarded-For: 6.6.6.6\r\nContent-Length: 5\r\n", method=b"POST") + b"hello"
        for byte in message:
            client.send(bytes([byte]))
        assert read_head(served) == rewritten(b"Content-Length: 5\r\n", method=b"POST")
        assert served.recv_exact(5) == b"hello"


def test_ten_thousand_pipelined_requests(web):
    seen = []

    def serve(wire):
        buffer = b""
        while len(seen) < 10000:
            more = wire.recv_some()
            if not more:
                return
            buffer += more
            *heads, buffer = buffer.split(b"\r\n\r\n")
            seen.extend(heads)
            wire.send(OK * len(heads))

    with closing(ThreadedBackend(serve)) as target:
        with TlsClient(web(backend=target).address) as client:
            message = b"".join(
                request(b"X-Forwarded-For: 6.6.6.6\r\n", target=b"/%d" % number) for number in range(10000)
            )
            sender = threading.Thread(target=client.raw.send, args=(encrypt(client, message),))
            sender.start()
            assert client.recv_exact(len(OK) * 10000) == OK * 10000
            sender.join()
    assert [head.split(b" ")[1] for head in seen] == [b"/%d" % number for number in range(10000)]
    assert all(head.count(b"X-Forwarded-For: 127.0.0.1") == 1 and b"6.6.6.6" not in head for head in seen)


def encrypt(client, data):
    client.object.write(data)
    return client.outgoing.read()


def test_http_1_0_stays_1_0(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(version=b"HTTP/1.0"))
        assert read_head(served) == rewritten(version=b"HTTP/1.0")


def test_additions_and_removals_can_be_configured(web, backend):
    lines = 'http-add = "x-forwarded-for,x-forwarded-port,x-real-ip,x-forwarded-tls-version"\nhttp-strip = "x-internal-*, x-user"\n'
    instance = web(lines)
    with TlsClient(instance.address) as client, backend.accept() as served:
        client.send(request(b"X-Internal-Role: admin\r\nX-User: root\r\nX-Users: 7\r\nX-Forwarded-Proto: ftp\r\n"))
        added = b"X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Port: %d\r\nX-Real-IP: 127.0.0.1\r\n" % instance.address[1]
        added += b"X-Forwarded-TLS-Version: %s\r\n" % client.version.encode()
        assert read_head(served) == rewritten(b"X-Users: 7\r\n", added=added)


def test_trusted_proxies_are_added_to(web, backend):
    with TlsClient(web('http-trusted = "127.0.0.0/8"\n').address) as client, backend.accept() as served:
        client.send(request(b"X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: http\r\n"))
        head = read_head(served)
        assert head.lower().count(b"x-forwarded-for") == 1
        assert b"X-Forwarded-For: 1.2.3.4, 127.0.0.1\r\n" in head
        assert b"X-Forwarded-Proto: https\r\n" in head


def test_only_frontends_that_say_so(web, backend, certs):
    blocks = [
        '{ host = "127.0.0.1" port = "0" http = off }',
        '{ host = "127.0.0.2" port = "0" }',
    ]
    instance = web(frontends=blocks)
    with TlsClient(instance.addresses[0]) as client, backend.accept() as served:
        client.send(b"anything goes\n")
        assert served.recv_exact(14) == b"anything goes\n"
    with TlsClient(instance.addresses[1]) as client, backend.accept() as served:
        client.send(request())
        assert read_head(served) == rewritten()


# ---- refusing ----


@pytest.mark.parametrize(
    "message, status",
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: a\n\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\n: 1\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        (b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (b"\x16\x03\x01 no http at all \x00\xff", 400),
        (b"SSH-2.0-OpenSSH_9.2\r\n", 400),
    ],
)
def test_what_is_not_strict_is_refused(web, backend, message, status):
    instance = web()
    with TlsClient(instance.address) as client:
        client.send(message)
        line, _ = read_reply(client)
        assert int(line.split(b" ")[1]) == status
        assert client.recv_to_end() == b""  # and a clean end
    instance.log.wait_for("reason=request_refused")
    # the connection to the backend may be made before the request is there, but nothing is said on it
    backend.socket.setblocking(False)
    try:
        served = backend.socket.accept()[0]
    except BlockingIOError:
        return
    with served:
        served.settimeout(60)
        assert served.recv(1000) == b""


def test_the_second_request_is_refused_after_the_first_is_answered(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(target=b"/first") + b"GET /second HTTP/1.1\nHost: a\n\n")
        assert read_head(served) == rewritten(target=b"/first")
        served.send(OK)
        assert read_reply(client) == (b"HTTP/1.1 200 OK", b"ok")
        line, _ = read_reply(client)
        assert line.startswith(b"HTTP/1.1 400 ")
        assert client.recv_to_end() == b""
        assert served.wait_ended() in ("eof", "reset")


def test_a_bad_chunk_ends_both_sides(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(b"Transfer-Encoding: chunked\r\n", method=b"POST") + b"5\r\nhello\r\nZZ\r\n")
        assert read_head(served) == rewritten(b"Transfer-Encoding: chunked\r\n", method=b"POST")
        line, _ = read_reply(client)
        assert line.startswith(b"HTTP/1.1 400 ")
        assert client.recv_to_end() == b""
        assert served.wait_ended() == "reset"  # the backend can tell that the request is not whole


def test_a_bad_chunk_after_the_backend_has_answered(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(b"Transfer-Encoding: chunked\r\n", method=b"POST") + b"5\r\nhello\r\n")
        assert read_head(served) == rewritten(b"Transfer-Encoding: chunked\r\n", method=b"POST")
        served.send(OK)
        assert read_reply(client) == (b"HTTP/1.1 200 OK", b"ok")
        client.send(b"ZZ\r\n")
        assert client.recv_to_end() == b""  # no second answer to one request


def test_a_request_hidden_in_a_body_stays_a_body(web, backend):
    hidden = request(b"X-Forwarded-For: 6.6.6.6\r\n", target=b"/admin")
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(b"Content-Length: %d\r\n" % len(hidden), method=b"POST") + hidden + request(target=b"/next"))
        assert read_head(served) == rewritten(b"Content-Length: %d\r\n" % len(hidden), method=b"POST")
        assert served.recv_exact(len(hidden)) == hidden
        assert read_head(served) == rewritten(target=b"/next")


def test_refusals_are_counted_by_reason(web):
    instance = web()
    for _ in range(3):
        with TlsClient(instance.address) as client:
            client.send(b"GET / HTTP/1.1\r\n\r\n")
            read_reply(client)
            client.recv_to_end()
    instance.stop()
    assert "refused_host-missing=3" in instance.log.text()
    assert "ended_request_refused=3" in instance.log.text()


def test_too_large_a_head(web):
    with TlsClient(web("http-max-head = 2048\n").address) as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 3000)
        line, _ = read_reply(client)
        assert line.startswith(b"HTTP/1.1 431 ")


def test_too_many_fields(web):
    with TlsClient(web("http-max-fields = 10\n").address) as client:
        client.send(request(b"".join(b"X-%d: y\r\n" % number for number in range(20))))
        line, _ = read_reply(client)
        assert line.startswith(b"HTTP/1.1 431 ")


# ---- bodies ----


def read_chunked(wire):
    while True:
        size = int(wire.recv_line().strip(), 16)
        if size == 0:
            while wire.recv_line() != b"\r\n":
                pass
            return
        left = size
        while left > 0:
            part = wire.recv_some(min(left, 1 << 20))
            assert part
            left -= len(part)
            yield part
        assert wire.recv_exact(2) == b"\r\n"


def digest_of(parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()


def test_chunked_upload_and_download(web):
    size = 20 << 20

    def serve(wire):
        head = read_head(wire)
        assert b"Transfer-Encoding: chunked" in head
        wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        total = hashlib.sha256()
        for part in read_chunked(wire):
            total.update(part)
            wire.send(b"%x\r\n%s\r\n" % (len(part), part))
        wire.send(b"0\r\nX-Digest: %s\r\n\r\n" % total.hexdigest().encode())

    with closing(ThreadedBackend(serve)) as target:
        with TlsClient(web(backend=target).address) as client:
            data = body(size)

            def upload():
                client_out = [request(b"Transfer-Encoding: chunked\r\n", method=b"PUT")]
                for start in range(0, size, 100000):
                    part = data[start : start + 100000]
                    client_out.append(b"%X\r\n%s\r\n" % (len(part), part))
                client_out.append(b"0\r\n\r\n")
                return b"".join(client_out)

            ciphertext = encrypt(client, upload())
            sender = threading.Thread(target=client.raw.send, args=(ciphertext,))
            sender.start()
            assert read_head(client).startswith(b"HTTP/1.1 200 OK")
            assert digest_of(read_chunked(client)) == body_digest(size)
            sender.join()


def test_expect_100_continue(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(b"Expect: 100-continue\r\nContent-Length: 5\r\n", method=b"PUT"))
        assert b"Expect: 100-continue\r\n" in read_head(served)
        served.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert read_head(client) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.send(b"hello")
        assert served.recv_exact(5) == b"hello"
        served.send(OK)
        assert read_reply(client)[1] == b"ok"


def test_curl_gets_and_posts(web, workdir):
    upload = workdir / "upload"
    upload.write_bytes(body(3 << 20))
    with closing(ThreadedBackend(http)) as target:
        address = web(backend=target).address
        answer = curl(address, "/", "--data-binary", "@%s" % upload, "-H", "X-Forwarded-For: 6.6.6.6")
        assert answer == body_digest(3 << 20)
        assert len(curl(address, "/bytes/100000", text=False)) == 100000


# ---- what is no HTTP any more ----

WEBSOCKET = (
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    b"Sec-WebSocket-Version: 13\r\n"
)


def test_upgrade_makes_an_opaque_pipe_only_when_granted(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(WEBSOCKET) + b"\x81\x85early")
        head = read_head(served)
        assert b"Upgrade: websocket\r\n" in head and ADDED in head
        served.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x02hi")
        assert read_head(client).startswith(b"HTTP/1.1 101 ")
        assert client.recv_exact(4) == b"\x81\x02hi"
        assert served.recv_exact(7) == b"\x81\x85early"
        client.send(b"GET / not HTTP any more\n\n")
        assert served.recv_exact(25) == b"GET / not HTTP any more\n\n"


def test_upgrade_refused_by_the_backend_stays_http(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(WEBSOCKET) + request(b"X-Forwarded-For: 6.6.6.6\r\n", target=b"/next"))
        read_head(served)
        served.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno")
        assert read_head(served) == rewritten(target=b"/next")


def test_h2c_is_not_passed_on(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request(b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"))
        head = read_head(served).lower()
        assert b"h2c" not in head and b"http2-settings" not in head and b"upgrade" not in head


def test_connect(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
        assert read_head(served).startswith(b"CONNECT example.com:443 HTTP/1.1\r\n")
        served.send(b"HTTP/1.1 200 OK\r\n\r\n")
        read_head(client)
        client.send(b"\x16\x03\x01 anything")
        assert served.recv_exact(12) == b"\x16\x03\x01 anything"


NODE_ECHO = r"""
const http = require('http'), crypto = require('crypto');
const server = http.createServer((q, r) => r.end(JSON.stringify(q.headers)));
server.on('upgrade', (q, socket) => {
  const key = crypto.createHash('sha1').update(q.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11');
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
               'Sec-WebSocket-Accept: ' + key.digest('base64') + '\r\nX-Saw: ' + q.headers['x-forwarded-for'] + '\r\n\r\n');
  socket.pipe(socket);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
def test_a_real_websocket_server(web):
    with subprocess.Popen(["node", "-e", NODE_ECHO], stdout=subprocess.PIPE, text=True) as node:
        try:
            port = int(node.stdout.readline())
            address = web(backend="[127.0.0.1]:%d" % port).address
            headers = json.loads(curl(address, "/", "-H", "X-Forwarded-For: 6.6.6.6"))
            assert headers["x-forwarded-for"] == "127.0.0.1" and headers["x-forwarded-proto"] == "https"
            with TlsClient(address) as client:
                client.send(request(WEBSOCKET + b"X-Forwarded-For: 6.6.6.6\r\n"))
                head = read_head(client)
                accept = base64.b64encode(
                    hashlib.sha1(b"dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
                )
                assert b"Sec-WebSocket-Accept: " + accept in head and b"X-Saw: 127.0.0.1\r\n" in head
                frame = b"\x81\x85\x01\x02\x03\x04" + bytes(a ^ b for a, b in zip(b"hello", b"\x01\x02\x03\x04\x01"))
                client.send(frame)
                assert client.recv_exact(len(frame)) == frame
        finally:
            node.kill()


# ---- protocols and plain HTTP ----


def test_alpn_offers_http_1_1_alone(web, backend):
    address = web('alpn-protos = "h2,http/1.1"\n').address
    with TlsClient(address, client_context(alpn=["h2", "http/1.1"])) as client:
        assert client.alpn == "http/1.1"
    with pytest.raises(ssl.SSLError) as fault:
        TlsClient(address, client_context(alpn=["h2"]))
    assert "NO_APPLICATION_PROTOCOL" in str(fault.value).upper().replace(" ", "_")


def test_plain_http_on_the_tls_port_is_told(web):
    instance = web()
    with connect(instance.address) as wire:
        wire.send(b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
        answer = wire.recv_to_end()
        assert answer.startswith(b"HTTP/1.1 400 ") and b"HTTPS" in answer
    instance.log.wait_for("reason=plain_http")


def test_plain_http_can_be_redirected(web):
    instance = web("http-plain-redirect = on\n")
    with connect(instance.address) as wire:
        wire.send(b"GET /page?x=1 HTTP/1.1\r\nHost: example.com:%d\r\n\r\n" % instance.address[1])
        answer = wire.recv_to_end()
        assert answer.startswith(b"HTTP/1.1 308 ")
        assert b"Location: https://example.com:%d/page?x=1\r\n" % instance.address[1] in answer


# ---- http-redirect ----


@pytest.fixture
def redirect(halter):
    """The address of a port for plain HTTP, and the halter behind it."""

    def start(lines="", **more):
        instance = halter(binary=http_binary(), lines='http-redirect = "[127.0.0.1]:0"\n' + lines, **more)
        return instance.addresses[-1], instance

    return start


def ask(address, message, chunk=None):
    with connect(address) as wire:
        wire.send(message, chunk)
        return wire.recv_to_end()


@pytest.mark.parametrize("chunk", [None, 1], ids=["whole", "bytewise"])
def test_plain_requests_are_sent_to_https(redirect, chunk):
    address, instance = redirect()
    answer = ask(address, b"GET /a/b?c=d HTTP/1.1\r\nHost: example.com:80\r\nX: y\r\n\r\n", chunk)
    assert answer.startswith(b"HTTP/1.1 308 ")
    assert b"\r\nLocation: https://example.com/a/b?c=d\r\n" in answer
    assert b"Connection: close\r\n" in answer
    instance.log.wait_for("reason=redirected")


@pytest.mark.parametrize(
    "message",
    [
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET //evil.example/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\nb\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"x" * 20000,
    ],
)
def test_what_cannot_be_redirected_is_refused(redirect, message):
    address, _ = redirect()
    assert ask(address, message).startswith(b"HTTP/1.1 400 ")


def test_redirect_and_tls_serve_side_by_side(redirect, backend):
    address, instance = redirect(backend=backend)
    assert len(instance.addresses) == 2
    with TlsClient(instance.addresses[0]) as client, backend.accept() as served:
        client.send(b"hello")
        assert served.recv_exact(5) == b"hello"
    assert ask(address, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").startswith(b"HTTP/1.1 308 ")


def test_a_silent_client_of_the_redirect_is_not_waited_for(redirect):
    address, instance = redirect("first-data-timeout = 1\n")
    with connect(address) as wire:
        wire.send(b"GET / HTTP/1.1\r\nHo")
        wire.recv_to_end()
    instance.log.wait_for("reason=head_timeout")


def test_curl_follows_the_redirect(redirect, certs):
    with closing(ThreadedBackend(http)) as target:
        address, instance = redirect(backend=target)
        page = "/bytes/1000"
        answer = ask(address, b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % page.encode())
        assert b"Location: https://127.0.0.1%s\r\n" % page.encode() in answer
        assert len(curl(instance.addresses[0], page, text=False)) == 1000


def test_redirect_on_the_address_of_a_frontend_is_a_fault(certs):
    result = run(
        "-t",
        "--frontend=[127.0.0.1]:8443",
        "--http-redirect=[127.0.0.1]:8443",
        str(certs.default.path),
        binary_path=http_binary(),
    )
    assert result.returncode == 1
    assert "http-redirect: 127.0.0.1:8443 is the address of a frontend already" in result.stderr


# ---- configuration ----


def test_faults_of_http_keywords_are_told_in_one_run(certs):
    result = run(
        "-t",
        "--http",
        "--http-add=nonsense",
        "--http-strip=host",
        "--http-trusted=10.0.0.0/99",
        str(certs.default.path),
        binary_path=http_binary(),
    )
    assert result.returncode == 1
    for keyword in ("http-add", "http-trusted"):
        assert keyword in result.stderr
    assert result.stderr.lower().count("error") >= 3


def test_built_without_http_says_so(certs):
    result = run("-t", "--http", str(certs.default.path))
    assert result.returncode == 1
    assert "built without HTTP" in result.stderr and "halter-http" in result.stderr


def test_reply_that_is_no_http_passes(web, backend):
    with TlsClient(web().address) as client, backend.accept() as served:
        client.send(request())
        read_head(served)
        served.send(b"not HTTP at all\n")
        assert client.recv_exact(16) == b"not HTTP at all\n"
        client.send(request(b"X-Forwarded-For: 6.6.6.6\r\n", target=b"/still-rewritten"))
        assert read_head(served) == rewritten(target=b"/still-rewritten")


def test_proxy_header_comes_first(web, backend):
    with TlsClient(web("write-proxy-v1 = on\n").address) as client, backend.accept() as served:
        client.send(request())
        assert served.recv_line().startswith(b"PROXY TCP4 127.0.0.1 127.0.0.1 ")
        assert read_head(served) == rewritten()


def test_memory_is_not_held_by_a_body(web):
    """A long upload to a stalled backend fills sockets, not halter."""
    stop = threading.Event()

    def stall(wire):
        read_head(wire)
        stop.wait()

    with closing(ThreadedBackend(stall)) as target:
        instance = web(backend=target)
        with TlsClient(instance.address) as client:
            client.send(request(b"Content-Length: 1000000000\r\n", method=b"PUT"))
            client.raw.socket.setblocking(False)
            sent = 0
            block = encrypt(client, bytes(1 << 14))
            try:
                while sent < 64 << 20:
                    sent += client.raw.socket.send(block)
                    block = encrypt(client, bytes(1 << 14))
            except BlockingIOError:
                pass
            stop.set()
            assert sent < 64 << 20


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
