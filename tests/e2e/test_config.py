"""Configuration files and the command line, as an operator or a hitch.conf uses them."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

import pytest

from harness.halter import IS_ROOT, Halter, configuration, plain_binary, run
from harness.reaper import RUN_MARK, TEST_MARK
from harness.tls import TlsClient, tls12
from harness.wait import Lines, children, own_address, wait_file, wait_gone

USER = 'user = "nobody"\n' if IS_ROOT else ""
AS_USER = ["--user=nobody"] if IS_ROOT else []

# hitch.conf(5) of hitch 1.8, chapter "Example", setting by setting.
HITCH_EXAMPLE = """\
frontend = {
    host = "*"
    port = "443"
}
backend = "[127.0.0.1]:6086"    # 6086 is the default Varnish PROXY port.
workers = 4                     # number of CPU cores

daemon = on

# We strongly recommend you create a separate non-privileged hitch
# user and group
user = "hitch"
group = "hitch"

# Enable to let clients negotiate HTTP/2 with ALPN. (default off)
# alpn-protos = "h2, http/1.1"

# run Varnish as backend over PROXY; varnishd -a :80 -a localhost:6086,PROXY ..
write-proxy-v2 = on             # Write PROXY header
"""


@pytest.fixture
def check(workdir, certs):
    """check(text, ...) runs halter -t on a configuration; returns the finished process."""

    def run_test(text, *arguments, pem=True, user=True):
        path = workdir / "test.conf"
        if pem:
            text += '\npem-file = "%s"\n' % certs.default.path
        if user:
            text += USER
        path.write_text(text)
        return run("-t", "--config=%s" % path, *arguments)

    return run_test


def faults(done):
    return [line for line in done.stderr.splitlines() if ": error:" in line]


# hitch.conf as it is


def test_example_of_hitchs_manual_passes_the_test(workdir, certs):
    path = workdir / "hitch.conf"
    path.write_text(HITCH_EXAMPLE)
    nobody = ["--user=nobody", "--group="]
    done = run("-t", "--config=%s" % path, *nobody, certs.default.path)
    if done.returncode != 0:  # the group hitch need not exist here
        assert faults(done) and all("hitch" in line for line in faults(done)), done.stderr
        path.write_text(HITCH_EXAMPLE.replace('group = "hitch"', ""))
        done = run("-t", "--config=%s" % path, *nobody, certs.default.path)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def daemon(workdir):
    """daemon(arguments...) runs halter until its first process ends; the daemon itself ends with the test."""
    pidfile = workdir / "pid"

    def start(*arguments):
        return run(*arguments, "--pidfile=%s" % pidfile, "--dbg-listen=%s" % (workdir / "listen"), directory=workdir)

    yield start
    if pidfile.exists():
        master = int(pidfile.read_text())
        workers = children(master)
        os.kill(master, signal.SIGTERM)
        wait_gone([master, *workers])


def can_bind_443():
    try:
        for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
            with socket.socket(family) as probe:
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind((host, 443))
        return True
    except OSError:
        return False


def test_example_of_hitchs_manual_starts_as_a_daemon_and_serves(workdir, certs, backend_of, daemon):
    """The file as it stands, but for what this machine may lack: a user hitch, and port 443 when it is taken."""
    path = workdir / "hitch.conf"
    address = ("127.0.0.1", 443)
    text = HITCH_EXAMPLE
    if not can_bind_443():
        address = own_address()
        text = text.replace('"*"', '"%s"' % address[0]).replace('"443"', '"%d"' % address[1])
    path.write_text(text)
    backend = backend_of("manual")
    arguments = ["--config=%s" % path, "--backend=%s" % backend.spec]
    groups = pathlib.Path("/etc/group").read_text()
    arguments += ["--user=nobody", "--group=%s" % ("nogroup" if "nogroup:" in groups else "nobody")]
    done = daemon(*arguments, certs.default.path)
    assert done.returncode == 0, done.stderr
    assert len(children(int((workdir / "pid").read_text()))) == 4
    with TlsClient(address), backend.accept() as served:
        assert served.recv_exact(12) == b"\r\n\r\n\0\r\nQUIT\n"


@pytest.mark.parametrize(
    "text",
    [
        "workers = auto",
        "workers=2",
        'ciphers = ""',
        'pem-file = ""',
        'ciphers = "EECDH+AESGCM:EDH+AESGCM:AES256+EECDH:AES256+EDH"',
        "tls-protos = TLSv1.1 TLSv1.2",
        "daemon = off syslog = off quiet = on",
        'daemon = "off"',
        "write-proxy = YES",
        "write-ip = T write-proxy-v1 = n",
        'alpn-protos = "h2, http/1.1,"',
        'ecdh-curve = "X25519:prime256v1:secp384r1"',
        "backlog = 100 keepalive = 3600",
        "backend-connect-timeout = 5 ssl-handshake-timeout = 5",
        'syslog-facility = "local7"',
        "log-level = 2",
        'log-filename = "/dev/null"',
        "recv-bufsize = 100000 send-bufsize = 100000",
        'frontend = { port = "0" host = "127.0.0.1" }',
        'frontend = "[127.0.0.1]:0" frontend = "[127.0.0.2]:0"',
        'backend = "[localhost]:80"',
        'group = ""',
        'chroot = ""',
        "proxy-tlv = off proxy-authority = off",
        "sni-nomatch-abort = on",
        "prefer-server-ciphers = on",
        'pem-dir = ""',
        "client-verify = none",
        "# comment\n\n\r\n\tworkers = 1 # and another",
    ],
)
def test_hitchs_syntax_is_taken(check, text):
    done = check(text)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\S*halter\S* configuration looks ok\.$", done.stderr, re.MULTILINE)
    assert "Trying to initialize SSL contexts with your certificates" in done.stderr


@pytest.mark.parametrize(
    "text, what",
    [
        ("worker = 3", "did you mean"),
        ("write-proxyv2 = on", "did you mean"),
        ("workers = many", ""),
        ("workers = -1", ""),
        ("daemon = maybe", ""),
        ("tls-protos = SSLv3", "SSLv3"),
        ("tls-protos = TLSv9", ""),
        ("tls = on tls-protos = TLSv1.2", ""),
        ("tls-protos = TLSv1.2 tls = on", ""),
        ('frontend = { host = "127.0.0.1" }', "port"),
        ('frontend = { port = "" }', "port"),
        ('frontend = "[127.0.0.1]:8443" frontend = "[127.0.0.1]:8443"', ""),
        ('frontend = { port = "1" match-global-certs = off }', ""),
        ('frontend = { port = "1"', ""),
        ('frontend = "[127.0.0.1]:65536"', ""),
        ('backend = "*:80"', ""),
        ('backend = "[*]:80"', ""),
        ('backend = "/nonexistent/socket"', "/nonexistent/socket"),
        ('backend = "/dev/null"', "/dev/null"),
        ("write-ip = on write-proxy-v2 = on", ""),
        ("write-proxy-v1 = on write-proxy = on", ""),
        ('alpn-protos = "h2,,http/1.1"', ""),
        ('alpn-protos = "%s"' % ("x" * 256), ""),
        ('ciphers = "NO-SUCH-CIPHER"', "NO-SUCH-CIPHER"),
        ('ciphersuites = "TLS_NO_SUCH"', "TLS_NO_SUCH"),
        ('ecdh-curve = "no-such-curve"', "no-such-curve"),
        ('pem-file = "/nonexistent.pem"', "/nonexistent.pem"),
        ('pem-dir = "/nonexistent"', "/nonexistent"),
        ('user = "no-such-user-anywhere"', "no-such-user-anywhere"),
        ('group = "no-such-group-anywhere"', "no-such-group-anywhere"),
        ('syslog-facility = "local8"', ""),
        ('user = "unclosed', ""),
        ("= 3", ""),
        ("workers", ""),
        ("workers = ", ""),
        ('chroot = "/nonexistent"', "/nonexistent"),
    ],
)
def test_mistakes_are_refused_with_place_and_cause(check, text, what):
    done = check(text, user="user =" not in text)
    assert done.returncode == 1, done.stderr
    lines = faults(done)
    assert lines and any(what in line for line in lines), done.stderr
    assert not any("looks ok" in line for line in done.stderr.splitlines())
    if what != "did you mean":
        return
    assert re.search(r"test\.conf:1:1: ", lines[0]), lines


@pytest.mark.parametrize(
    "text, meaning",
    [
        ("backend = [127.0.0.1]:80", 'backend = "[127.0.0.1]:80"'),
        ("daemon = 1", "daemon = on"),
        ("user = daemon", 'user = "daemon"'),
        ('frontend = "127.0.0.1:443"', 'host = "127.0.0.1"'),
    ],
)
def test_what_hitch_refuses_for_its_lexers_sake_is_taken_as_meant(workdir, certs, text, meaning):
    path = workdir / "a.conf"
    path.write_text(text + "\n")
    done = run("--config=%s" % path, "--print-config", certs.default.path)
    assert done.returncode == 0 and meaning in done.stdout, done.stderr + done.stdout


@pytest.mark.parametrize("host", ["*", "127.0.0.1", "localhost"])
def test_frontend_that_is_there_twice_is_one_fault(check, host):
    done = check('frontend = "[%s]:8443"\nfrontend = "[%s]:8443"\n' % (host, host))
    assert len(faults(done)) == 1 and ":2:12: " in faults(done)[0], done.stderr


def test_frontends_that_overlap_under_other_names_are_refused(check):
    done = check('frontend = "[localhost]:8443"\nfrontend = "[127.0.0.1]:8443"\n')
    assert len(faults(done)) == 1 and ":2:12: " in faults(done)[0] and "127.0.0.1:8443" in faults(done)[0], done.stderr


def test_setting_that_the_library_refuses_is_one_fault_with_its_place(certs):
    done = run("-t", *AS_USER, "--ecdh-curve=foo", "-f[127.0.0.1]:1", "-f[127.0.0.1]:2", certs.default.path)
    assert done.returncode == 1
    assert len(faults(done)) == 1, done.stderr
    assert 'command line: ecdh-curve = "foo" is refused' in faults(done)[0] and "(" not in faults(done)[0]


def test_log_file_that_cannot_be_opened_is_told_by_the_test(check):
    done = check('log-filename = "/nonexistent/log"')
    assert done.returncode in (1, 2) and "/nonexistent/log" in done.stderr


def test_all_faults_are_told_in_one_run_each_with_its_place(check):
    done = check('worker = 2\n\n   backlogg = 3\ndaemon = perhaps\npem-file = "/nonexistent.pem"\nciphers = "NOPE"\n')
    assert done.returncode == 1
    text = done.stderr
    for place in ("1:1", "3:4", "4:10"):
        assert re.search(r"test\.conf:%s: " % place, text), text
    for word in ("workers", "backlog", "perhaps", "/nonexistent.pem", "NOPE"):
        assert word in text, text
    assert len(faults(done)) >= 5


def test_empty_file_is_no_configuration(check):
    done = check("# nothing\n", pem=False, user=False)
    assert done.returncode == 1 and faults(done)


def test_no_certificate_is_a_fault_that_names_the_frontend(check):
    done = check('frontend = "[127.0.0.1]:8443"\n', pem=False)
    assert done.returncode == 1
    assert any("127.0.0.1" in line for line in faults(done)), done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "proxy-proxy = on",
        "session-cache = 100",
        "ocsp-verify-staple = on",
    ],
)
def test_what_comes_later_says_so(check, certs, text):
    done = check(text % {"ca": certs.ca_path})
    assert done.returncode == 1
    assert any("not supported yet" in line for line in faults(done)), done.stderr


@pytest.mark.parametrize("text", ["backend-refresh = 0", 'ocsp-dir = "/var/lib/hitch"', "ocsp-connect-tmo = 4"])
def test_what_comes_later_but_does_no_harm_is_taken(check, text):
    assert check(text).returncode == 0


# certificates


def test_bad_certificates_are_all_named(check, certs, workdir):
    files = {
        "empty.pem": b"",
        "garbage.pem": b"this is no PEM\n",
        "key-only.pem": certs.default.key_pem,
        "cert-only.pem": certs.default.certificate_pem,
        "mismatch.pem": certs.rsa.key_pem + certs.default.certificate_pem,
        "mismatch-same-kind.pem": certs.exact.key_pem + certs.default.certificate_pem,
        "cut.pem": certs.default.pem[: len(certs.default.pem) - 100],
    }
    text = ""
    for name, data in files.items():
        (workdir / name).write_bytes(data)
        text += 'pem-file = "%s"\n' % (workdir / name)
    (workdir / "directory.pem").mkdir()
    text += 'pem-file = "%s"\n' % (workdir / "directory.pem")
    done = check(text)
    assert done.returncode == 1
    for name in [*files, "directory.pem"]:
        assert any("/%s" % name in line for line in faults(done)), (name, done.stderr)
    assert not any(str(certs.default.path) in line for line in faults(done))


def test_mismatched_separate_key_is_refused(check, certs):
    done = check('pem-file = { cert = "%s" private-key = "%s" }' % (certs.rsa.certificate_path, certs.default.key_path))
    assert done.returncode == 1 and faults(done)


def test_pem_order_in_the_file_does_not_matter(check, certs, workdir):
    path = workdir / "order.pem"
    path.write_bytes(certs.chained.certificate_pem + certs.chained.key_pem + certs.chained.chain_pem)
    assert check('pem-file = "%s"' % path).returncode == 0


# print-config


FULL = """
frontend = { host = "127.0.0.1" port = "0" tls-protos = TLSv1.3 sni-nomatch-abort = on prefer-server-ciphers = off
  ciphersuites = "TLS_AES_256_GCM_SHA384" pem-file = "%(rsa)s" match-global-certs = on }
frontend = "[::1]:8444+%(exact)s"
frontend = "[127.0.0.1]:8445"
backend = "[127.0.0.1]:6086"
pem-file = { cert = "%(cert)s" private-key = "%(key)s" }
pem-file = "%(default)s"
workers = auto
alpn-protos = "h2, http/1.1"
write-proxy-v2 = on
proxy-tlv = off
ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384"
ecdh-curve = "X25519:P-256"
idle-timeout = 77
drain-timeout = 3
log-level = 2
syslog-facility = "local3"
backlog = 12
"""


def test_print_config_parses_to_itself(workdir, certs):
    path = workdir / "full.conf"
    path.write_text(
        USER
        + FULL
        % {
            "rsa": certs.rsa.path,
            "exact": certs.exact.path,
            "cert": certs.many.certificate_path,
            "key": certs.many.key_path,
            "default": certs.default.path,
        }
    )
    first = run("--config=%s" % path, "--print-config")
    assert first.returncode == 0, first.stderr
    for setting in ("idle-timeout = 77", "drain-timeout = 3", "backlog = 12", "workers = auto", "write-proxy-v2 = on"):
        assert setting in first.stdout, first.stdout
    printed = workdir / "printed.conf"
    printed.write_text(first.stdout)
    second = run("--config=%s" % printed, "--print-config")
    assert second.returncode == 0, second.stderr
    assert second.stdout == first.stdout
    assert run("-t", "--config=%s" % printed).returncode == run("-t", "--config=%s" % path).returncode == 0


def test_print_config_of_defaults_shows_every_setting(workdir, certs):
    path = workdir / "a.conf"
    path.write_text('pem-file = "%s"\n%s' % (certs.default.path, USER))
    done = run("--config=%s" % path, "--print-config")
    assert done.returncode == 0
    for setting in (
        'port = "8443"',
        "[127.0.0.1]:8000",
        "workers = 1",
        "backlog = 100",
        "keepalive = 3600",
        "ssl-handshake-timeout = 30",
        "backend-connect-timeout = 30",
        "tls-protos = TLSv1.2 TLSv1.3",
        "log-level = 1",
    ):
        assert setting in done.stdout or setting.replace(" = ", ' = "') in done.stdout, (setting, done.stdout)


# the command line


def test_no_argument_prints_usage_and_fails():
    done = run()
    assert done.returncode == 1
    assert "--config" in done.stdout + done.stderr


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(option):
    done = run(option)
    assert done.returncode == 0
    for word in ("--config", "--frontend", "--backend", "--workers", "PEM", "-t"):
        assert word in done.stdout, done.stdout


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version_tells_every_library(option):
    done = run(option)
    assert done.returncode == 0
    assert re.match(r"halter \d+\.\d+", done.stdout), done.stdout
    for library in ("OpenSSL", "libev", "c-ares"):
        assert re.search(library + r"\W+\d", done.stdout), done.stdout


def test_unknown_option_is_refused_with_a_guess():
    done = run("--workerz=3")
    assert done.returncode == 1
    assert "--workers" in done.stderr


def test_command_line_overrides_the_file(workdir, certs):
    path = workdir / "a.conf"
    path.write_text(
        'backend = "[127.0.0.1]:1"\nworkers = 3\nlog-level = 0\nbacklog = 7\nfrontend = "[127.0.0.1]:1"\n' + USER
    )
    done = run(
        "-b",
        "[127.0.0.1]:2",
        "--config=%s" % path,
        "-n4",
        "--log-level",
        "2",
        "--frontend=[127.0.0.1]:5",
        "-f",
        "[127.0.0.1]:6",
        "--print-config",
        certs.default.path,
    )
    assert done.returncode == 0, done.stderr
    for setting in ('"[127.0.0.1]:2"', "workers = 4", "log-level = 2", "backlog = 7", 'port = "5"', 'port = "6"'):
        assert setting in done.stdout, (setting, done.stdout)
    assert str(certs.default.path) in done.stdout


def test_several_config_files_follow_each_other(workdir, certs):
    (workdir / "a").write_text("workers = 2\nbacklog = 5\n" + USER)
    (workdir / "b").write_text("workers = 3\n")
    done = run("--config=%s" % (workdir / "a"), "--config=%s" % (workdir / "b"), "--print-config", certs.default.path)
    assert "workers = 3" in done.stdout and "backlog = 5" in done.stdout


def test_config_from_standard_input(certs):
    done = run("--config=-", "--print-config", certs.default.path, stdin="workers = 9\n" + USER)
    assert done.returncode == 0 and "workers = 9" in done.stdout
    done = run("--config=-", "-t", certs.default.path, stdin="worker = 9\n" + USER)
    assert done.returncode == 1 and re.search(r"-:1:1: ", done.stderr), done.stderr


def test_missing_config_file(workdir):
    done = run("--config=%s" % (workdir / "missing"))
    assert done.returncode == 1 and str(workdir / "missing") in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--tls-protos=TLSv1.2"],
        ["-c", "ECDHE+AESGCM"],
        ["-O"],
        ["--prefer-server-ciphers=on"],
        ["--backendrefresh=0"],
        ["--backend-refresh=0"],
        ["-q"],
        ["-s", "--syslog-facility=daemon"],
        ["--write-proxy"],
        ["--write-proxy-v1=on"],
        ["--write-ip=off"],
        ["--alpn-protos=h2,http/1.1"],
        ["--sni-nomatch-abort"],
        ["-k", "10", "-B", "5"],
        ["--ssl-handshake-timeout=3", "--backend-connect-timeout=3"],
        ["-L2", "-l/dev/null"],
        ["--recv-bufsize=1000", "--send-bufsize=1000"],
    ],
)
def test_hitchs_options_are_taken(options, certs):
    done = run("-t", "--frontend=[127.0.0.1]:0", *AS_USER, *options, certs.default.path)
    assert done.returncode == 0, done.stderr


def test_everything_on_the_command_line_no_file_at_all(workdir, certs, backend):
    """hitch's shortest form. run() would wait for the end, so this one starts through Halter with an empty-ish file."""
    instance = Halter(
        "workers = 1\n" + USER, ["--frontend=[127.0.0.1]:0", "--backend=%s" % backend.spec, certs.default.path]
    )
    try:
        instance.wait_ready()
        with TlsClient(instance.address) as client, backend.accept() as served:
            client.send(b"x")
            assert served.recv_exact(1) == b"x"
        instance.stop().assert_clean()
    finally:
        instance.destroy()


# starting


def test_address_in_use_is_a_fault(halter, conf):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        instance = halter(conf(frontends=["[127.0.0.1]:0", "[127.0.0.1]:%d" % port]), ready=False)
        instance.wait_exit(1)
        assert str(port) in instance.log_text()


def test_second_halter_on_the_same_address_is_refused(halter, conf):
    """SO_REUSEPORT must not let two masters share a port without a word."""
    host, port = own_address()
    spec = "[%s]:%d" % (host, port)
    halter(frontends=[spec])
    second = halter(conf(frontends=[spec]), ready=False)
    second.wait_exit(1)
    assert str(port) in second.log_text()


def test_pidfile_is_written_locked_and_removed(halter, conf, workdir):
    pidfile = workdir / "halter.pid"
    first = halter(arguments=["--pidfile=%s" % pidfile])
    assert int(pidfile.read_text()) == first.pid
    second = halter(conf(), arguments=["--pidfile=%s" % pidfile], ready=False)
    second.wait_exit(1)
    assert str(first.pid) in second.log_text()
    assert int(pidfile.read_text()) == first.pid
    first.stop()
    assert not pidfile.exists()


def test_pidfile_that_cannot_be_written_is_a_fault_and_starts_nothing(halter, conf, workdir):
    """As on a full disk: here no file may grow."""
    pidfile = workdir / "halter.pid"
    instance = halter(
        conf(),
        arguments=["--pidfile=%s" % pidfile],
        wrapper=["sh", "-c", 'ulimit -f 0; exec "$0" "$@"'],
        ready=False,
    )
    instance.wait_exit(1)
    assert re.search("cannot write pidfile .*%s" % re.escape(str(pidfile)), instance.log_text()), instance.log_text()
    assert "worker" not in instance.log_text()
    assert not pidfile.exists()


def test_pidfile_that_is_no_file_is_refused_and_stays(halter, conf, workdir):
    """--pidfile=/dev/null must not cost the machine its /dev/null."""
    pidfile = workdir / "device"
    os.mkfifo(pidfile)
    instance = halter(conf(), arguments=["--pidfile=%s" % pidfile], ready=False)
    instance.wait_exit(1)
    assert "not a regular file" in instance.log_text()
    assert pidfile.exists()


def test_stale_pidfile_does_no_harm(halter, workdir):
    pidfile = workdir / "halter.pid"
    pidfile.write_text("1\n")
    instance = halter(arguments=["--pidfile=%s" % pidfile])
    assert int(pidfile.read_text()) == instance.pid


def test_daemon_returns_once_it_serves(workdir, certs, server, daemon):
    """The shell's process ends with 0 only when connections are taken; the daemon leaves session and terminal, and
    holds no pipe of its caller (else this call would not end)."""
    path = workdir / "d.conf"
    lines = 'daemon = on\nlog-filename = "%s/log"\n' % workdir
    path.write_text(configuration(backend=server.spec, pems=[certs.default], lines=lines))
    done = daemon("--config=%s" % path)
    assert done.returncode == 0, done.stderr
    master = int((workdir / "pid").read_text())
    assert os.getsid(master) != os.getsid(0)
    host, _, port = (workdir / "listen").read_text().split()[0].rpartition(":")
    with TlsClient((host, int(port))) as client:
        client.send(b"SOURCE 3\n")
        assert len(client.recv_to_end()) == 3
    for pid in [master, *children(master)]:
        for number in (0, 1, 2):
            assert os.readlink("/proc/%d/fd/%d" % (pid, number)) == "/dev/null"
    os.kill(master, signal.SIGTERM)
    wait_gone([master])
    assert re.search("event=stopped", (workdir / "log").read_text())
    assert not (workdir / "pid").exists()


def test_daemon_that_cannot_start_fails_in_the_foreground(workdir, certs):
    path = workdir / "d.conf"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        path.write_text(
            configuration(
                pems=[certs.default], frontends=["[127.0.0.1]:%d" % taken.getsockname()[1]], lines="daemon = on\n"
            )
        )
        done = run("--config=%s" % path, directory=workdir)
    assert done.returncode == 1
    assert "in use" in done.stderr, done.stderr


def test_notify_over_an_abstract_socket_tells_pid_and_status(halter):
    instance = halter(abstract=True)
    (ready,) = (message for message in instance.notify.messages if "READY=1" in message)
    assert "MAINPID=%d" % instance.pid in ready.split("\n")
    assert re.search("^STATUS=.+", ready, re.MULTILINE)


def test_configuration_of_a_running_halter_passes_the_test(halter, workdir):
    """halter -t before a reload: the addresses are in use, by the very instance that is to be reloaded."""
    host, port = own_address()
    pidfile = workdir / "pid"
    instance = halter(frontends=["[%s]:%d" % (host, port)], arguments=["--pidfile=%s" % pidfile])
    done = run("-t", "--config=%s" % instance.conf_path, "--pidfile=%s" % pidfile)
    assert done.returncode == 0, done.stderr


def test_wildcard_and_single_address_share_a_port(halter, certs):
    """The certificate tells by which frontend a client came."""
    _, port = own_address()
    host = "127.0.0.9"
    instance = halter(
        frontends=["[%s]:%d+%s" % (host, port, certs.exact.path), "[0.0.0.0]:%d+%s" % (port, certs.rsa.path)]
    )
    with TlsClient((host, port)) as client:
        assert client.peer_der == certs.exact.der
    with TlsClient(("127.0.0.8", port)) as client:
        assert client.peer_der == certs.rsa.der
    instance.reload(settled=True)
    with TlsClient((host, port)) as client:
        assert client.peer_der == certs.exact.der


def test_log_file_that_cannot_be_opened(halter, conf):
    """hitch exits with 2 then."""
    instance = halter(conf(lines='log-filename = "/nonexistent/halter.log"\n'), ready=False)
    assert instance.wait_exit(None) == 2
    assert "/nonexistent/halter.log" in instance.log_text()


@pytest.mark.needs_root
def test_workers_as_root_are_refused(halter, conf):
    instance = halter(conf(user=None), ready=False)
    instance.wait_exit(1)
    assert "root" in instance.log_text()


@pytest.mark.needs_root
def test_workers_as_root_when_told_so(halter):
    instance = halter(user="root")
    (worker,) = instance.workers()
    assert os.stat("/proc/%d" % worker).st_uid == 0


def test_dbg_listen_lists_every_address_v4_first(halter):
    instance = halter(frontends=["[*]:0", "[::1]:0", "[127.0.0.1]:0"])
    lines = instance.listen_path.read_text().splitlines()
    hosts = [re.fullmatch(r"(.*):[1-9]\d*", line).group(1) for line in lines]
    assert hosts == ["0.0.0.0", "127.0.0.1", "[::]", "[::1]"]


def test_frontend_listens_on_its_address_alone(halter, server):
    """Not on 0.0.0.0: what is meant for loopback must not be reachable from outside."""
    host, port = halter(backend=server, workers=3, frontends=["[127.0.0.5]:0"]).address
    assert host == "127.0.0.5"
    for other in ("127.0.0.1", "127.0.0.6"):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((other, port))
    for _ in range(20):
        with TlsClient((host, port)) as client:
            client.send(b"SOURCE 3\n")
            assert len(client.recv_to_end()) == 3


def test_plain_binary_is_static():
    """It has no program interpreter and needs no library: it runs on any distribution."""
    data = pathlib.Path(plain_binary()).read_bytes()
    assert data[:4] == b"\x7fELF"
    offset, size, count = (
        int.from_bytes(data[32:40], "little"),
        *(int.from_bytes(data[at : at + 2], "little") for at in (54, 56)),
    )
    kinds = [int.from_bytes(data[offset + i * size : offset + i * size + 4], "little") for i in range(count)]
    assert 3 not in kinds  # PT_INTERP


@pytest.mark.needs_root
def test_plain_binary_serves_in_a_root_with_nothing_else(workdir, certs, server):
    """chroot(2) into a directory that holds the binary, a configuration and a certificate."""
    root = workdir / "root"
    root.mkdir()
    shutil.copy(plain_binary(), root / "halter")
    shutil.copy(certs.default.path, root / "cert.pem")
    address = own_address()
    text = configuration(
        backend=server.spec,
        pems=["/cert.pem"],
        frontends=["[%s]:%d" % address],
        user=None,
        lines='user = "65534"\ngroup = "65534"\n',
    )
    (root / "halter.conf").write_text(text)
    process = subprocess.Popen(
        ["/halter", "--config=/halter.conf", "--dbg-listen=/listen"],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.chroot(root),
        env={name: os.environ[name] for name in (RUN_MARK, TEST_MARK)},
        cwd="/",
    )
    log = Lines(process.stderr, "the log of halter")
    try:
        wait_file(root / "listen", r"127.*\n")
        with TlsClient(address, tls12()) as client:
            client.send(b"SOURCE 3\n")
            assert len(client.recv_to_end()) == 3
    finally:
        process.terminate()
        assert process.wait(60) == 0, log.text()
