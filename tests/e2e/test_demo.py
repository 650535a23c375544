"""halter demo: the two commands that a stranger types first."""

import os
import re
import signal
import subprocess

import pytest

from harness.halter import binary, plain_binary, run, sanitizer_environment, sanitizer_reports
from harness.peers import curl
from harness.tls import TlsClient, client_context
from harness.wait import DEADLINE_S, Lines, session_members


@pytest.fixture
def demo(workdir):
    """A running demo: its address and output. It must end with 0, clean, when it gets SIGINT as by Ctrl-C."""
    process = subprocess.Popen(
        [binary(), "demo", "--port=0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, **sanitizer_environment(workdir)),
        start_new_session=True,
    )
    process.output = Lines(process.stdout, "the output of halter demo")
    process.log = Lines(process.stderr, "the log of halter demo")
    match = process.output.wait_for(r"curl -k https://localhost:(\d+)/")
    process.address = ("127.0.0.1", int(match.group(1)))
    yield process
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(DEADLINE_S) == 0, process.log.text()
    assert not session_members(process.pid)
    assert not sanitizer_reports(workdir)


def test_the_curl_command_that_it_prints(demo):
    page = curl(demo.address, "/some/path?x=1", "-H", "X-Mine: yes")
    assert "GET /some/path?x=1 HTTP/1.1" in page
    assert re.search("x-mine: yes", page, re.IGNORECASE)
    assert "127.0.0.1" in page and re.search(r"TLSv1\.[23]", page), page


def test_browser_gets_a_page(demo):
    page = curl(demo.address, "/", "-H", "Accept: text/html,application/xhtml+xml", "-i")
    assert re.search("content-type: text/html", page, re.IGNORECASE)
    assert "<" in page


def test_head_post_and_keep_alive(demo):
    assert curl(demo.address, "/[1-5]", "-o", "/dev/null", "-w", "%{http_code} ") == "200 " * 5
    assert "200" in curl(demo.address, "/", "-I")
    assert "POST / HTTP/1.1" in curl(demo.address, "/", "--data-binary", "hello")


def test_markup_in_a_request_is_harmless(demo):
    page = curl(demo.address, "/<script>alert(1)</script>", "-H", "Accept: text/html", "-H", "X-A: <b onload=x>")
    assert "<script>alert" not in page and "<b onload" not in page


def test_certificate_is_for_localhost(demo):
    with TlsClient(demo.address, client_context(), name="localhost") as client:
        assert b"localhost" in client.peer_der


def test_nonsense_does_not_hurt_it(demo):
    for nonsense in (b"\0\1\2\3" * 100, b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10000 + b"\r\n"):
        with TlsClient(demo.address) as client:
            try:
                client.send(nonsense).close_notify()
            except OSError:
                pass
            client.wait_ended()
    assert "GET / HTTP/1.1" in curl(demo.address, "/")


def test_wrong_option_is_refused():
    assert run("demo", "--prt=1").returncode == 1
    assert run("demo", "--port=x").returncode == 1
    assert run("demo", "--help").returncode == 0


def test_plain_binary_runs_it_too():
    process = subprocess.Popen(
        [plain_binary(), "demo", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    output, log = Lines(process.stdout, "the output of halter demo"), Lines(process.stderr, "its log")
    port = int(output.wait_for(r"https://localhost:(\d+)/").group(1))
    assert "GET / HTTP/1.1" in curl(("127.0.0.1", port), "/")
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE_S) == 0, log.text()
