"""HTTP mode under real traffic: long bodies, WebSocket by a real client and server, and how clients send their first bytes."""

import queue
import random
import ssl
import subprocess
import threading

import pytest
from websockets.exceptions import ConnectionClosedOK
from websockets.sync.client import connect as websocket_connect
from websockets.sync.server import serve as websocket_serve

from harness.backends import ThreadedBackend
from harness.body import blocks, body, body_digest, digest
from harness.halter import http_binary, plain_http_binary
from harness.peers import curl, find_tool
from harness.tls import TlsClient, client_context
from harness.wait import DEADLINE_S

BIG = 100 << 20


@pytest.fixture
def web(halter, backend):
    """Starts halter-http with http = on."""

    def start(target=None, binary=None, lines="", **more):
        return halter(backend=target or backend, binary=binary or http_binary(), lines="http = on\n" + lines, **more)

    return start


@pytest.fixture
def serve():
    """Starts a server that calls handler(wire) for each connection."""
    started = []

    def start(handler):
        started.append(ThreadedBackend(handler))
        return started[-1]

    yield start
    for server in started:
        server.close()


def read_head(wire):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += wire.recv_exact(1)
    return head


# ---- long chunked bodies ----


def read_chunks(wire):
    while True:
        size = int(wire.recv_line(), 16)
        if size > 0:
            yield wire.recv_exact(size)
        assert wire.recv_exact(2) == b"\r\n"
        if size == 0:
            return


@pytest.mark.big
def test_100_mb_are_uploaded_in_chunks(web, serve, workdir):
    heads = []

    def take(wire):
        heads.append(read_head(wire).lower())
        answer = digest(read_chunks(wire)).encode()
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(answer), answer))
        wire.shutdown_write()

    with open(workdir / "big", "wb") as out:
        out.writelines(blocks(BIG))
    address = web(serve(take), plain_http_binary()).address
    fields = ["-H", "Transfer-Encoding: chunked", "-H", "Expect:", "-H", "X-Forwarded-For: 6.6.6.6"]
    assert curl(address, "/", "-T", workdir / "big", *fields) == body_digest(BIG)
    (head,) = heads
    assert b"\r\ntransfer-encoding: chunked\r\n" in head and b"content-length" not in head
    assert head.count(b"\r\nx-forwarded-for: 127.0.0.1\r\n") == 1 and b"6.6.6.6" not in head


@pytest.mark.big
def test_100_mb_are_downloaded_in_chunks(web, serve):
    def give(wire):
        read_head(wire)
        wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        for number, block in enumerate(blocks(BIG)):
            cut = (number * 7919 + 1) % len(block) or 1  # chunks of many sizes, down to one byte
            for part in (block[:cut], block[cut:]):
                if part:
                    wire.send(b"%x\r\n%s\r\n" % (len(part), part))
        wire.send(b"0\r\n\r\n")
        wire.shutdown_write()

    address = web(serve(give), plain_http_binary()).address
    command = [find_tool("curl"), "-sS", "-k", "--noproxy", "*", "https://127.0.0.1:%d/" % address[1]]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert digest(iter(lambda: process.stdout.read(1 << 20), b"")) == body_digest(BIG)
        assert process.wait(DEADLINE_S) == 0


# ---- WebSocket ----


def test_websocket_client_and_server_exchange_1000_messages(web):
    """Mixed sizes up to 1 MB, text and binary, pings on the way, and the closing handshake begun by the client."""
    told = queue.Queue()

    def on_connection(connection):
        told.put([connection.request.headers.get_all("X-Forwarded-" + name) for name in ("For", "Proto")])
        for message in connection:
            connection.send(message)
        told.put((connection.close_code, connection.close_reason))

    dice = random.Random(7)
    sizes = [0, 1, 125, 126, 127, 65535, 65536, 1 << 20]
    sizes += [int(2 ** dice.uniform(0, 12)) for _ in range(970)] + [int(2 ** dice.uniform(12, 20)) for _ in range(22)]
    dice.shuffle(sizes)
    data = body(1 << 20)
    text = data.hex()
    messages = [data[:size] if dice.random() < 0.5 else text[:size] for size in sizes]
    assert len(messages) == 1000
    with websocket_serve(on_connection, "127.0.0.1", 0, compression=None, max_size=2 << 20) as server:
        running = threading.Thread(target=server.serve_forever)
        running.start()
        try:
            address = web("[127.0.0.1]:%d" % server.socket.getsockname()[1]).address
            with websocket_connect(
                "wss://127.0.0.1:%d/echo" % address[1],
                ssl=client_context(),
                additional_headers={"X-Forwarded-For": "6.6.6.6"},
                compression=None,
                max_size=2 << 20,
                proxy=None,
            ) as client:
                for number, message in enumerate(messages):
                    client.send(message)
                    if number % 100 == 0:
                        assert client.ping().wait(DEADLINE_S)
                    assert client.recv(DEADLINE_S) == message, number
                assert told.get(timeout=DEADLINE_S) == [["127.0.0.1"], ["https"]]
                client.close(1000, "enough")
                assert client.close_code == 1000 and client.close_reason == "enough"  # as the server's frame says
                assert told.get(timeout=DEADLINE_S) == (1000, "enough")
                with pytest.raises(ConnectionClosedOK):
                    client.recv(DEADLINE_S)
        finally:
            server.shutdown()
            running.join(DEADLINE_S)


# ---- first bytes ----


def first_flight(address, data):
    """A TLS 1.3 client whose Finished and first bytes are one segment."""
    client = TlsClient(address, client_context(low=ssl.TLSVersion.TLSv1_3), handshake=False)
    while True:
        try:
            client.object.do_handshake()
            break
        except ssl.SSLWantReadError:
            client._flush()
            client.receive_ready()
    client.object.write(data)
    client._flush()
    return client


GOOD = b"GET /first HTTP/1.1\r\nHost: example.com\r\n\r\n"
BAD = b"GET /second HTTP/1.1\nHost: example.com\n\n"


def test_a_right_request_before_a_refused_one_in_the_first_flight_is_answered(web, backend):
    """Before the connection to the backend is there, what is right waits; it is not lost by what is refused behind it."""
    with first_flight(web().address, GOOD + BAD) as client, backend.accept() as served:
        assert read_head(served).startswith(b"GET /first HTTP/1.1\r\n")
        served.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        assert read_head(client).startswith(b"HTTP/1.1 200 ")
        assert client.recv_exact(2) == b"ok"
        assert read_head(client).startswith(b"HTTP/1.1 400 ")
