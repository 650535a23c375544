"""Things that go wrong around halter: stopped processes, exhausted limits, odd files, signals at bad moments."""

import base64
import os
import signal
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from harness import hello
from harness.body import body, body_digest, digest
from harness.certs import Certificate
from harness.halter import IS_ROOT, run
from harness.peers import find_tool
from harness.tls import TlsClient, tls12, tls13
from harness.wait import own_address, wait_gone
from harness.wire import connect


def fetch(address, count=10, context=None):
    with TlsClient(address, context) as client:
        client.send(b"SOURCE %d\n" % count)
        assert client.recv_to_end() == body(count)
    return True


# stopped processes


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
def test_worker_that_does_not_listen_cannot_keep_halter_alive(halter, server, number):
    """SIGSTOP stands for a worker that hangs: after a while the master kills it."""
    instance = halter(backend=server, workers=2, lines="drain-timeout = 1\n")
    os.kill(instance.workers()[0], signal.SIGSTOP)
    instance.stop(number)


def test_hanging_worker_does_not_stop_a_reload(halter, server):
    instance = halter(backend=server, lines="drain-timeout = 1\n")
    (worker,) = instance.workers()
    os.kill(worker, signal.SIGSTOP)
    instance.reload()
    assert fetch(instance.address)
    wait_gone([worker])


def test_stopped_master_does_not_stop_service(halter, server):
    """Its log channel fills up; workers drop lines and go on."""
    instance = halter(backend=server, workers=2, log_level=3)
    instance.send_signal(signal.SIGSTOP)
    try:
        for _ in range(10):
            for _ in range(60):
                with connect(instance.address) as wire:
                    wire.send(b"x" * 10)
                    wire.wait_ended()
            assert fetch(instance.address)
    finally:
        instance.send_signal(signal.SIGCONT)
    assert fetch(instance.address)


@pytest.mark.parametrize("spins", [0, 1, 3, 10, 30, 100, 300, 1000])
def test_term_during_the_start(halter, conf, spins):
    instance = halter(conf(workers=3), ready=False)
    for _ in range(spins):
        os.sched_yield()
    instance.send_signal(signal.SIGTERM)
    assert instance.wait_exit(None) in (0, -signal.SIGTERM)


def test_master_killed_during_a_reload(halter, server):
    instance = halter(backend=server, workers=2)
    instance.send_signal(signal.SIGHUP)
    instance.notify.wait_for("RELOADING=1", instance.process)
    workers = instance.workers()
    instance.send_signal(signal.SIGKILL)
    instance.wait_exit(None)
    wait_gone(workers)


def test_reload_of_a_configuration_from_standard_input(certs, halter, conf, server, workdir):
    """It cannot be read again; what was read at the start stays, and certificates are renewed all the same."""
    pem = write_pem(workdir / "site.pem", certs.default.pem)
    given = workdir / "given.conf"
    given.write_text(conf(backend=server, pems=[pem]))
    script = 'f="$1"; shift; exec "$@" --config=- <"$f"'
    instance = halter("workers = 1\n", wrapper=["sh", "-c", script, "sh", str(given)])
    pem.write_bytes(certs.rsa.pem)
    instance.reload(settled=True)
    with TlsClient(instance.address) as client:
        assert client.peer_der == certs.rsa.der


# limits


def test_many_at_once_with_few_descriptors(halter, server):
    """Each connection needs two; those beyond the limit wait, none fails."""
    instance = halter(backend=server, nofile=48, lines="backlog = 200\n")
    with ThreadPoolExecutor(100) as pool:
        assert all(pool.map(lambda _: fetch(instance.address, 1000), range(200)))


def test_hundred_frontends(halter, server):
    host, port = own_address()
    frontends = ["[%s]:%d" % (host.rsplit(".", 1)[0] + ".%d" % (1 + n), port) for n in range(100)]
    instance = halter(backend=server, frontends=frontends, workers=3)
    assert len(instance.addresses) == 100
    for address in instance.addresses[::9]:
        assert fetch(address)
    instance.reload(settled=True)
    assert fetch(instance.addresses[99])


# files


def write_pem(path, *parts):
    path.write_bytes(b"".join(parts))
    return path


def key_pem(key, encryption=None):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption or serialization.NoEncryption()
    )


def check(workdir, *pems):
    """halter -t with these certificates."""
    return run("-t", *(["--user=nobody"] if IS_ROOT else []), "--frontend=[127.0.0.1]:0", *pems)


def test_encrypted_key_is_refused_without_asking(workdir, certs):
    """A prompt would hang a service."""
    encrypted = key_pem(certs.default.key, serialization.BestAvailableEncryption(b"secret"))
    path = write_pem(workdir / "a.pem", encrypted, certs.default.certificate_pem)
    done = check(workdir, path)
    assert done.returncode == 1 and str(path) in done.stderr


@pytest.mark.parametrize("kind", ["crlf", "text-around", "no-newline", "ec-parameters", "traditional"])
def test_odd_but_good_pem_files(workdir, certs, kind):
    pem = certs.default.pem
    data = {
        "crlf": pem.replace(b"\n", b"\r\n"),
        "text-around": b"Bag Attributes\n  friendlyName: x\n"
        + pem.replace(b"-----BEGIN CERT", b"subject=x\n-----BEGIN CERT"),
        "no-newline": pem.rstrip(b"\n"),
        "ec-parameters": b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + pem,
        "traditional": certs.default.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
        + certs.default.certificate_pem,
    }[kind]
    done = check(workdir, write_pem(workdir / "a.pem", data))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["p384", "rsa4096", "ed25519"])
def test_other_kinds_of_keys(halter, server, certs, workdir, kind):
    key = {
        "p384": lambda: ec.generate_private_key(ec.SECP384R1()),
        "rsa4096": lambda: rsa.generate_private_key(65537, 4096),
        "ed25519": ed25519.Ed25519PrivateKey.generate,
    }[kind]()
    certificate = certs._sign("kind.test", ["kind.test"], key, (certs.ca, certs.ca_key))
    made = Certificate(key, certificate, workdir, kind)
    address = halter(backend=server, pems=[made]).address
    for context in (tls12(ca=certs.ca_path), tls13(ca=certs.ca_path)):
        with TlsClient(address, context, name="kind.test") as client:
            assert client.peer_der == made.der


def test_weak_key_is_refused_with_its_file(workdir, certs):
    key = rsa.generate_private_key(65537, 1024)
    certificate = certs._sign("weak.test", ["weak.test"], key, (certs.ca, certs.ca_key))
    path = write_pem(workdir / "weak.pem", key_pem(key), certificate.public_bytes(serialization.Encoding.PEM))
    done = check(workdir, path)
    assert done.returncode == 1 and str(path) in done.stderr, done.stderr


FFDHE2048 = """
FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1D8B9C583CE2D3695A9E13641146433FBCC939DCE249B3EF97D2FE363630C75D8
F681B202AEC4617AD3DF1ED5D5FD65612433F51F5F066ED0856365553DED1AF3B557135E7F57C935984F0C70E0E68B77E2A689DAF3EFE872
1DF158A136ADE73530ACCA4F483A797ABC0AB182B324FB61D108A94BB2C8E3FBB96ADAB760D7F4681D4F42A3DE394DF4AE56EDE76372BB19
0B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F619172FE9CE98583FF8E4F1232EEF28183C3FE3B1B4C6FAD733BB5FCBC2EC22005
C58EF1837D1683B2C6F34A26C1B2EFFA886B423861285C97FFFFFFFFFFFFFFFF
"""  # RFC 7919, appendix A.1


def dh_parameters_pem():
    """PKCS #3: SEQUENCE { INTEGER p, INTEGER g }."""
    prime = b"\0" + bytes.fromhex("".join(FFDHE2048.split()))
    content = b"\x02\x82" + len(prime).to_bytes(2, "big") + prime + b"\x02\x01\x02"
    text = base64.encodebytes(b"\x30\x82" + len(content).to_bytes(2, "big") + content)
    return b"-----BEGIN DH PARAMETERS-----\n" + text + b"-----END DH PARAMETERS-----\n"


def test_dh_parameters_of_the_operator_enable_dhe(halter, server, certs, workdir):
    """As hitch: a PEM file may hold them. Without them there is no finite-field DHE."""
    path = write_pem(workdir / "dh.pem", certs.rsa.pem, dh_parameters_pem())
    lines = 'ciphers = "ECDHE+AESGCM:DHE+AESGCM"\n'
    answers = []
    for pem in (path, certs.rsa.path):
        with connect(halter(backend=server, pems=[pem], lines=lines).address) as wire:
            wire.send(hello.records(hello.client_hello(versions=(hello.TLS12,), ciphers=(0x009E,))))
            answers.append(hello.read_answer(wire))
    assert answers[0].cipher == 0x009E
    assert answers[1] == "handshake_failure"


def test_directory_of_two_hundred_certificates(halter, server, certs, workdir):
    directory = workdir / "many"
    directory.mkdir()
    for number in range(200):
        made = certs.make("%03d" % number, ["n%d.test" % number, "*.w%d.test" % number], directory=directory)
        made.key_path.unlink()
        made.certificate_path.unlink()
    address = halter(backend=server, lines='pem-dir = "%s"\n' % directory).address
    for name, number in (("n0.test", 0), ("n199.test", 199), ("x.w77.test", 77)):
        with TlsClient(address, tls13(ca=certs.ca_path), name=name) as client:
            assert client.object.getpeercert()["subject"][0][0][1] == "n%d.test" % number


# hostile clients


def test_flood_of_key_updates(halter, server):
    """Thousands of them, each asking for an answer that is never read: the connection may end, nobody else suffers."""
    address = halter(backend=server).address
    process = subprocess.Popen(
        [find_tool("openssl"), "s_client", "-tls1_3", "-connect", "%s:%d" % address],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.stdin.write(b"ECHO\n")
        for _ in range(300):
            process.stdin.write(b"K\n")
            process.stdin.flush()
    except BrokenPipeError:
        pass
    assert fetch(address)
    process.kill()
    process.wait()


def test_client_that_never_reads_its_handshake(halter, server, certs):
    """The flight of the server does not fit a tiny window; the handshake waits and others go on."""
    address = halter(backend=server, lines="send-bufsize = 2048\n").address
    wires = []
    for _ in range(20):
        wire = connect(address, receive_buffer=2048)
        wire.send(hello.records(hello.client_hello(name="default.test")))
        wires.append(wire)
    assert fetch(address)
    for wire in wires:
        wire.close()


def test_half_open_crowd_does_not_hinder_a_download(halter, server):
    address = halter(backend=server, lines="backlog = 500\n").address
    crowd = [connect(address) for _ in range(300)]
    with TlsClient(address) as client:
        client.send(b"SOURCE 3000000\n")
        assert digest(iter(client.recv_some, b"")) == body_digest(3000000)
    for wire in crowd:
        wire.reset()
    assert fetch(address)


def test_connections_opened_and_reset_at_once(halter, server):
    """accept() may find them dead already."""
    instance = halter(backend=server, workers=2)

    def storm(_):
        for _ in range(50):
            connect(instance.address).reset()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(storm, range(4)))
    assert fetch(instance.address)
    assert len(instance.workers()) == 2


# backends


def test_backend_that_is_slow_to_accept_gets_everything(halter, backend_of):
    """A queue of one: further connections are retried by the kernel, none is lost."""
    from harness.backends import Listener, commands
    from harness.wire import Wire

    listener = Listener(backlog=1)
    stop = threading.Event()

    def serve():
        while not stop.is_set():
            try:
                with Wire(listener.socket.accept()[0]) as wire:
                    commands(wire)
            except (OSError, EOFError):
                continue

    threading.Thread(target=serve, daemon=True).start()
    instance = halter(backend=listener)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(lambda _: fetch(instance.address), range(24)))
    finally:
        stop.set()
        try:
            listener.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        listener.close()


def test_unix_backend_with_a_full_queue(halter, backend_of):
    """connect() to a unix socket says EAGAIN then; halter must try again, not give up, not spin."""
    stuck = backend_of("manual", unix=True)
    stuck.socket.listen(0)
    instance = halter(backend=stuck, lines="backend-connect-timeout = 30\n")
    clients = [TlsClient(instance.address) for _ in range(6)]
    for _ in clients:
        with stuck.accept() as served:
            served.send(b"!").shutdown_write()
    for client in clients:
        assert client.recv_exact(1) == b"!"
        client.close()
