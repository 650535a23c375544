"""TLS as clients see it: versions, names, certificates, ciphers, groups, ALPN, tickets, and hostile bytes."""

import re
import ssl
import struct

import pytest

from harness import hello
from harness.body import body, body_digest
from harness.halter import run
from harness.peers import SClient, curl, s_client
from harness.tls import TlsClient, client_context, tls12, tls13
from harness.wire import connect


def answer_to(address, message=None, segments=None, **fields):
    """What the server says to a ClientHello: a ServerHello or the name of an alert."""
    with connect(address) as wire:
        data = hello.records(message or hello.client_hello(**fields))
        wire.send(data, segments)
        return hello.read_answer(wire)


def served(address, name=None, context=None):
    """The certificate that a name gets."""
    with TlsClient(address, context, name=name) as client:
        return client.peer_der


def works(address):
    with TlsClient(address) as client:
        client.send(b"SOURCE 10\n")
        return client.recv_to_end() == body(10)


# versions


@pytest.mark.parametrize("flag, version", [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
def test_openssl_s_client_verifies_and_fetches(halter, server, certs, flag, version):
    address = halter(backend=server).address
    done = s_client(
        address,
        flag,
        "-CAfile",
        certs.ca_path,
        "-verify_return_error",
        "-verify_hostname",
        "localhost",
        "-ign_eof",
        stdin=b"SOURCE 5\n",
    )
    output = done.stdout.decode("latin-1")
    assert version in output and "Verify return code: 0 (ok)" in output, output + done.stderr.decode()


def test_default_is_tls_1_3_and_1_2(halter, server):
    address = halter(backend=server).address
    with TlsClient(address) as client:
        assert client.version == "TLSv1.3"
    with TlsClient(address, tls12()) as client:
        assert client.version == "TLSv1.2"


@pytest.mark.parametrize("version", [0x0300, 0x0301, 0x0302])
def test_old_versions_are_refused_by_default(halter, server, version):
    address = halter(backend=server).address
    answer = answer_to(address, versions=(version,), ciphers=(0xC009, 0xC013, 0x002F))
    assert answer in ("protocol_version", "handshake_failure")


def test_tls_1_1_is_possible_when_asked_for(halter, server):
    address = halter(backend=server, lines='tls-protos = TLSv1.1 TLSv1.2\nciphers = "DEFAULT:@SECLEVEL=0"\n').address
    answer = answer_to(address, versions=(0x0302,), ciphers=(0xC009, 0xC00A))
    assert answer == hello.ServerHello(False, answer.cipher, 0x0302, None)


@pytest.mark.parametrize(
    "protos, answers",
    [
        ("TLSv1.2", {hello.TLS12: True, hello.TLS13: False}),
        ("TLSv1.3", {hello.TLS12: False, hello.TLS13: True}),
        ("TLSv1.2 TLSv1.3", {hello.TLS12: True, hello.TLS13: True}),
    ],
)
def test_tls_protos_selects_versions(halter, server, protos, answers):
    address = halter(backend=server, lines="tls-protos = %s\n" % protos).address
    for version, wanted in answers.items():
        answer = answer_to(address, versions=(version,))
        if wanted:
            assert answer.version == version
        else:
            assert answer == "protocol_version"


def test_frontend_block_has_its_own_versions(halter, server):
    instance = halter(
        backend=server,
        frontends=[
            "[127.0.0.1]:0",
            '{ host = "127.0.0.2"\n port = "0"\n tls-protos = TLSv1.3 }',
        ],
    )
    first, second = instance.addresses
    assert answer_to(first, versions=(hello.TLS12,)).version == hello.TLS12
    assert answer_to(second, versions=(hello.TLS12,)) == "protocol_version"


# names and certificates


@pytest.fixture
def named(halter, server, certs):
    """One halter with all certificates; the default one stands last."""
    return halter(
        backend=server,
        pems=[certs.wildcard, certs.exact, certs.many, certs.chained, certs.cn_only, certs.rsa, certs.default],
    ).address


@pytest.mark.parametrize(
    "name, expected",
    [
        ("default.test", "default"),
        ("www.wild.test", "exact"),
        ("WWW.Wild.TEST", "exact"),
        ("other.wild.test", "wildcard"),
        ("OTHER.WILD.test", "wildcard"),
        ("a.many.test", "many"),
        ("b.many.test", "many"),
        ("c.many.test", "many"),
        ("chained.test", "chained"),
        ("cn-only.test", "cn_only"),
        ("rsa.test", "rsa"),
        ("deep.other.wild.test", "default"),  # a wildcard stands for one label: RFC 6125, section 6.4.3
        ("wild.test", "default"),
        ("unknown.test", "default"),
        (None, "default"),
    ],
)
def test_name_selects_certificate(named, certs, name, expected):
    assert served(named, name) == getattr(certs, expected).der


@pytest.mark.parametrize(
    "name, expected", [("www.wild.test.", "exact"), ("x.wild.test.", "wildcard"), ("WWW.WILD.TEST.", "exact")]
)
def test_trailing_dot_is_the_same_name(named, certs, name, expected):
    done = s_client(named, "-servername", name, "-showcerts", stdin=b"Q\n")
    assert _first_certificate(done.stdout) == getattr(certs, expected).der


def _first_certificate(output):
    text = output.decode("latin-1")
    start = text.index("-----BEGIN CERTIFICATE-----")
    end = text.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")
    return ssl.PEM_cert_to_DER_cert(text[start:end])


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".wild.test", "*.wild.test", "a..b", "x" * 255, "a\0.wild.test", "\xff\xfe", " ", "[::1]"]
)
def test_strange_names_get_the_default_or_an_alert(named, name):
    message = hello.client_hello(
        extra=hello.extension(0, hello.vector(2, b"\0" + hello.vector(2, name.encode("latin-1"))))
    )
    answer = answer_to(named, message)
    assert isinstance(answer, hello.ServerHello) or answer in ("decode_error", "unrecognized_name", "illegal_parameter")
    assert works(named)


@pytest.mark.parametrize("order", [("wildcard", "exact", "default"), ("exact", "wildcard", "default")])
def test_exact_name_wins_over_wildcard_in_any_order(halter, server, certs, order):
    address = halter(backend=server, pems=[getattr(certs, name) for name in order]).address
    assert served(address, "www.wild.test") == certs.exact.der
    assert served(address, "a.wild.test") == certs.wildcard.der


def test_the_last_pem_file_is_the_default(halter, server, certs):
    address = halter(backend=server, pems=[certs.default, certs.rsa, certs.wildcard]).address
    assert served(address, "unknown.test") == certs.wildcard.der
    assert served(address, None) == certs.wildcard.der


def test_pem_files_of_the_command_line_come_last(halter, server, certs):
    instance = halter(backend=server, pems=[certs.default], arguments=[certs.rsa.path, certs.exact.path])
    assert served(instance.address, None) == certs.exact.der
    assert served(instance.address, "rsa.test") == certs.rsa.der
    assert served(instance.address, "default.test") == certs.default.der


def test_of_two_certificates_with_one_name_the_last_wins_and_a_line_says_so(halter, server, certs, workdir):
    first = certs.make("first", ["same.test"], directory=workdir)
    second = certs.make("second", ["same.test"], directory=workdir)
    instance = halter(backend=server, pems=[first, second, certs.default])
    assert served(instance.address, "same.test") == second.der
    instance.log.wait_for(r"same\.test")


def test_clients_that_verify_are_content(named, certs):
    for name in ("default.test", "x.wild.test", "www.wild.test", "c.many.test", "chained.test", "rsa.test"):
        with TlsClient(named, client_context(ca=certs.ca_path), name=name) as client:
            assert client.object.getpeercert()


def test_the_chain_is_sent(named, certs):
    done = s_client(
        named, "-servername", "chained.test", "-CAfile", certs.ca_path, "-verify_return_error", stdin=b"Q\n"
    )
    assert b"Verify return code: 0 (ok)" in done.stdout


@pytest.mark.parametrize("version", [tls12, tls13], ids=["tls1.2", "tls1.3"])
def test_rsa_certificate(halter, server, certs, version):
    address = halter(backend=server, pems=[certs.rsa]).address
    with TlsClient(address, version(ca=certs.ca_path), name="rsa.test") as client:
        client.send(b"SOURCE 10\n")
        assert client.recv_to_end() == body(10)


def test_separate_key_file(halter, server, certs):
    lines = 'pem-file = { cert = "%s"\n private-key = "%s" }\n' % (certs.exact.certificate_path, certs.exact.key_path)
    assert served(halter(backend=server, lines=lines).address, "www.wild.test") == certs.exact.der


def test_frontend_has_its_own_certificate(halter, server, certs):
    instance = halter(
        backend=server,
        pems=[certs.default],
        frontends=[
            "[127.0.0.1]:0+%s" % certs.exact.path,
            '{ host = "127.0.0.2"\n port = "0"\n pem-file = "%s" }' % certs.rsa.path,
            '{ host = "127.0.0.3"\n port = "0"\n pem-file = "%s"\n match-global-certs = on }' % certs.rsa.path,
            "[127.0.0.4]:0",
        ],
    )
    plus, block, matching, plain = instance.addresses
    assert served(plus, "default.test") == certs.exact.der
    assert served(block, "default.test") == certs.rsa.der
    assert served(block, "rsa.test") == certs.rsa.der
    assert served(matching, "default.test") == certs.default.der
    assert served(matching, "rsa.test") == certs.rsa.der
    assert served(plain, "rsa.test") == certs.default.der


def test_pem_dir_in_alphabetical_order_with_glob(halter, server, certs, workdir):
    directory = workdir / "certs"
    directory.mkdir()
    made = {
        stem: certs.make(stem, ["%s.dir.test" % stem.split(".")[0]], directory=directory)
        for stem in ("b.keep", "a.keep", "c.other")
    }
    for junk in directory.glob("*.key"):
        junk.unlink()
    for junk in directory.glob("*.crt"):
        junk.unlink()
    address = halter(backend=server, pems=[], lines='pem-dir = "%s"\npem-dir-glob = "*.keep.pem"\n' % directory).address
    assert served(address, None) == made["a.keep"].der
    assert served(address, "b.dir.test") == made["b.keep"].der
    assert served(address, "c.dir.test") == made["a.keep"].der


def test_pem_dir_beside_pem_file_leaves_the_default(halter, server, certs, workdir):
    directory = workdir / "certs"
    directory.mkdir()
    made = certs.make("extra", ["extra.test"], directory=directory)
    made.key_path.unlink()
    made.certificate_path.unlink()
    address = halter(backend=server, lines='pem-dir = "%s"\n' % directory).address
    assert served(address, None) == certs.default.der
    assert served(address, "extra.test") == made.der


def test_sni_nomatch_abort(halter, server, certs):
    address = halter(backend=server, pems=[certs.wildcard, certs.default], lines="sni-nomatch-abort = on\n").address
    assert answer_to(address, name="unknown.test") == "unrecognized_name"
    assert answer_to(address, name="deep.x.wild.test") == "unrecognized_name"
    assert isinstance(answer_to(address, name="x.wild.test"), hello.ServerHello)
    assert isinstance(answer_to(address, name="DEFAULT.test."), hello.ServerHello)
    assert isinstance(answer_to(address), hello.ServerHello)


def test_sni_nomatch_abort_of_one_frontend(halter, server, certs):
    instance = halter(
        backend=server,
        frontends=["[127.0.0.1]:0", '{ host = "127.0.0.2"\n port = "0"\n sni-nomatch-abort = on }'],
    )
    lenient, strict = instance.addresses
    assert isinstance(answer_to(lenient, name="unknown.test"), hello.ServerHello)
    assert answer_to(strict, name="unknown.test") == "unrecognized_name"


# ciphers and groups


def test_configured_ciphers_of_tls_1_2(halter, server, certs):
    address = halter(backend=server, lines='ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384"\n').address
    with TlsClient(address, tls12()) as client:
        assert client.cipher == "ECDHE-ECDSA-AES256-GCM-SHA384"
    assert answer_to(address, versions=(hello.TLS12,), ciphers=(0xC02B,)) == "handshake_failure"


def test_configured_ciphersuites_of_tls_1_3(halter, server):
    address = halter(backend=server, lines='ciphersuites = "TLS_CHACHA20_POLY1305_SHA256"\n').address
    assert answer_to(address).cipher == hello.CHACHA20_SHA256
    assert answer_to(address, versions=(hello.TLS13,), ciphers=(hello.AES128_SHA256,)) == "handshake_failure"


def test_frontend_block_has_its_own_ciphersuites(halter, server):
    instance = halter(
        backend=server,
        frontends=[
            "[127.0.0.1]:0",
            '{ host = "127.0.0.2"\n port = "0"\n ciphersuites = "TLS_AES_256_GCM_SHA384" }',
        ],
    )
    assert answer_to(instance.addresses[1]).cipher == hello.AES256_SHA384


@pytest.mark.parametrize("prefer", ["off", "on"])
def test_client_that_prefers_chacha_gets_it(halter, server, prefer):
    """A client puts ChaCha20 first when it has no AES hardware; that is honoured even under server preference."""
    address = halter(backend=server, lines="prefer-server-ciphers = %s\n" % prefer).address
    first = (hello.CHACHA20_SHA256, hello.AES128_SHA256, hello.AES256_SHA384)
    assert answer_to(address, ciphers=first).cipher == hello.CHACHA20_SHA256


def test_client_that_prefers_aes_gets_it(halter, server):
    address = halter(backend=server).address
    for second in (hello.CHACHA20_SHA256, hello.AES256_SHA384):
        assert answer_to(address, ciphers=(hello.AES128_SHA256, second)).cipher == hello.AES128_SHA256


def test_clients_preference(halter, server):
    address = halter(backend=server, lines="prefer-server-ciphers = off\n").address
    for first in (hello.AES128_SHA256, hello.AES256_SHA384, hello.CHACHA20_SHA256):
        others = {hello.AES128_SHA256, hello.AES256_SHA384, hello.CHACHA20_SHA256} - {first}
        assert answer_to(address, ciphers=(first, *others)).cipher == first


def test_server_preference(halter, server):
    address = halter(
        backend=server,
        lines='prefer-server-ciphers = on\nciphersuites = "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"\n'
        'ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"\n',
    ).address
    assert answer_to(address, ciphers=(hello.AES128_SHA256, hello.AES256_SHA384)).cipher == hello.AES256_SHA384
    assert answer_to(address, versions=(hello.TLS12,), ciphers=(0xC02B, 0xC02C)).cipher == 0xC02C


def test_no_finite_field_dhe_by_default(halter, server, certs):
    address = halter(backend=server, pems=[certs.rsa]).address
    answer = answer_to(address, versions=(hello.TLS12,), ciphers=(0x009E, 0x009F, 0xCCAA))  # DHE-RSA
    assert answer == "handshake_failure"


def test_no_static_rsa_or_cbc_by_default(halter, server, certs):
    address = halter(backend=server, pems=[certs.rsa]).address
    answer = answer_to(address, versions=(hello.TLS12,), ciphers=(0x002F, 0x0035, 0x009C, 0x009D))
    assert answer == "handshake_failure"


def _openssl_of_halter():
    found = re.search(r"OpenSSL (\d+)\.(\d+)", run("--version").stdout)
    return tuple(map(int, found.groups())) if found else (0, 0)


def test_post_quantum_group_is_preferred(halter, server):
    if _openssl_of_halter() < (3, 5):
        pytest.skip("built with an OpenSSL that has no X25519MLKEM768")
    address = halter(backend=server).address
    both = (hello.X25519MLKEM768, hello.X25519)
    for size, segments in ((16384, None), (16384, 1), (100, None), (100, 60)):
        message = hello.client_hello(groups=both, shares=both)
        assert len(message) > 1200
        with connect(address) as wire:
            wire.send(hello.records(message, size), segments)
            assert hello.read_answer(wire).group == hello.X25519MLKEM768


def test_x25519_is_next(halter, server):
    address = halter(backend=server).address
    answer = answer_to(address, groups=(hello.P256, hello.X25519), shares=(hello.X25519,))
    assert answer.group == hello.X25519 and not answer.retry


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
@pytest.mark.parametrize("group", ["P-256", "P-384", "X25519"])
def test_client_with_one_group_only(halter, server, certs, version, group):
    """RSA, as TLS 1.2 binds the curve of an ECDSA certificate to the client's groups: RFC 8422, section 5.1."""
    address = halter(backend=server, pems=[certs.rsa]).address
    done = s_client(address, "-quiet", version, "-groups", group, stdin=b"SOURCE 1000\n")
    assert done.stdout == body(1000), done.stderr


def test_configured_group(halter, server):
    address = halter(backend=server, lines='ecdh-curve = "P-256"\n').address
    answer = answer_to(address, groups=(hello.X25519, hello.P256), shares=(hello.X25519,))
    assert answer.retry and answer.group == hello.P256
    assert answer_to(address, groups=(hello.X25519,), shares=(hello.X25519,)) == "handshake_failure"


def test_hello_retry_is_completed(halter, server):
    """The client's only share is of a group that the server does not take; the second hello works."""
    address = halter(backend=server, lines='ecdh-curve = "P-384"\n').address
    assert works(address)


# ALPN


@pytest.mark.parametrize(
    "offer, chosen",
    [
        (["h2", "http/1.1"], "h2"),
        (["http/1.1", "h2"], "h2"),
        (["http/1.1"], "http/1.1"),
        (["x", "http/1.1"], "http/1.1"),
    ],
)
@pytest.mark.parametrize("context", [tls12, tls13], ids=["tls1.2", "tls1.3"])
def test_alpn_selects_by_the_servers_order(halter, server, offer, chosen, context):
    address = halter(backend=server, lines='alpn-protos = "h2, http/1.1"\n').address
    with TlsClient(address, context(alpn=offer)) as client:
        assert client.alpn == chosen


def test_alpn_without_overlap_is_refused_with_the_right_alert(halter, server):
    """RFC 7301, section 3.2."""
    address = halter(backend=server, lines='alpn-protos = "h2,http/1.1"\n').address
    assert answer_to(address, alpn=("spdy/3", "imap"), versions=(hello.TLS12,)) == "no_application_protocol"
    with connect(address) as wire:
        wire.send(hello.records(hello.client_hello(alpn=("imap",))))
        answer = hello.read_answer(wire)
        assert answer == "no_application_protocol"


def test_client_without_alpn_is_served(halter, server):
    address = halter(backend=server, lines='alpn-protos = "h2"\n').address
    with TlsClient(address) as client:
        assert client.alpn is None


def test_alpn_is_ignored_when_not_configured(halter, server):
    with TlsClient(halter(backend=server).address, client_context(alpn=["h2"])) as client:
        assert client.alpn is None


def test_curl_negotiates_http_1_1(halter, backend_of, certs):
    address = halter(backend=backend_of("http"), lines='alpn-protos = "http/1.1"\n').address
    assert curl(address, "/bytes/50", ca=certs.ca_path, text=False) == body(50)


# sessions


@pytest.mark.parametrize("version", [tls12, tls13], ids=["tls1.2", "tls1.3"])
def test_tickets_resume_on_every_worker(halter, server, version):
    instance = halter(backend=server, workers=4)
    context = version()
    with TlsClient(instance.address, context) as client:
        client.send(b"SOURCE 10\n")
        assert client.recv_to_end() == body(10)
        session = client.session
        assert not client.resumed and session.has_ticket
    for _ in range(40):
        with TlsClient(instance.address, context, session=session) as client:
            assert client.resumed
            client.send(b"SOURCE 10\n")
            assert client.recv_to_end() == body(10)
            session = client.session
    instance.stop()
    totals = instance.totals()
    assert (totals["handshakes_full"], totals["handshakes_resumed"]) == (1, 40)


def test_a_tls_1_3_handshake_gives_one_ticket(halter, server):
    address = halter(backend=server).address
    with SClient(address, "-tls1_3") as client:
        client.say("ECHO").say("hello")
        client.output.wait_for("^hello$")
        client.say("Q")
        assert client.output.wait_end().count("New Session Ticket arrived") == 1


def test_ticket_of_another_halter_means_a_full_handshake(halter, server):
    first, second = halter(backend=server), halter(backend=server)
    context = tls13()
    with TlsClient(first.address, context) as client:
        client.send(b"SOURCE 1\n")
        client.recv_to_end()
        session = client.session
    with TlsClient(second.address, context, session=session) as client:
        assert not client.resumed
        client.send(b"SOURCE 10\n")
        assert client.recv_to_end() == body(10)


# after the handshake


def test_renegotiation_is_refused(halter, server):
    address = halter(backend=server).address
    with SClient(address, "-tls1_2", "-legacy_renegotiation") as client:
        client.say("ECHO").say("hello")
        client.output.wait_for("^hello$")
        mark = client.output.mark()
        client.say("R")
        client.output.wait_for("no renegotiation", after=mark)  # the alert, as s_client reports it
    assert works(address)


def test_key_update_by_the_client(halter, server):
    address = halter(backend=server).address
    with SClient(address, "-tls1_3") as client:
        client.say("ECHO").say("one")
        client.output.wait_for("^one$")
        for turn in range(5):
            client.say("K")  # KeyUpdate that asks for the server's
            client.output.wait_for("KEYUPDATE", count=turn + 1)
            client.say("after %d" % turn)
            client.output.wait_for("^after %d$" % turn)


def test_small_and_padded_records(halter, server):
    """What the client's library may do with its records, all of it legal: RFC 8446, section 5.4; RFC 6066, section 4."""
    address = halter(backend=server).address
    request = b"SINK %d\n" % 50000 + body(50000)
    for options in (
        ["-tls1_3", "-record_padding", "1000"],
        ["-tls1_3", "-max_send_frag", "512"],
        ["-tls1_2", "-max_send_frag", "512"],
        ["-tls1_2", "-maxfraglen", "512"],
        ["-tls1_3", "-maxfraglen", "1024"],
    ):
        done = s_client(address, "-quiet", *options, stdin=request)
        assert done.stdout.decode() == body_digest(50000), options
        done = s_client(address, "-quiet", *options, stdin=b"SOURCE 50000\n")
        assert done.stdout == body(50000), options


def test_garbage_ticket_means_a_full_handshake(halter, server):
    address = halter(backend=server).address
    for size in (1, 16, 200, 5000):
        ticket = hello.extension(35, bytes(size))
        answer = answer_to(address, versions=(hello.TLS12,), extra=ticket)
        assert answer.version == hello.TLS12
    identity = hello.vector(2, hello.vector(2, body(150)) + bytes(4))
    binder = hello.vector(2, hello.vector(1, bytes(32)))
    answer = answer_to(address, extra=hello.extension(41, identity + binder))  # pre_shared_key, the last one
    assert answer.version == hello.TLS13


def test_no_compression(halter, server):
    address = halter(backend=server).address
    done = s_client(address, "-tls1_2", "-comp", stdin=b"Q\n")
    assert b"Compression: NONE" in done.stdout


# hostile bytes


GARBAGE = {
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "http-post": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
    "proxy-line": b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n",
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "zeros": bytes(20000),
    "ones": b"\xff" * 20000,
    "body": body(20000),
    "oversize-record": struct.pack(">BHH", 22, 0x0301, 0xFFFF) + bytes(0xFFFF),
    "oversize-by-one": struct.pack(">BHH", 22, 0x0301, 16384 + 2049) + bytes(16384 + 2049),
    "empty-records": struct.pack(">BHH", 22, 0x0301, 0) * 100,
    "alert-first": struct.pack(">BHHBB", 21, 0x0301, 2, 2, 40),
    "warning-alerts": struct.pack(">BHHBB", 21, 0x0301, 2, 1, 90) * 100,
    "close-notify-first": struct.pack(">BHHBB", 21, 0x0301, 2, 1, 0),
    "data-first": struct.pack(">BHH", 23, 0x0303, 5) + b"hello",
    "ccs-first": struct.pack(">BHH", 20, 0x0303, 1) + b"\x01",
    "server-hello": hello.records(b"\x02" + hello.vector(3, bytes(50))),
    "huge-hello": hello.records(b"\x01\xff\xff\xff" + bytes(40000)),
    "hello-of-nothing": hello.records(b"\x01\x00\x00\x00"),
    "ssl2-hello": b"\x80\x2e\x01\x03\x01\x00\x15\x00\x00\x00\x10" + bytes(37),
    "heartbeat": struct.pack(">BHH", 24, 0x0302, 3) + b"\x01\x40\x00",
}


@pytest.mark.parametrize("kind", sorted(GARBAGE))
def test_garbage_ends_with_at_most_an_alert(halter, server, kind):
    address = halter(backend=server).address
    for segments in (None, 997):
        with connect(address) as wire:
            try:
                wire.send(GARBAGE[kind], segments).shutdown_write()
            except ConnectionError:
                pass
            try:
                answer = wire.recv_to_end()
            except ConnectionError:
                answer = b""
            assert answer == b"" or (answer[0] == hello.ALERT and len(answer) % 7 == 0), answer
    assert server.accepted == 0
    assert works(address)


def test_hello_cut_at_every_byte(halter, server):
    """Whatever part of a ClientHello a client sends before it leaves."""
    address = halter(backend=server).address
    data = hello.records(hello.client_hello(name="default.test"))
    for length in range(0, len(data), 3):
        with connect(address) as wire:
            wire.send(data[:length]).shutdown_write()
            wire.wait_ended()
    assert works(address)


def test_hello_with_every_byte_flipped(halter, server):
    address = halter(backend=server).address
    data = hello.records(hello.client_hello(name="default.test", alpn=("h2",)))
    for position in range(0, len(data), 2):
        broken = bytearray(data)
        broken[position] ^= 0xFF
        with connect(address) as wire:
            try:
                wire.send(bytes(broken)).shutdown_write()
            except ConnectionError:
                pass
            wire.wait_ended()
    assert works(address)


@pytest.mark.parametrize("size, segments", [(1, None), (7, 3), (64, 64), (16384, 1)])
def test_hello_in_many_records_and_segments(halter, server, size, segments):
    address = halter(backend=server).address
    message = hello.client_hello(name="default.test", padding=700)
    with connect(address) as wire:
        wire.send(hello.records(message, size), segments)
        assert hello.read_answer(wire).version == hello.TLS13


@pytest.mark.parametrize("padding", [300, 4000, 15000, 40000])
def test_large_hello(halter, server, padding):
    """Post-quantum hellos exceed one segment; padding takes it beyond one record too."""
    address = halter(backend=server).address
    answer = answer_to(address, padding=padding)
    assert answer.version == hello.TLS13


def test_oversize_record_after_the_handshake(halter, server):
    address = halter(backend=server).address
    for context in (tls12(), tls13()):
        with TlsClient(address, context) as client:
            client.send(b"ECHO\nx")
            assert client.recv_exact(1) == b"x"
            try:
                client.raw.send(struct.pack(">BHH", 23, 0x0303, 18000) + bytes(18000))
            except ConnectionError:
                pass
            assert client.wait_ended() in ("alert", "reset")
    assert works(address)


def test_garbage_after_the_handshake_never_reaches_the_backend(halter, backend):
    address = halter(backend=backend).address
    with TlsClient(address) as client, backend.accept() as served_by_hand:
        client.send(b"good")
        assert served_by_hand.recv_exact(4) == b"good"
        try:
            client.raw.send(b"GET / HTTP/1.1\r\n\r\n" * 100)
        except ConnectionError:
            pass
        rest = b""
        try:
            rest = served_by_hand.recv_to_end()
        except ConnectionError:
            pass
        assert rest == b""
