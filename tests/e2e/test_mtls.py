"""Client certificates: asked for, checked, told to the backend, and never got around."""

import ssl
import urllib.parse

import pytest

from cryptography import x509

from harness import proxy_header as proxy
from harness.certs import CertificateStore
from harness.halter import http_binary, run
from harness.tls import TlsClient, client_context, tls12, tls13

VERSIONS = pytest.mark.parametrize("context", [tls12, tls13], ids=["tls1.2", "tls1.3"])
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """A second CA, for clients, with one of them; and a third one that nobody trusts."""
    store = CertificateStore(tmp_path_factory.mktemp("clients"))
    store.alice = store.make("alice", ["alice.clients.test"], common_name="Alice")
    other = CertificateStore(tmp_path_factory.mktemp("strangers"))
    store.mallory = other.make("mallory", ["alice.clients.test"], common_name="Alice")
    return store


def shows(context, person):
    made = context()
    made.load_cert_chain(str(person.path))
    return made


def verify(people, mode="required"):
    return 'client-verify = %s\nclient-verify-ca = "%s"\n' % (mode, people.ca_path)


def is_refused(address, context, name=None):
    """The handshake, or in TLS 1.3 the first read after it, fails with an alert."""
    try:
        with TlsClient(address, context, name=name) as client:
            client.send(b"hello")
            client.recv_some()
        return False
    except (ssl.SSLError, OSError):
        return True


@VERSIONS
def test_required(halter, backend, people, context):
    instance = halter(backend=backend, lines=verify(people))
    with TlsClient(instance.address, shows(context, people.alice)) as client, backend.accept() as served:
        client.send(b"hello")
        assert served.recv_exact(5) == b"hello"
    assert is_refused(instance.address, context())
    assert is_refused(instance.address, shows(context, people.mallory))
    assert backend.nothing_waits()


@VERSIONS
def test_optional(halter, backend, people, context):
    instance = halter(backend=backend, lines=verify(people, "optional"))
    for made in (shows(context, people.alice), context()):
        with TlsClient(instance.address, made) as client, backend.accept() as served:
            client.send(b"hello")
            assert served.recv_exact(5) == b"hello"
    assert is_refused(instance.address, shows(context, people.mallory))  # a wrong one is worse than none


def test_for_one_certificate_only(halter, backend, people, certs):
    block = 'pem-file = {\n cert = "%s"\n client-verify = required\n client-verify-ca = "%s"\n}\n' % (
        certs.exact.path,
        people.ca_path,
    )
    instance = halter(backend=backend, pems=[], lines=block + 'pem-file = "%s"\n' % certs.default.path)
    with TlsClient(instance.address, name="default.test") as client, backend.accept() as served:
        client.send(b"hello")
        assert served.recv_exact(5) == b"hello"
    assert is_refused(instance.address, client_context(), name="www.wild.test")
    with (
        TlsClient(instance.address, shows(client_context, people.alice), name="www.wild.test") as client,
        backend.accept() as served,
    ):
        client.send(b"hello")
        assert served.recv_exact(5) == b"hello"


def test_for_one_frontend_only(halter, backend, people):
    blocks = [
        '{ host = "127.0.0.1" port = "0" }',
        '{ host = "127.0.0.2" port = "0" client-verify = required client-verify-ca = "%s" }' % people.ca_path,
    ]
    instance = halter(backend=backend, frontends=blocks)
    with TlsClient(instance.addresses[0]) as client, backend.accept() as served:
        client.send(b"hello")
        assert served.recv_exact(5) == b"hello"
    assert is_refused(instance.addresses[1], client_context())


def test_a_session_does_not_get_around_it(halter, backend, people, certs):
    """A session without a certificate, got where none is asked for, is worth nothing where one is (CVE-2025-23419)."""
    blocks = [
        '{ host = "127.0.0.1" port = "0" }',
        '{ host = "127.0.0.2" port = "0" client-verify = required client-verify-ca = "%s" }' % people.ca_path,
    ]
    instance = halter(backend=backend, frontends=blocks)
    context = tls12()
    with TlsClient(instance.addresses[0], context) as client, backend.accept():
        session = client.session
        client.close_notify()
    with pytest.raises((ssl.SSLError, OSError)):
        TlsClient(instance.addresses[1], context, session=session)


def test_a_session_keeps_the_certificate(halter, backend, people):
    instance = halter(backend=backend, lines=verify(people) + "write-proxy-v2 = on\n")
    context = shows(tls12, people.alice)
    with TlsClient(instance.address, context) as client, backend.accept() as served:
        bits, result, _ = proxy.read_ssl_tlv(dict(proxy.read_v2(served).tlvs)[proxy.SSL])
        assert (bits, result) == (0x07, 0)
        session = client.session
        client.close_notify()
    with TlsClient(instance.address, context, session=session) as client, backend.accept() as served:
        assert client.resumed
        bits, result, _ = proxy.read_ssl_tlv(dict(proxy.read_v2(served).tlvs)[proxy.SSL])
        assert (bits, result) == (0x05, 0)  # shown in the session, not in this connection


def test_the_backend_is_told(halter, backend, people):
    instance = halter(
        backend=backend, lines=verify(people, "optional") + "write-proxy-v2 = on\nproxy-client-cert = on\n"
    )
    with TlsClient(instance.address, shows(client_context, people.alice)), backend.accept() as served:
        tlvs = dict(proxy.read_v2(served).tlvs)
        assert x509.load_pem_x509_certificate(tlvs[0xE0]) == people.alice.certificate
    with TlsClient(instance.address), backend.accept() as served:
        tlvs = dict(proxy.read_v2(served).tlvs)
        assert 0xE0 not in tlvs
        assert proxy.read_ssl_tlv(tlvs[proxy.SSL])[:2] == (0x01, 1)


@pytest.mark.parametrize("content", [None, b"", b"no certificate\n", b"-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_bundle_that_cannot_be_read_disables_the_host_not_the_checks(certs, workdir, content):
    bundle = workdir / "ca.pem"
    if content is not None:
        bundle.write_bytes(content)
    result = run("-t", "--client-verify=required", "--client-verify-ca=%s" % bundle, str(certs.default.path))
    assert result.returncode == 1
    assert str(bundle) in result.stderr


def test_required_without_a_bundle_is_a_fault(certs):
    result = run("-t", "--client-verify=required", str(certs.default.path))
    assert result.returncode == 1 and "client-verify-ca" in result.stderr


# ---- HTTP mode ----


def read_head(wire):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += wire.recv_exact(1)
    return head


def test_http_fields_of_the_certificate(halter, backend, people):
    lines = verify(people, "optional") + (
        "http = on\n"
        'http-add = "x-forwarded-client-subject,x-forwarded-client-serial,x-forwarded-client-fingerprint,'
        'x-forwarded-client-cert"\n'
    )
    instance = halter(backend=backend, binary=http_binary(), lines=lines)
    forged = b"GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-Client-Subject: CN=Root\r\nX_Forwarded_Client_Cert: x\r\n\r\n"
    with TlsClient(instance.address, shows(client_context, people.alice)) as client, backend.accept() as served:
        client.send(forged)
        fields = dict(line.split(b": ", 1) for line in read_head(served).split(b"\r\n")[1:] if line)
        assert fields[b"X-Forwarded-Client-Subject"] == b"CN=Alice"
        assert int(fields[b"X-Forwarded-Client-Serial"], 16) == people.alice.certificate.serial_number
        pem = urllib.parse.unquote_to_bytes(fields[b"X-Forwarded-Client-Cert"])
        assert x509.load_pem_x509_certificate(pem) == people.alice.certificate
        assert len(fields[b"X-Forwarded-Client-Fingerprint"]) == 64
    with TlsClient(instance.address) as client, backend.accept() as served:
        client.send(forged)
        assert b"client" not in read_head(served).lower()


@pytest.fixture
def guarded(halter, backend, people, certs):
    """www.wild.test asks for certificates, default.test does not."""
    block = 'pem-file = {\n cert = "%s"\n client-verify = required\n client-verify-ca = "%s"\n}\n' % (
        certs.exact.path,
        people.ca_path,
    )
    return halter(
        backend=backend,
        binary=http_binary(),
        pems=[],
        lines=block + 'pem-file = "%s"\npem-file = "%s"\nhttp = on\n' % (certs.many.path, certs.default.path),
    )


def status_of(client, host):
    client.send(b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % host)
    return int(read_head(client).split(b" ")[1])


@pytest.mark.parametrize(
    "name, host",
    [
        ("default.test", b"www.wild.test"),
        ("default.test", b"WWW.Wild.Test.:443"),
        ("a.many.test", b"www.wild.test"),
        (None, b"www.wild.test"),
        ("unknown.test", b"www.wild.test"),
    ],
)
def test_a_host_that_verifies_is_not_reached_by_way_of_another(guarded, name, host):
    with TlsClient(guarded.address, name=name) as client:
        assert status_of(client, host) == 421


def test_without_a_name_the_default_host_is_served(halter, backend, people):
    instance = halter(backend=backend, binary=http_binary(), lines=verify(people) + "http = on\n")
    for host in (b"default.test", b"unknown.test", b"127.0.0.1"):
        with TlsClient(instance.address, shows(client_context, people.alice)) as client, backend.accept() as served:
            client.send(b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % host)
            assert b"Host: %s\r\n" % host in read_head(served)


@pytest.mark.parametrize("host", [b"default.test", b"a.many.test", b"unknown.test", b"127.0.0.1"])
def test_nor_another_by_way_of_it(guarded, people, host):
    with TlsClient(guarded.address, shows(client_context, people.alice), name="www.wild.test") as client:
        assert status_of(client, host) == 421


@pytest.mark.parametrize(
    "name, host, shown",
    [
        ("www.wild.test", b"www.wild.test", True),
        ("www.wild.test", b"WWW.wild.test.:8443", True),
        ("default.test", b"default.test", False),
        ("default.test", b"a.many.test", False),
        ("a.many.test", b"b.many.test", False),
        (None, b"127.0.0.1", False),
    ],
)
def test_what_belongs_together_is_served(guarded, backend, people, name, host, shown):
    context = shows(client_context, people.alice) if shown else client_context()
    with TlsClient(guarded.address, context, name=name) as client, backend.accept() as served:
        client.send(b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % host)
        assert b"Host: %s\r\n" % host in read_head(served)
