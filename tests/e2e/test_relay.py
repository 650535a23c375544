"""What goes in comes out: bodies, ends and failures of one connection, both ways."""

import hashlib
import os
import ssl
import subprocess
import threading

import pytest

from harness.backends import ThreadedBackend, commands
from harness.body import blocks, body, body_digest, digest
from harness.halter import plain_binary
from harness.peers import curl, find_tool, s_client, target
from harness.tls import TlsClient, tls12, tls13
from harness.wait import DEADLINE_S
from harness.wire import connect

BOTH_VERSIONS = pytest.mark.parametrize("context", [tls12, tls13], ids=["tls1.2", "tls1.3"])
BIG = 100 * 1000 * 1000


def in_thread(function, *arguments):
    """Runs it beside the test; join() gives its result or raises its fault."""

    class Task(threading.Thread):
        result = fault = None

        def run(self):
            try:
                self.result = function(*arguments)
            except BaseException as fault:
                self.fault = fault

        def finish(self):
            self.join(DEADLINE_S)
            assert not self.is_alive(), "a task of the test hangs"
            if self.fault:
                raise self.fault
            return self.result

    task = Task(daemon=True)
    task.start()
    return task


# bodies


@BOTH_VERSIONS
@pytest.mark.parametrize("length", [0, 1, 16383, 16384, 16385, 262144, 5000001])
def test_download_arrives_whole_and_ends_with_close_notify(halter, server, context, length):
    address = halter(backend=server).address
    with TlsClient(address, context()) as client:
        client.send(b"SOURCE %d\n" % length)
        assert digest(iter(client.recv_some, b"")) == body_digest(length)


@BOTH_VERSIONS
@pytest.mark.parametrize("length", [0, 1, 16385, 5000001])
def test_upload_arrives_whole(halter, server, context, length):
    address = halter(backend=server).address
    with TlsClient(address, context()) as client:
        client.send(b"SINK\n")
        for block in blocks(length):
            client.send(block)
        client.close_notify()
        assert client.recv_to_end().decode() == body_digest(length)


@BOTH_VERSIONS
def test_both_directions_at_once(halter, server, context):
    length = 4000000
    address = halter(backend=server).address
    with TlsClient(address, context()) as client:
        client.send(b"BOTH %d\n" % length)
        reply = hashlib.sha256()
        left = length
        for block in blocks(length):  # neither side waits for the other's end
            client.send(block)
            while left > 0 and client.object.pending():
                part = client.recv_some(min(left, client.object.pending()))
                reply.update(part)
                left -= len(part)
            if left > 0:
                part = client.recv_some(min(left, 1 << 16))
                reply.update(part)
                left -= len(part)
        client.close_notify()
        while left > 0:
            part = client.recv_some(min(left, 1 << 18))
            assert part
            reply.update(part)
            left -= len(part)
        assert reply.hexdigest() == body_digest(length)
        assert client.recv_to_end().decode() == body_digest(length)


def test_full_buffers_in_both_directions_do_not_deadlock(halter, backend):
    """The client writes 8 MB before it reads; the backend writes 8 MB before it reads: TCP's windows alone hold less,
    so the ends read only once the other's writing is done on its own thread."""
    length = 8 << 20
    address = halter(backend=backend).address
    with TlsClient(address) as client, backend.accept() as served:
        writing = in_thread(lambda: [served.send(b) for b in blocks(length)])
        request = in_thread(lambda: digest(_exactly(served, length)))
        for block in blocks(length):
            client.send(block)
        assert request.finish() == body_digest(length)
        assert digest(_exactly(client, length)) == body_digest(length)
        writing.finish()


def _exactly(wire, count):
    while count > 0:
        part = wire.recv_some(min(count, 1 << 18))
        assert part, "%d bytes early" % count
        yield part
        count -= len(part)


def test_one_byte_at_a_time(halter, server):
    """Each byte of ciphertext is a segment of its own, from the ClientHello to close_notify."""
    address = halter(backend=server).address
    with TlsClient(address, handshake=False) as client:
        client.handshake(chunk=1)
        client.send(b"SINK\n", chunk=1)
        for byte in body(300):
            client.send(bytes([byte]), chunk=1)
        client.chunk = 1
        client.close_notify()
        assert client.recv_to_end().decode() == body_digest(300)


def test_many_small_records_in_one_segment(halter, server):
    address = halter(backend=server).address
    with TlsClient(address) as client:
        client.send(b"SINK\n")
        for byte in body(5000):
            client.object.write(bytes([byte]))
        client.close_notify()
        assert client.recv_to_end().decode() == body_digest(5000)


def test_backend_that_writes_one_byte_at_a_time(halter, backend):
    address = halter(backend=backend).address
    with TlsClient(address) as client, backend.accept() as served:
        served.send(body(2000), chunk=1)
        served.shutdown_write()
        assert client.recv_to_end() == body(2000)


def test_slow_reader_gets_everything_and_costs_no_memory(halter, server):
    """64 MB for a client that reads little by little: halter must not take it all in (back-pressure)."""
    length = 64 << 20
    instance = halter(backend=server, binary=plain_binary())
    (worker,) = instance.workers()
    before = _peak_kib(worker)
    with TlsClient(instance.address, receive_buffer=4096) as client:
        client.send(b"SOURCE %d\n" % length)
        sha = hashlib.sha256()
        for _ in range(2000):
            sha.update(client.recv_exact(100))
        for part in iter(client.recv_some, b""):
            sha.update(part)
        assert sha.hexdigest() == body_digest(length)
    assert _peak_kib(worker) - before < 16 << 10


def _peak_kib(pid):
    with open("/proc/%d/status" % pid) as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def test_slow_backend_gets_everything_and_costs_no_memory(halter, backend):
    length = 64 << 20
    instance = halter(backend=backend, binary=plain_binary())
    (worker,) = instance.workers()
    before = _peak_kib(worker)
    with TlsClient(instance.address) as client, backend.accept() as served:
        sending = in_thread(lambda: [client.send(b) for b in blocks(length)] and client.close_notify())
        sha = hashlib.sha256()
        for _ in range(2000):
            sha.update(served.recv_exact(100))
        for part in iter(served.recv_some, b""):
            sha.update(part)
        sending.finish()
        assert sha.hexdigest() == body_digest(length)
    assert _peak_kib(worker) - before < 16 << 10


def test_ping_pong(halter, server):
    address = halter(backend=server).address
    with TlsClient(address) as client:
        client.send(b"ECHO\n")
        for turn in range(200):
            message = b"%d" % turn * 7
            client.send(message)
            assert client.recv_exact(len(message)) == message


def test_server_speaks_first(halter, backend):
    address = halter(backend=backend).address
    with TlsClient(address) as client, backend.accept() as served:
        served.send(b"220 ready\r\n")
        assert client.recv_line() == b"220 ready\r\n"
        client.send(b"QUIT\r\n")
        assert served.recv_line() == b"QUIT\r\n"


@BOTH_VERSIONS
def test_first_data_in_the_same_segment_as_the_end_of_the_handshake(halter, server, context):
    """Finished and a request leave in one write; nothing of the request may be lost or wait for more."""
    address = halter(backend=server).address
    with TlsClient(address, context(), handshake=False) as client:
        while True:
            try:
                client.object.do_handshake()
                break
            except ssl.SSLWantReadError:
                client._flush()
                client.receive_ready()
        client.object.write(b"SOURCE 100000\n")  # with TLS 1.3 this joins Finished in the outgoing BIO
        client._flush()
        assert digest(iter(client.recv_some, b"")) == body_digest(100000)


def test_unix_socket_backend(halter, backend_of):
    server = backend_of("commands", unix=True)
    address = halter(backend=server).address
    with TlsClient(address) as client:
        client.send(b"SOURCE 1000000\n")
        assert digest(iter(client.recv_some, b"")) == body_digest(1000000)


def test_ipv6_backend(halter, backend_of):
    server = backend_of("commands", host="::1")
    with TlsClient(halter(backend=server).address) as client:
        client.send(b"SOURCE 1000\n")
        assert client.recv_to_end() == body(1000)


def test_backend_by_name(halter, backend_of):
    """localhost may be both 127.0.0.1 and ::1; only the former serves."""
    server = backend_of("commands")
    with TlsClient(halter(backend="[localhost]:%d" % server.address[1]).address) as client:
        client.send(b"SOURCE 1000\n")
        assert client.recv_to_end() == body(1000)


def test_pipelined_http_requests(halter, backend_of):
    address = halter(backend=backend_of("http")).address
    with TlsClient(address) as client:
        client.send(b"GET /bytes/10 HTTP/1.1\r\nHost: a\r\n\r\n" * 50)
        for _ in range(50):
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += client.recv_exact(1)
            assert client.recv_exact(10) == body(10)


def test_many_connections_each_get_their_own_bytes(halter, server):
    address = halter(backend=server, workers=2).address
    clients = [TlsClient(address) for _ in range(60)]
    try:
        for number, client in enumerate(clients):
            client.send(b"ECHO\n%d." % number)
        for number, client in enumerate(clients):
            expected = b"%d." % number
            assert client.recv_exact(len(expected)) == expected
    finally:
        for client in clients:
            client.close()


# the 100 MB, with the real clients


@pytest.mark.big
@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_curl_downloads_100_mb_from_nginx(halter, nginx, certs, version):
    big = nginx.root / "big"
    if not big.exists():
        with open(big, "wb") as out:
            out.writelines(blocks(BIG))
    address = halter(backend=nginx.tcp, binary=plain_binary()).address
    flag = {"1.2": ["--tlsv1.2", "--tls-max", "1.2"], "1.3": ["--tlsv1.3"]}[version]
    process = subprocess.Popen(
        [find_tool("curl"), "-sS", "--noproxy", "*", "--cacert", str(certs.ca_path)]
        + flag
        + ["https://127.0.0.1:%d/big" % address[1]],
        stdout=subprocess.PIPE,
    )
    assert digest(iter(lambda: process.stdout.read(1 << 20), b"")) == body_digest(BIG)
    assert process.wait(DEADLINE_S) == 0


@pytest.mark.big
@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_curl_uploads_100_mb(halter, backend_of, workdir, version):
    with open(workdir / "big", "wb") as out:
        out.writelines(blocks(BIG))
    address = halter(backend=backend_of("http"), binary=plain_binary()).address
    flag = {"1.2": ["--tlsv1.2", "--tls-max", "1.2"], "1.3": ["--tlsv1.3"]}[version]
    assert curl(address, "/", "-T", workdir / "big", *flag) == body_digest(BIG)


@pytest.mark.big
@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_s_client_fetches_100_mb(halter, server, version):
    address = halter(backend=server, binary=plain_binary()).address
    process = subprocess.Popen(
        [find_tool("openssl"), "s_client", "-quiet", version, "-connect", target(address)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    process.stdin.write(b"SOURCE %d\n" % BIG)
    process.stdin.flush()
    assert digest(iter(lambda: process.stdout.read(1 << 20), b"")) == body_digest(BIG)
    process.stdin.close()
    process.wait(DEADLINE_S)


@pytest.mark.big
@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_s_client_sends_100_mb(halter, server, workdir, version):
    with open(workdir / "request", "wb") as out:
        out.write(b"SINK %d\n" % BIG)
        out.writelines(blocks(BIG))
    address = halter(backend=server, binary=plain_binary()).address
    with open(workdir / "request", "rb") as request:
        done = s_client(address, "-quiet", version, stdin=request)
    assert done.stdout.decode() == body_digest(BIG)


def test_curl_fetches_through_every_kind_of_backend(halter, nginx, certs):
    (nginx.root / "small").write_bytes(body(300000))
    for backend in (nginx.tcp, nginx.unix):
        address = halter(backend=backend).address
        assert curl(address, "/small", ca=certs.ca_path, text=False) == body(300000)


def test_curl_keeps_one_connection_for_many_requests(halter, backend_of):
    server = backend_of("http")
    address = halter(backend=server).address
    assert curl(address, "/bytes/[1-20]", "-o", "/dev/null", "-w", "%{size_download} ") == "".join(
        "%d " % n for n in range(1, 21)
    )
    assert server.accepted == 1


# half-close


@BOTH_VERSIONS
@pytest.mark.parametrize("fin", [False, True], ids=["close_notify", "close_notify-and-fin"])
def test_reply_still_arrives_after_the_client_has_ended(halter, backend, context, fin):
    address = halter(backend=backend).address
    with TlsClient(address, context()) as client, backend.accept() as served:
        client.send(b"request")
        client.shutdown_write() if fin else client.close_notify()
        assert served.recv_to_end() == b"request"
        for block in blocks(1000000):
            served.send(block)
        served.shutdown_write()
        assert digest(iter(client.recv_some, b"")) == body_digest(1000000)


@BOTH_VERSIONS
def test_request_still_arrives_after_the_backend_has_ended(halter, backend, context):
    address = halter(backend=backend).address
    with TlsClient(address, context()) as client, backend.accept() as served:
        served.send(b"reply")
        served.shutdown_write()
        assert client.recv_to_end() == b"reply"
        sending = in_thread(lambda: [client.send(b) for b in blocks(1000000)] and client.close_notify())
        assert digest(iter(served.recv_some, b"")) == body_digest(1000000)
        sending.finish()


def test_last_bytes_and_end_in_one_segment_are_both_seen(halter, backend):
    """Data and close_notify in one write; data and FIN of the backend likewise."""
    address = halter(backend=backend).address
    with TlsClient(address) as client, backend.accept() as served:
        client.object.write(b"last words")
        client.close_notify()
        assert served.recv_to_end() == b"last words"
        served.send(b"farewell").shutdown_write()
        assert client.recv_to_end() == b"farewell"


def test_unread_reply_is_delivered_whole_after_the_backend_is_gone(halter, backend):
    """The backend has written, closed and is forgotten before the client reads its first byte."""
    address = halter(backend=backend).address
    with TlsClient(address, receive_buffer=4096) as client:
        served = backend.accept()
        sending = in_thread(lambda: [served.send(b) for b in blocks(3000000)] and served.close())
        first = client.recv_exact(1)
        rest = client.recv_to_end()
        sending.finish()
        assert digest(first + rest) == body_digest(3000000)


def test_both_ends_at_once(halter, backend):
    address = halter(backend=backend).address
    for _ in range(20):
        with TlsClient(address) as client, backend.accept() as served:
            served.shutdown_write()
            client.close_notify()
            assert served.recv_to_end() == b""
            assert client.recv_to_end() == b""


@pytest.mark.parametrize("unread", [0, 5000000])
def test_answer_in_the_middle_of_an_upload_arrives(halter, backend, unread):
    """As HTTP's 413: the backend answers before it has read all, ends, and closes; the answer must not be lost."""
    address = halter(backend=backend).address
    with TlsClient(address) as client, backend.accept() as served:
        client.send(b"request")
        served.recv_exact(7)
        for block in blocks(unread // 10):
            client.send(block)
        served.send(b"no, too large")
        served.shutdown_write()
        served.close()
        assert client.recv_exact(13) == b"no, too large"


@pytest.mark.parametrize("how", ["close", "reset"])
def test_backend_that_ends_at_once(halter, backend, how):
    address = halter(backend=backend).address
    for _ in range(5):
        with TlsClient(address) as client:
            served = backend.accept()
            if how == "close":
                served.close()
                assert client.recv_to_end() == b""
            else:  # before a byte of a reply: as good as refused
                served.reset()
                client.wait_ended()


@BOTH_VERSIONS
def test_halter_closes_the_socket_once_both_have_ended(halter, backend, context):
    address = halter(backend=backend).address
    with TlsClient(address, context()) as client, backend.accept() as served:
        served.shutdown_write()
        assert client.recv_to_end() == b""
        client.close_notify()
        assert client.raw.wait_ended() == "eof"
        assert served.recv_to_end() == b""


def test_client_that_never_answers_close_notify_is_let_go(halter, server):
    """close-timeout ends the wait for the client's close_notify and FIN."""
    address = halter(backend=server, lines="close-timeout = 1\nhalf-close-timeout = 1\n").address
    with TlsClient(address) as client:
        client.send(b"SOURCE 10\n")
        assert client.recv_to_end() == body(10)
        client.raw.wait_ended()


# failures


def test_backend_reset_is_no_clean_end_for_the_client(halter, backend):
    address = halter(backend=backend).address
    with TlsClient(address) as client:
        served = backend.accept()
        served.send(body(5000))
        assert client.recv_exact(5000) == body(5000)
        served.reset()
        assert client.wait_ended() in ("reset", "truncated", "alert")


def test_backend_reset_while_the_client_uploads(halter, backend):
    """A client that only writes and never reads is cut off too, after close-timeout at the latest."""
    address = halter(backend=backend, lines="close-timeout = 1\n").address
    with TlsClient(address) as client:
        served = backend.accept()
        client.send(b"hello")
        assert served.recv_exact(5) == b"hello"
        served.reset()
        block = body(1 << 16)
        with pytest.raises((ConnectionError, ssl.SSLError)):
            while True:
                client.send(block)


@pytest.mark.parametrize("stage", ["idle", "request-sent", "mid-download", "mid-upload"])
def test_client_reset_ends_the_backend_connection(halter, backend, stage):
    address = halter(backend=backend).address
    client = TlsClient(address)
    with backend.accept() as served:
        if stage != "idle":
            client.send(b"request")
            assert served.recv_exact(7) == b"request"
        if stage == "mid-download":
            sending = in_thread(lambda: [served.send(b) for b in blocks(1 << 28)])
            client.recv_exact(100000)
            client.reset()
            with pytest.raises(ConnectionError):
                sending.finish()
        elif stage == "mid-upload":
            client.send(body(100000))
            served.recv_exact(1000)
            client.reset()
            served.wait_ended()
        else:
            client.reset()
            assert served.wait_ended() in ("eof", "reset")


def test_client_fin_without_close_notify_ends_the_request(halter, backend):
    """Many clients end so. What came is delivered, the backend hears of the end, and its answer may still go out."""
    address = halter(backend=backend).address
    with TlsClient(address) as client, backend.accept() as served:
        client.send(b"request")
        client.raw.shutdown_write()
        assert served.recv_exact(7) == b"request"
        if served.wait_ended() == "eof":
            served.send(b"reply").shutdown_write()
            assert client.recv_to_end() == b"reply"
        client.wait_ended()


@pytest.mark.parametrize("stage", ["before-hello", "mid-hello", "after-hello", "mid-finished"])
@pytest.mark.parametrize("how", ["fin", "reset"])
def test_client_that_leaves_during_the_handshake_harms_nobody(halter, server, stage, how):
    address = halter(backend=server).address
    for _ in range(5):
        client = TlsClient(address, handshake=False)
        if stage != "before-hello":
            with pytest.raises(ssl.SSLWantReadError):
                client.object.do_handshake()
            hello = client.outgoing.read()
            client.raw.send(hello[: len(hello) // 2] if stage == "mid-hello" else hello)
        if stage in ("after-hello", "mid-finished"):
            client.receive_ready()
        if stage == "mid-finished":
            try:
                client.object.do_handshake()
            except ssl.SSLWantReadError:
                pass
            client.raw.send(client.outgoing.read()[:-3])
        if how == "reset":
            client.reset()
        else:
            client.raw.shutdown_write()
            client.raw.wait_ended()
            client.close()
    with TlsClient(address) as client:
        client.send(b"SOURCE 10\n")
        assert client.recv_to_end() == body(10)


def test_refused_backend_ends_the_connection_and_only_that(halter, backend_of):
    dead = backend_of("dead")
    instance = halter(backend=dead, log_level=3)
    for _ in range(3):
        try:
            with TlsClient(instance.address, tls12()) as client:
                client.wait_ended()
        except (ConnectionError, ssl.SSLError):
            pass
    instance.stop()
    assert instance.totals()["backend_connect_failures"] >= 3


def test_backend_that_comes_up_later_is_used(halter, backend_of):
    """Refused at first; no restart of halter is needed once the backend listens (unix socket replaced in place)."""
    first = backend_of("commands", unix=True)
    address = halter(backend=first).address
    first.close()
    try:
        with TlsClient(address, tls12()) as client:
            client.wait_ended()
    except (ConnectionError, ssl.SSLError):
        pass
    os.unlink(first.spec)
    second = ThreadedBackend(commands, first.spec)
    try:
        with TlsClient(address) as client:
            client.send(b"SOURCE 10\n")
            assert client.recv_to_end() == body(10)
    finally:
        second.close()


def test_backend_connect_timeout_ends_the_connection(halter, backend_of):
    """The backend's queue is full: no answer to any SYN."""
    stuck = backend_of("stuck")
    address = halter(backend=stuck, lines="backend-connect-timeout = 1\n").address
    try:
        with TlsClient(address, tls12()) as client:
            client.wait_ended()
    except (ConnectionError, ssl.SSLError):
        pass


def test_client_that_leaves_while_the_backend_is_being_connected(halter, backend_of):
    stuck = backend_of("stuck")
    instance = halter(backend=stuck, lines="backend-connect-timeout = 30\n")
    clients = [connect(instance.address) for _ in range(5)]
    for wire in clients:
        client = TlsClient(wire, tls12(), handshake=False)
        try:
            client.handshake()
        except (ConnectionError, ssl.SSLError):
            continue
        client.reset()


def test_request_sent_before_the_backend_accepts_is_not_lost(halter, backend):
    """All of a small request and the client's end arrive before accept() is called."""
    address = halter(backend=backend).address
    with TlsClient(address) as client:
        client.send(b"early").close_notify()
        with backend.accept() as served:
            assert served.recv_to_end() == b"early"
            served.send(b"late").shutdown_write()
            assert client.recv_to_end() == b"late"


@BOTH_VERSIONS
def test_keys_are_updated_or_records_are_broken(halter, server, context):
    """A flipped bit in an encrypted record is answered with an alert, never passed on."""
    address = halter(backend=server).address
    with TlsClient(address, context()) as client:
        client.send(b"ECHO\nabc")
        assert client.recv_exact(3) == b"abc"
        client.object.write(b"secret")
        broken = bytearray(client.outgoing.read())
        broken[-1] ^= 1
        client.raw.send(bytes(broken))
        assert client.wait_ended() in ("alert", "reset")
