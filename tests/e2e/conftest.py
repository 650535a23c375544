"""Fixtures of the end-to-end tests; what they are made of stands in harness/.

HALTER_BINARY          the binary under test, usually the sanitized one
HALTER_BINARY_PLAIN    the released build, for the tests marked big
HALTER_E2E_DEADLINE_S  how long a wait may last before it is a failure (60)
"""

import os
import shutil

import pytest

from harness import halter as halter_module
from harness import reaper
from harness.backends import DeadBackend, ManualBackend, StuckBackend, ThreadedBackend, commands, echo, http
from harness.certs import CertificateStore
from harness.halter import IS_ROOT, Halter, configuration
from harness.peers import Haproxy, Nginx


def pytest_configure(config):
    if hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", None):
        config.halter_reaper = reaper.start()


def pytest_runtest_setup(item):
    if item.get_closest_marker("needs_root") and not IS_ROOT:
        pytest.skip("needs root")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        item.has_failed = True
        for number, instance in enumerate(getattr(item, "halters", [])):
            title = "halter %d: %s" % (number, " ".join(instance.command))
            conf = instance.conf_path.read_text() if instance.conf_path.exists() else ""
            report.sections.append((title, conf + "\n--- log ---\n" + instance.log.text()[-20000:]))
            for sanitizer_report in halter_module.sanitizer_reports(instance.directory):
                report.sections.append(("sanitizer", sanitizer_report[:20000]))


@pytest.fixture(autouse=True)
def nothing_survives(request, monkeypatch):
    """No process that a test has started outlives it, daemons included; what a failed test leaves is ended quietly."""
    mark = os.urandom(8).hex()
    monkeypatch.setenv(reaper.TEST_MARK, mark)
    yield
    left = reaper.end_marked(reaper.TEST_MARK, mark)
    assert not left or getattr(request.node, "has_failed", False), "processes left behind: %s" % left


@pytest.fixture(scope="session")
def certs(tmp_path_factory):
    return CertificateStore(tmp_path_factory.mktemp("certs"))


@pytest.fixture
def workdir():
    """A directory with a short path, open to unprivileged workers."""
    directory = halter_module.make_directory()
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def halter(request, certs):
    """Starts halters: halter(backend=..., lines=..., ...) as configuration() takes; pems default to certs.default.

    Each is stopped at the end of the test: it must exit 0 (unless the test saw it end), leave no process, and no
    sanitizer report.
    """
    started = request.node.halters = []

    def start(
        text=None,
        arguments=(),
        binary=None,
        environment=None,
        nofile=None,
        wrapper=(),
        abstract=False,
        groups=None,
        ready=True,
        **settings,
    ):
        if text is None:
            backend = settings.get("backend")
            if hasattr(backend, "spec"):
                settings["backend"] = backend.spec
            settings.setdefault("pems", [certs.default])
            text = configuration(**settings)
        instance = Halter(text, arguments, binary, environment, nofile, wrapper, abstract, groups)
        started.append(instance)
        return instance.wait_ready() if ready else instance

    yield start
    try:
        for instance in started:
            instance.stop()
        for instance in started:
            instance.assert_clean()
    finally:
        for instance in started:
            instance.destroy()


@pytest.fixture
def conf(certs):
    """configuration() with certs.default, for tests that write it themselves."""

    def make(**settings):
        backend = settings.get("backend")
        if hasattr(backend, "spec"):
            settings["backend"] = backend.spec
        settings.setdefault("pems", [certs.default])
        return configuration(**settings)

    return make


@pytest.fixture
def backend_of(request, workdir):
    """Starts backends that end with the test: backend_of("manual", unix=True) and so on."""
    open_backends = []

    def start(kind="manual", handler=None, unix=False, host="127.0.0.1"):
        path = str(workdir / ("backend%d" % len(open_backends))) if unix else None
        if kind == "stuck":
            made = StuckBackend()
        elif kind == "dead":
            made = DeadBackend()
        elif kind == "manual":
            made = ManualBackend(path, host)
        else:
            made = ThreadedBackend(handler or {"echo": echo, "commands": commands, "http": http}[kind], path, host)
        open_backends.append(made)
        return made

    yield start
    for made in open_backends:
        made.close()


@pytest.fixture
def backend(backend_of):
    """A backend that the test plays itself."""
    return backend_of("manual")


@pytest.fixture
def server(backend_of):
    """A backend that obeys the first line (harness.backends.commands)."""
    return backend_of("commands")


def _peer(kind, missing):
    directory = halter_module.make_directory()
    try:
        made = kind(directory)
    except LookupError:
        shutil.rmtree(directory)
        pytest.skip(missing + " is not installed")
    yield made
    made.close()
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def nginx():
    yield from _peer(Nginx, "nginx")


@pytest.fixture(scope="session")
def haproxy():
    yield from _peer(Haproxy, "haproxy")
