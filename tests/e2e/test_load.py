"""Five hundred connections at once, of every manner, and none of the well-behaved ones suffers."""

import ssl
from concurrent.futures import ThreadPoolExecutor

from harness import hello
from harness.body import body, body_digest, digest
from harness.tls import TlsClient, tls12, tls13
from harness.wire import connect


def test_500_connections_of_mixed_behaviour(halter, server):
    instance = halter(backend=server, workers=2, log_level=2, lines="backlog = 1000\n")
    address = instance.address
    data = hello.records(hello.client_hello(name="default.test"))

    # All are open at the same time: 500 TCP connections before anything is said.
    kinds = ["normal", "slow", "silent", "partial", "garbage", "abort-early", "abort-late", "vanish", "echo", "upload"]
    wires = [(kinds[number % len(kinds)], connect(address)) for number in range(500)]

    def behave(kind, wire):
        try:
            if kind == "silent":
                return wire
            if kind == "partial":
                wire.send(data[:100])
                return wire
            if kind == "garbage":
                wire.send(body(3000))
                wire.wait_ended()
                return None
            if kind == "abort-early":
                wire.send(data)
                wire.reset()
                return None
        except ConnectionError:
            return None
        context = tls12() if wire.socket.getsockname()[1] % 3 == 0 else tls13()
        with TlsClient(wire, context) as client:
            if kind == "normal":
                client.send(b"SOURCE 50000\n")
                assert digest(iter(client.recv_some, b"")) == body_digest(50000)
            elif kind == "slow":
                client.send(b"SOURCE 3000\n")
                received = b""
                while len(received) < 3000:
                    received += client.recv_some(17)
                assert received == body(3000)
            elif kind == "echo":
                client.send(b"ECHO\n")
                for turn in range(5):
                    client.send(b"%d" % turn)
                    assert client.recv_exact(1) == b"%d" % turn
            elif kind == "upload":
                client.send(b"SINK\n").send(body(60000)).close_notify()
                assert client.recv_to_end().decode() == body_digest(60000)
            elif kind == "abort-late":
                client.send(b"SOURCE 500000\n")
                client.recv_exact(1000)
                client.reset()
            elif kind == "vanish":
                client.send(b"SINK\nhalf")
        return None

    with ThreadPoolExecutor(24) as pool:
        futures = [pool.submit(behave, kind, wire) for kind, wire in wires]
        open_still = [wire for wire in (future.result() for future in futures) if wire is not None]
    assert len(open_still) == 100
    with TlsClient(address) as client:  # while a hundred stall
        client.send(b"SOURCE 10\n")
        assert client.recv_to_end() == body(10)
    for wire in open_still:
        wire.close()

    instance.stop()
    totals = instance.totals()
    assert totals["connections_accepted"] == 501
    assert totals["handshakes_full"] + totals["handshakes_resumed"] == 301
    assert totals["handshakes_failed"] >= 50


def test_connections_are_served_while_handshakes_fail(halter, server):
    instance = halter(backend=server, workers=2, log_level=2)

    def fail(_):
        with connect(instance.address) as wire:
            try:
                wire.send(b"\x16\x03\x01\x00\x05hello").shutdown_write()
            except ConnectionError:
                pass
            wire.wait_ended()

    def succeed(_):
        with TlsClient(instance.address) as client:
            client.send(b"SOURCE 1000\n")
            return client.recv_to_end() == body(1000)

    with ThreadPoolExecutor(8) as pool:
        failing = [pool.submit(fail, number) for number in range(200)]
        assert all(pool.map(succeed, range(60)))
        for future in failing:
            future.result()
    instance.stop()
    assert instance.totals()["handshakes_full"] == 60
    assert instance.totals()["handshakes_failed"] == 200


def test_resumption_storm(halter, server):
    instance = halter(backend=server, workers=2)
    context = tls12()
    with TlsClient(instance.address, context) as client:
        client.send(b"SOURCE 1\n")
        client.recv_to_end()
        session = client.session

    def resume(_):
        with TlsClient(instance.address, context, session=session) as again:
            again.send(b"SOURCE 10\n")
            return again.resumed and again.recv_to_end() == body(10)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(resume, range(100)))


def test_ssl_module_understands_the_end(halter, server):
    """Python's own blocking client, with its strict end-of-file check, over a thousand small exchanges of one process."""
    instance = halter(backend=server, workers=2)
    context = tls13()
    import socket

    for _ in range(100):
        with socket.create_connection(instance.address, 60) as raw:
            with context.wrap_socket(raw, suppress_ragged_eofs=False) as secure:
                secure.sendall(b"SOURCE 100\n")
                got = b""
                while True:
                    part = secure.recv(4096)
                    if not part:
                        break
                    got += part
                assert got == body(100)
    assert ssl.OPENSSL_VERSION
