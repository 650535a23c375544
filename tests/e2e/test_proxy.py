"""What halter tells the backend about the client: PROXY v1, v2 with its TLVs, write-ip, and nothing."""

import ipaddress
import socket

import pytest

from harness import proxy_header as proxy
from harness.body import body
from harness.peers import curl
from harness.tls import TlsClient, client_context, tls12, tls13

SIDES = pytest.mark.parametrize("host", ["127.0.0.1", "::1"], ids=["ipv4", "ipv6"])
VERSIONS = pytest.mark.parametrize("context", [tls12, tls13], ids=["tls1.2", "tls1.3"])


def frontend(host):
    return "[%s]:0" % host


def local(client):
    return client.socket.getsockname()[:2]


def remote(client):
    return client.socket.getpeername()[:2]


@SIDES
def test_v1_line_is_exact(halter, backend, host):
    address = halter(backend=backend, frontends=[frontend(host)], lines="write-proxy-v1 = on\n").address
    with TlsClient(address) as client, backend.accept() as served:
        expected = "PROXY %s %s %s %d %d\r\n" % (
            "TCP6" if ":" in host else "TCP4",
            host,
            host,
            local(client)[1],
            address[1],
        )
        client.send(b"first bytes").close_notify()
        assert served.recv_to_end() == expected.encode() + b"first bytes"


@SIDES
@VERSIONS
def test_v2_addresses_and_ssl_tlv(halter, backend, host, context):
    address = halter(backend=backend, frontends=[frontend(host)], lines="write-proxy-v2 = on\n").address
    with TlsClient(address, context()) as client, backend.accept() as served:
        header = proxy.read_v2(served)
        assert (header.source, header.destination) == (local(client), remote(client))
        assert header.family == ("TCP6" if ":" in host else "TCP4")
        assert [kind for kind, _ in header.tlvs] == [proxy.SSL]
        bits, verify, inner = proxy.read_ssl_tlv(dict(header.tlvs)[proxy.SSL])
        assert (bits, verify) == (0x01, 1)
        assert inner == {proxy.SSL_VERSION: client.version.encode(), proxy.SSL_CIPHER: client.cipher.encode()}
        client.send(b"payload").close_notify()
        assert served.recv_to_end() == b"payload"


@pytest.mark.parametrize("key", ["write-proxy", "write-proxy-v2"])
def test_v2_tlvs_in_hitchs_order(halter, backend, key):
    address = halter(backend=backend, lines='%s = on\nalpn-protos = "h2,http/1.1"\n' % key).address
    with TlsClient(address, client_context(alpn=["h2"]), name="Some.Name.test") as client, backend.accept() as served:
        header = proxy.read_v2(served)
        assert [kind for kind, _ in header.tlvs] == [proxy.ALPN, proxy.AUTHORITY, proxy.SSL]
        assert header.tlvs[0][1] == b"h2"
        assert header.tlvs[1][1].lower() == b"some.name.test"
        assert client.alpn == "h2"


def test_v2_without_ssl_tlv(halter, backend):
    address = halter(backend=backend, lines='write-proxy-v2 = on\nproxy-tlv = off\nalpn-protos = "h2"\n').address
    with TlsClient(address, client_context(alpn=["h2"]), name="a.test"), backend.accept() as served:
        header = proxy.read_v2(served)
        assert header.tlvs == [(proxy.ALPN, b"h2"), (proxy.AUTHORITY, b"a.test")]


def test_v2_without_authority(halter, backend):
    address = halter(backend=backend, lines="write-proxy-v2 = on\nproxy-authority = off\n").address
    with TlsClient(address, name="a.test"), backend.accept() as served:
        assert [kind for kind, _ in proxy.read_v2(served).tlvs] == [proxy.SSL]


def test_v2_without_any_tlv_is_28_bytes(halter, backend):
    address = halter(backend=backend, lines="write-proxy-v2 = on\nproxy-authority = off\nproxy-tlv = off\n").address
    with TlsClient(address, name="a.test") as client, backend.accept() as served:
        expected = (
            proxy.SIGNATURE
            + b"\x21\x11\x00\x0c"
            + socket.inet_aton("127.0.0.1") * 2
            + local(client)[1].to_bytes(2, "big")
            + address[1].to_bytes(2, "big")
        )
        client.close_notify()
        assert served.recv_to_end() == expected


@SIDES
def test_write_ip_is_family_and_raw_address(halter, backend, host):
    address = halter(backend=backend, frontends=[frontend(host)], lines="write-ip = on\n").address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with TlsClient(address) as client, backend.accept() as served:
        client.send(b"x").close_notify()
        assert served.recv_to_end() == bytes([family]) + ipaddress.ip_address(host).packed + b"x"


def test_nothing_is_written_by_default(halter, backend):
    with TlsClient(halter(backend=backend).address) as client, backend.accept() as served:
        client.send(b"x").close_notify()
        assert served.recv_to_end() == b"x"


@pytest.mark.parametrize("host, family", [("127.0.0.1", "TCP4"), ("::1", "TCP6")])
def test_wildcard_frontend_tells_the_real_local_address(halter, backend, host, family):
    """Not 0.0.0.0, not ::, and no IPv4-mapped address."""
    instance = halter(backend=backend, frontends=["[*]:0"], lines="write-proxy-v1 = on\n")
    port = next(port for bound, port in instance.addresses if (":" in bound) == (":" in host))
    with TlsClient((host, port)) as client, backend.accept() as served:
        header = proxy.read_v1(served)
        assert header.family == family
        assert (header.source, header.destination) == (local(client), (host, port))


def test_header_comes_even_when_the_client_says_nothing(halter, backend):
    address = halter(backend=backend, lines="write-proxy-v2 = on\n").address
    with TlsClient(address) as client, backend.accept() as served:
        proxy.read_v2(served)
        served.send(b"server first").shutdown_write()
        assert client.recv_to_end() == b"server first"


def test_each_connection_has_its_own_header(halter, backend_of):
    def recorder(wire):
        header = proxy.read_v2(wire)
        wire.send(b"%d\n" % header.source[1])

    instance = halter(
        backend=backend_of("recorder", handler=recorder, unix=True), workers=2, lines="write-proxy-v2 = on\n"
    )
    clients = [TlsClient(instance.address) for _ in range(40)]
    for client in clients:
        with client:
            assert int(client.recv_line()) == local(client)[1]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_nginx_accepts_it(halter, nginx, version):
    address = halter(backend=nginx.proxied, lines="write-proxy-%s = on\n" % version).address
    address_seen, port_seen = curl(address, "/", "--local-port", "20000-30000").split()
    assert address_seen == "127.0.0.1" and 20000 <= int(port_seen) <= 30000


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("kind", ["unix", "tcp"])
@SIDES
def test_haproxy_accepts_it(halter, haproxy, version, kind, host):
    address = halter(
        backend=getattr(haproxy, kind), frontends=[frontend(host)], lines="write-proxy-%s = on\n" % version
    ).address
    fields = curl(address, "/", "--local-port", "20000-30000", name="seen.test").split()
    assert (fields[0], fields[2], int(fields[3])) == (host, host, address[1])
    assert 20000 <= int(fields[1]) <= 30000
    if version == "v2":
        assert fields[4] == "seen.test"


def test_large_bodies_follow_the_header(halter, backend_of):
    def recorder(wire):
        proxy.read_v1(wire)
        wire.send(wire.recv_to_end())

    address = halter(backend=backend_of("recorder", handler=recorder), lines="write-proxy-v1 = on\n").address
    with TlsClient(address) as client:
        client.send(body(300000)).close_notify()
        assert client.recv_to_end() == body(300000)
