"""halter under test: configuration, start by notification, signals, workers, log, and what must be true at its end."""

import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from .wait import (
    DEADLINE_S,
    DeadlineError,
    Lines,
    NotifySocket,
    children,
    process_is_live,
    session_members,
    wait_gone,
)

REPOSITORY = Path(__file__).resolve().parents[3]
IS_ROOT = os.geteuid() == 0


def _binary(variable, *candidates):
    named = os.environ.get(variable)
    if named:
        return str(Path(named).resolve())
    for candidate in candidates:
        if (REPOSITORY / candidate).exists():
            return str(REPOSITORY / candidate)
    raise RuntimeError("no halter to test: set %s or run make" % variable)


def binary():
    """The binary under test: sanitized when the caller says so."""
    return _binary("HALTER_BINARY", "build/san/halter", "build/halter")


def plain_binary():
    """The released build, for what is too large or too strict for a sanitized one."""
    return _binary("HALTER_BINARY_PLAIN", "build/halter")


def http_binary():
    """The build with HTTP mode, sanitized when there is one."""
    return _binary("HALTER_BINARY_HTTP", "build/san/halter-http", "build/halter-http")


def plain_http_binary():
    """The released build with HTTP mode."""
    return _binary("HALTER_BINARY_HTTP_PLAIN", "build/halter-http")


def make_directory():
    """A short path (unix sockets) that an unprivileged worker may enter."""
    directory = Path(tempfile.mkdtemp(prefix="halter-"))
    os.chmod(directory, 0o755)
    return directory


def sanitizer_environment(directory):
    reports = directory / "reports"
    reports.mkdir(exist_ok=True)
    os.chmod(reports, 0o777)
    common = "log_path=%s/san:exitcode=86:handle_abort=1" % reports
    return {
        "ASAN_OPTIONS": common + ":detect_leaks=1:strict_string_checks=1:check_initialization_order=1",
        "UBSAN_OPTIONS": common + ":print_stacktrace=1:halt_on_error=1",
        "LSAN_OPTIONS": "exitcode=86",
    }


def sanitizer_reports(directory):
    """What the sanitizers have to say; not that a process was killed in the midst of its leak check."""
    texts = [path.read_text(errors="replace") for path in sorted((directory / "reports").glob("*"))]
    texts = [re.sub(r"==\d+==Unable to get registers from thread \d+\.\n", "", text) for text in texts]
    return [text for text in texts if text.strip()]


def run(*arguments, binary_path=None, stdin=None, directory=None, **more):
    """halter as a command that ends by itself: the CompletedProcess, with text."""
    own = directory is None
    directory = directory or make_directory()
    environment = dict(os.environ, **sanitizer_environment(directory))
    environment.pop("NOTIFY_SOCKET", None)
    environment.update(more.pop("environment", {}))
    try:
        done = subprocess.run(
            [binary_path or binary()] + [str(a) for a in arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE_S,
            env=environment,
            **more,
        )
        reports = sanitizer_reports(directory)
        assert not reports, "\n".join(reports)
        return done
    finally:
        if own:
            shutil.rmtree(directory, ignore_errors=True)


def configuration(
    backend="[127.0.0.1]:9",
    pems=(),
    frontends=("[127.0.0.1]:0",),
    workers=1,
    log_level=3,
    user="nobody" if IS_ROOT else None,
    lines="",
):
    """A halter.conf. Frontends are specs, or texts of blocks with their braces; lines come last."""
    text = []
    for frontend in frontends:
        text.append("frontend = %s" % (frontend if frontend.lstrip().startswith("{") else '"%s"' % frontend))
    text.append('backend = "%s"' % backend)
    text += ['pem-file = "%s"' % getattr(pem, "path", pem) for pem in pems]
    text.append("workers = %s" % workers)
    text.append("log-level = %d" % log_level)
    if user:
        text.append('user = "%s"' % user)
    text.append(lines)
    return "\n".join(text) + "\n"


class Halter:
    """One running master with its workers.

    Made by the fixture of the same name. Attributes: addresses (as (host, port), in the order of --dbg-listen),
    address (the first), pid, log (Lines of stderr), directory, conf_path.
    """

    def __init__(
        self,
        text,
        arguments=(),
        binary_path=None,
        environment=None,
        nofile=None,
        wrapper=(),
        abstract=False,
        groups=None,
    ):
        self.directory = make_directory()
        self.conf_path = self.directory / "halter.conf"
        self.listen_path = self.directory / "listen"
        self.write(text)
        if abstract:
            self.notify = NotifySocket(abstract="halter-test-%d-%s" % (os.getpid(), self.directory.name))
        else:
            self.notify = NotifySocket(self.directory / "notify")
        self.environment = dict(os.environ, **sanitizer_environment(self.directory))
        self.environment["NOTIFY_SOCKET"] = self.notify.environment
        self.environment.update(environment or {})
        self.command = list(wrapper) + [
            binary_path or binary(),
            "--config=%s" % self.conf_path,
            "--dbg-listen=%s" % self.listen_path,
        ]
        self.command += [str(argument) for argument in arguments]
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self.environment,
            start_new_session=True,
            preexec_fn=_prepare(nofile, groups),
        )
        self.log = Lines(self.process.stderr, "the log of halter")
        self.pid = self.process.pid
        self.ended = False
        self.addresses = []

    def write(self, text):
        self.conf_path.write_text(text)
        os.chmod(self.conf_path, 0o644)

    def wait_ready(self):
        self._notified("READY=1")
        self.read_addresses()
        return self

    def _notified(self, wanted):
        try:
            return self.notify.wait_for(wanted, self.process)
        except DeadlineError as fault:
            raise DeadlineError("%s; its log:\n%s" % (fault, self.log_text())) from None

    def read_addresses(self):
        self.addresses = []
        for line in self.listen_path.read_text().split():
            host, _, port = line.rpartition(":")
            self.addresses.append((host.strip("[]"), int(port)))
        return self.addresses

    @property
    def address(self):
        return self.addresses[0]

    def workers(self):
        return sorted(children(self.pid))

    def log_text(self):
        if not process_is_live(self.pid):
            try:
                self.log.wait_end()
            except DeadlineError:
                pass
        return self.log.text()

    def send_signal(self, number):
        os.kill(self.pid, number)
        return self

    def reload(self, text=None, settled=False):
        """SIGHUP, and the wait until it is done. settled: also wait until the old workers have ended."""
        if text is not None:
            self.write(text)
        before = self.workers()
        self.send_signal(signal.SIGHUP)
        self._notified("RELOADING=1")
        self._notified("READY=1")
        if settled:
            wait_gone(before)
        return self

    # the end

    def wait_exit(self, status=0):
        """Waits until the master has ended by itself; its status is asserted (None: any)."""
        try:
            self.process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise DeadlineError("halter did not end; its log:\n" + self.log_text()) from None
        self.ended = True
        if status is not None:
            assert self.process.returncode == status, self.log_text()
        return self.process.returncode

    def stop(self, number=signal.SIGTERM):
        """Ends it and asserts all that must hold then."""
        if not self.ended:
            if self.process.poll() is None:
                self.send_signal(number)
            self.wait_exit(0)
        return self

    def totals(self):
        """The counters of the event=stopped line; those that it does not name are 0."""
        assert self.ended
        match = re.search(r"event=stopped\b(.*)", self.log.wait_end())
        assert match, self.log.text()
        return Counter({name: int(value) for name, value in re.findall(r"(\w+)=(\d+)(?!\S)", match.group(1))})

    def assert_clean(self):
        """No process left, no sanitizer report."""
        left = [pid for pid in session_members(self.pid)]
        reports = sanitizer_reports(self.directory)
        assert not reports, "sanitizer report:\n" + "\n".join(reports)
        assert not left, "processes left behind: %s" % left
        for word in ("AddressSanitizer", "LeakSanitizer", "runtime error:", "CHECK failed"):
            assert word not in self.log_text(), self.log_text()

    def destroy(self):
        for pid in {self.pid, *session_members(self.pid)}:
            if pid == self.pid and self.process.poll() is not None:
                continue
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.notify.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def _prepare(nofile, groups):
    """What the child does before it becomes halter: a limit of descriptors, supplementary groups."""

    def prepare():
        if nofile:
            resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))
        if groups:
            os.setgroups(groups)

    return prepare if nofile or groups else None
