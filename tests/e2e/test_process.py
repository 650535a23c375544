"""Master and workers: signals, deaths, reloads under load, privileges, descriptors, logs, timeouts."""

import contextlib
import fcntl
import os
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

import pytest

from harness import hello
from harness.body import body, body_digest, digest
from harness.halter import IS_ROOT, make_directory, plain_binary
from harness.tls import TlsClient, tls12, tls13
from harness.wait import DEADLINE_S, Deadline, own_address, wait_file, wait_gone
from harness.wire import connect


def fetch(address, count=10, context=None):
    with TlsClient(address, context) as client:
        client.send(b"SOURCE %d\n" % count)
        got = client.recv_to_end()
        assert got == body(count)
    return True


def is_alive(client):
    """Asks an open ECHO connection for a sign of life."""
    try:
        client.send(b"!")
        return client.recv_exact(1) == b"!"
    except (OSError, ssl.SSLError, AssertionError, EOFError):
        return False


def open_echo(address):
    client = TlsClient(address)
    client.send(b"ECHO\n?")
    assert client.recv_exact(1) == b"?"
    return client


def owner_of(client, pids):
    """The process that has the server's end of the connection."""
    local, remote = client.socket.getsockname(), client.socket.getpeername()
    wanted = "%s:%04X %s:%04X" % (_hex(remote[0]), remote[1], _hex(local[0]), local[1])
    with open("/proc/net/tcp") as table:
        inode = next(line.split()[9] for line in table if wanted in line)
    for pid in pids:
        for number in os.listdir("/proc/%d/fd" % pid):
            with contextlib.suppress(FileNotFoundError):
                if os.readlink("/proc/%d/fd/%s" % (pid, number)) == "socket:[%s]" % inode:
                    return pid
    return None


def _hex(host):
    return "%08X" % int.from_bytes(socket.inet_aton(host), "little")


class Load:
    """Threads that fetch without pause until told to stop; every failure is kept."""

    def __init__(self, address, threads=4):
        self.address = address
        self.stopping = threading.Event()
        self.failures = []
        self.done = 0
        self._progress = threading.Condition()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def _run(self):
        while not self.stopping.is_set():
            try:
                fetch(self.address, 2000)
            except Exception as fault:
                self.failures.append(repr(fault))
            with self._progress:
                self.done += 1
                self._progress.notify_all()

    def wait_progress(self, count):
        """Waits until count more fetches have ended."""
        with self._progress:
            target = self.done + count
            assert self._progress.wait_for(lambda: self.done >= target, DEADLINE_S), "the load stands still"

    def stop(self):
        self.stopping.set()
        for thread in self._threads:
            thread.join(DEADLINE_S)
            assert not thread.is_alive()
        return self.failures


# death


@pytest.mark.skipif(not IS_ROOT, reason="reads /proc/PID/fd of other users")
def test_killed_worker_costs_only_the_connections_it_held(halter, server):
    instance = halter(backend=server, workers=2)
    clients = [open_echo(instance.address) for _ in range(40)]
    victim, survivor = instance.workers()
    owners = {client: owner_of(client, (victim, survivor)) for client in clients}
    assert set(owners.values()) == {victim, survivor}
    os.kill(victim, signal.SIGKILL)
    for client in clients:
        if owners[client] == survivor:
            assert is_alive(client)
        else:
            assert client.wait_ended() in ("reset", "truncated")
    for _ in range(40):
        assert fetch(instance.address)
    assert len(instance.workers()) == 2 and victim not in instance.workers()
    for client in clients:
        if owners[client] == survivor:
            assert is_alive(client)
        client.close()


def test_killed_worker_under_load_is_replaced(halter, server):
    instance = halter(backend=server, workers=2)
    load = Load(instance.address)
    load.wait_progress(10)
    first = instance.workers()
    os.kill(first[0], signal.SIGKILL)
    wait_gone([first[0]])
    load.wait_progress(40)
    failures = load.stop()
    # Each thread held one connection; only those of the dead worker, and what its kernel queue had handed out, may fail.
    assert len(failures) <= 4, failures
    assert len(instance.workers()) == 2
    instance.log.wait_for(r"SIGKILL|signal[= ]9")


def test_connections_that_wait_for_a_dead_worker_are_served_by_the_next(halter, server):
    """The listening socket is the master's: its queue outlives the worker."""
    instance = halter(backend=server)
    (worker,) = instance.workers()
    os.kill(worker, signal.SIGSTOP)
    waiting = [connect(instance.address) for _ in range(20)]
    os.kill(worker, signal.SIGKILL)
    for wire in waiting:
        with TlsClient(wire) as client:
            client.send(b"SOURCE 10\n")
            assert client.recv_to_end() == body(10)


def test_worker_that_is_told_to_end_is_replaced_without_an_error(halter, server):
    instance = halter(backend=server)
    for number in (signal.SIGTERM, signal.SIGQUIT):
        (worker,) = instance.workers()
        os.kill(worker, number)
        line = instance.log.wait_for(r".* event=worker-ended worker=0 worker_pid=%d .*" % worker).group(0)
        assert " notice " in line and "restart_in_s=" in line
        assert fetch(instance.address)
    assert "event=worker-died" not in instance.stop().log_text()


def test_last_words_of_a_worker_have_its_pid(halter, server):
    """The master learns of the death while more lines wait for it than it reads in one turn."""
    instance = halter(backend=server)
    clients = [open_echo(instance.address) for _ in range(90)]
    (worker,) = instance.workers()
    instance.send_signal(signal.SIGSTOP)
    os.kill(worker, signal.SIGTERM)
    wait_gone([worker])
    instance.send_signal(signal.SIGCONT)
    assert fetch(instance.address)
    instance.stop()
    for client in clients:
        client.close()
    ended = re.findall(r"halter\[(\d+)\] event=connection-ended .*reason=drained", instance.log.wait_end())
    assert len(ended) > 64 and set(ended) == {str(worker)}
    assert not re.search(r"halter\[0\]|\bpid=0\b", instance.log.text())


def test_worker_killed_during_a_drain_does_not_hold_it_up(halter, server):
    instance = halter(backend=server, workers=2)
    clients = [open_echo(instance.address) for _ in range(10)]
    workers = instance.workers()
    instance.send_signal(signal.SIGQUIT)
    instance.notify.wait_for("STOPPING=1", instance.process)
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    for client in clients:
        client.wait_ended()
    instance.wait_exit(0)
    assert len(re.findall(r"error .*event=worker-died .*SIGKILL while=draining", instance.log.wait_end())) == 2


def test_worker_that_dies_again_and_again(halter, server):
    instance = halter(backend=server)
    for _ in range(3):
        (worker,) = instance.workers()
        os.kill(worker, signal.SIGKILL)
        wait_gone([worker])
        assert fetch(instance.address)
    assert fetch(instance.address)


def test_workers_of_a_killed_master_finish_and_exit(halter, server):
    instance = halter(backend=server, workers=2)
    workers = instance.workers()
    clients = [open_echo(instance.address) for _ in range(8)]
    instance.send_signal(signal.SIGKILL)
    instance.wait_exit(None)
    for client in clients:
        assert is_alive(client)
        client.close_notify()
        assert client.recv_to_end() == b""
        client.close()
    wait_gone(workers)


# stop


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stop_ends_at_once_with_0(halter, server, number):
    instance = halter(backend=server, workers=2)
    clients = [open_echo(instance.address) for _ in range(4)]
    idle = connect(instance.address)
    workers = instance.workers()
    instance.stop(number)
    assert not any(os.path.exists("/proc/%d" % pid) for pid in workers)
    for client in clients:
        client.wait_ended()
    idle.wait_ended()
    assert instance.totals()["connections_accepted"] >= 4


def test_quit_lets_a_download_finish(halter, server):
    instance = halter(backend=server, workers=2)
    length = 20000000
    with TlsClient(instance.address, receive_buffer=4096) as client:
        client.send(b"SOURCE %d\n" % length)
        first = client.recv_exact(10)
        instance.send_signal(signal.SIGQUIT)
        instance.notify.wait_for("STOPPING=1", instance.process)
        sha = digest([first] + list(iter(client.recv_some, b"")))
        assert sha == body_digest(length)
    instance.wait_exit(0)


def connect_until_refused(address):
    """A listener that is given up may hand over what waits in its queue first; each of those has its own end."""
    while True:
        try:
            with connect(address) as late:
                late.shutdown_write().wait_ended()
        except ConnectionRefusedError:
            return
        except ConnectionError:
            continue


def test_quit_takes_no_new_connection(halter, server):
    instance = halter(backend=server, workers=2)
    with open_echo(instance.address) as client:
        instance.send_signal(signal.SIGQUIT)
        instance.notify.wait_for("STOPPING=1", instance.process)
        connect_until_refused(instance.address)
        assert is_alive(client)
        client.close_notify()
        assert client.recv_to_end() == b""
    instance.wait_exit(0)


def test_quit_is_bounded_by_drain_timeout(halter, server):
    instance = halter(backend=server, lines="drain-timeout = 1\n")
    with open_echo(instance.address) as client:
        instance.send_signal(signal.SIGQUIT)
        instance.wait_exit(0)
        client.wait_ended()


def test_term_ends_a_drain(halter, server):
    instance = halter(backend=server)
    with open_echo(instance.address):
        instance.send_signal(signal.SIGQUIT)
        instance.notify.wait_for("STOPPING=1", instance.process)
        instance.stop(signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT, signal.SIGINT])
def test_stop_in_the_middle_of_a_reload(halter, server, number):
    instance = halter(backend=server, workers=2)
    instance.send_signal(signal.SIGHUP)
    instance.notify.wait_for("RELOADING=1", instance.process)
    instance.stop(number)


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGPIPE, signal.SIGXFSZ])
def test_harmless_signals(halter, server, number):
    instance = halter(backend=server)
    instance.send_signal(number)
    assert fetch(instance.address)


def test_signals_in_quick_succession(halter, server):
    instance = halter(backend=server, workers=2)
    for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGHUP, signal.SIGHUP, signal.SIGUSR1) * 3:
        instance.send_signal(number)
    assert fetch(instance.address)


# reload


def test_reload_under_load_loses_no_connection(halter, server):
    instance = halter(backend=server, workers=2, lines="drain-timeout = 30\n")
    load = Load(instance.address)
    with open_echo(instance.address) as old:
        for _ in range(6):
            load.wait_progress(8)
            instance.reload()
        load.wait_progress(8)
        assert load.stop() == []
        del old
    assert len([pid for pid in instance.workers()]) >= 2


def test_reload_keeps_open_connections(halter, server):
    instance = halter(backend=server)
    with open_echo(instance.address) as client:
        old = instance.workers()
        instance.reload()
        assert is_alive(client)
        client.close_notify()
        assert client.recv_to_end() == b""
    wait_gone(old)
    assert fetch(instance.address)


def test_connections_that_wait_during_a_reload_are_served(halter, server):
    """The old worker is stopped, so the whole queue is the new worker's."""
    instance = halter(backend=server)
    (old,) = instance.workers()
    os.kill(old, signal.SIGSTOP)
    try:
        waiting = [connect(instance.address) for _ in range(20)]
        instance.reload()
        for wire in waiting:
            with TlsClient(wire) as client:
                client.send(b"SOURCE 10\n")
                assert client.recv_to_end() == body(10)
    finally:
        os.kill(old, signal.SIGCONT)
    wait_gone([old])


def test_at_most_two_generations_live(halter, server):
    instance = halter(backend=server)
    clients = []
    generations = []
    for _ in range(3):
        clients.append(open_echo(instance.address))
        generations.append(instance.workers())
        instance.reload()
    wait_gone(generations[0])
    assert clients[0].wait_ended()
    assert fetch(instance.address)
    for client in clients:
        client.close()


def test_certificate_is_replaced_by_reload(halter, server, certs, workdir):
    path = workdir / "site.pem"
    path.write_bytes(certs.default.pem)
    instance = halter(backend=server, pems=[path], workers=2)
    with open_echo(instance.address) as client:
        assert client.peer_der == certs.default.der
    replacement = workdir / "new"
    replacement.write_bytes(certs.rsa.pem)
    os.rename(replacement, path)
    instance.reload(settled=True)
    for _ in range(10):
        with TlsClient(instance.address) as client:
            assert client.peer_der == certs.rsa.der


def test_faulty_certificate_at_reload_changes_nothing(halter, server, certs, workdir):
    path = workdir / "site.pem"
    path.write_bytes(certs.default.pem)
    instance = halter(backend=server, pems=[path])
    workers = instance.workers()
    path.write_bytes(b"garbage")
    mark = instance.log.mark()
    instance.reload()
    instance.log.wait_for(re.escape(str(path)), after=mark)
    assert instance.workers() == workers
    with TlsClient(instance.address) as client:
        assert client.peer_der == certs.default.der
    path.write_bytes(certs.rsa.pem)
    instance.reload(settled=True)
    with TlsClient(instance.address) as client:
        assert client.peer_der == certs.rsa.der


@pytest.mark.parametrize(
    "mistake",
    ["worker = 3\n", 'pem-file = "/nonexistent.pem"\n', 'frontend = "[203.0.113.77]:1"\n', "daemon = perhaps\n", ""],
    ids=["keyword", "certificate", "address", "value", "missing-file"],
)
def test_invalid_configuration_changes_nothing_and_says_why(halter, conf, server, mistake):
    text = conf(backend=server, lines="")
    instance = halter(text)
    workers = instance.workers()
    with open_echo(instance.address) as client:
        mark = instance.log.mark()
        if mistake:
            instance.reload(text + mistake)
        else:
            instance.conf_path.unlink()
            instance.reload()
        instance.log.wait_for(
            r"%s" % re.escape(str(instance.conf_path)) if "[203" not in mistake else "203.0.113.77", after=mark
        )
        assert is_alive(client)
    assert instance.workers() == workers
    assert fetch(instance.address)
    instance.reload(text, settled=True)
    assert fetch(instance.address)


def test_all_faults_of_a_reload_are_logged(halter, conf, server):
    text = conf(backend=server)
    instance = halter(text)
    mark = instance.log.mark()
    instance.reload(text + 'worker = 3\nbacklogg = 1\npem-file = "/nonexistent.pem"\n')
    for word in ("worker", "backlogg", "nonexistent.pem"):
        instance.log.wait_for(word, after=mark)


def test_frontend_is_added_and_removed_by_reload(halter, conf, server):
    first, second = own_address(), own_address()
    one = conf(backend=server, frontends=["[%s]:%d" % first])
    two = conf(backend=server, frontends=["[%s]:%d" % first, "[%s]:%d" % second])
    instance = halter(one)
    with pytest.raises(ConnectionRefusedError):
        connect(second)
    instance.reload(two, settled=True)
    assert instance.read_addresses() == [first, second]
    assert fetch(first) and fetch(second)
    with open_echo(second) as client:
        instance.reload(one)
        assert is_alive(client)  # what is open on a removed frontend is finished
        client.close_notify()
        assert client.recv_to_end() == b""
    connect_until_refused(second)
    assert fetch(first)


def test_reload_while_a_reload_is_under_way_follows_it(halter, conf, server):
    """The new worker is held before it is ready, so the second SIGHUP comes in the midst; what it finds is done after."""
    instance = halter(conf(backend=server))
    old = instance.workers()
    instance.send_signal(signal.SIGHUP)
    instance.notify.wait_for("RELOADING=1", instance.process)
    instance.write(conf(backend=server, workers=3))
    for _ in range(5):
        instance.send_signal(signal.SIGHUP)
    instance.log.wait_for(r"event=reloaded generation=\d+ workers=3 ")
    instance.notify.wait_for("READY=1", instance.process)
    wait_gone(old)
    assert fetch(instance.address)


def test_keepalive_is_switched_by_reload(halter, conf, backend):
    """The listening sockets stay; what they hand out changes."""
    instance = halter(conf(backend=backend, lines="keepalive = 50\n"))
    for seconds in (50, 0, 70):
        instance.reload(conf(backend=backend, lines="keepalive = %d\n" % seconds), settled=True)
        with TlsClient(instance.address) as client, backend.accept():
            left = keepalive_left(client)
            assert seconds - 20 <= left <= seconds if seconds else left is None, (seconds, left)


def keepalive_left(client):
    """Seconds until the server's end of the connection sends a keep-alive probe; None: never."""
    local, remote = client.socket.getsockname(), client.socket.getpeername()
    wanted = "%s:%04X %s:%04X" % (_hex(remote[0]), remote[1], _hex(local[0]), local[1])
    kind, deadline = "01", Deadline("the acknowledgement of what was sent")
    while kind == "01" and deadline.left():  # first there is the retransmission timer
        with open("/proc/net/tcp") as table:
            kind, _, jiffies = next(line.split()[5] for line in table if wanted in line).partition(":")
    return int(jiffies, 16) / os.sysconf("SC_CLK_TCK") if kind == "02" else None


def test_size_of_a_buffer_needs_a_restart_to_be_the_kernels_again(halter, conf, server):
    instance = halter(conf(backend=server, lines="recv-bufsize = 20000\nsend-bufsize = 20000\n"))
    instance.reload(conf(backend=server), settled=True)
    for keyword in ("recv-bufsize", "send-bufsize"):
        instance.log.wait_for("event=needs-restart keyword=" + keyword)
    assert fetch(instance.address)


def test_reload_to_daemon_needs_a_restart_and_leaves_the_log_alone(halter, conf, server):
    instance = halter(conf(backend=server))
    instance.reload(conf(backend=server, lines="daemon = on\n"), settled=True)
    instance.log.wait_for("event=needs-restart keyword=daemon")
    port = failed_handshake(instance.address)
    instance.log.wait_for(r"event=connection-ended .*127\.0\.0\.1:%d " % port)
    (worker,) = instance.workers()
    assert os.readlink("/proc/%d/fd/2" % instance.pid).startswith("pipe:")
    instance.stop()
    assert "event=stopped" in instance.log.wait_end()


def test_reload_keeps_a_port_that_the_kernel_chose(halter, server):
    instance = halter(backend=server)
    before = instance.address
    instance.reload(settled=True)
    assert instance.read_addresses() == [before]
    assert fetch(before)


def test_many_reloads_leak_no_descriptor_and_no_process(halter, server, certs, workdir):
    path = workdir / "site.pem"
    path.write_bytes(certs.default.pem)
    instance = halter(backend=server, pems=[path], workers=2)
    instance.reload(settled=True)
    before = len(os.listdir("/proc/%d/fd" % instance.pid))
    for turn in range(12):
        path.write_bytes((certs.rsa if turn % 2 else certs.default).pem if turn % 3 else b"garbage")
        instance.reload(settled=turn % 3 != 0)
        assert fetch(instance.address)
    assert len(os.listdir("/proc/%d/fd" % instance.pid)) <= before
    assert len(instance.workers()) == 2


def test_300_reloads_grow_nothing(halter, conf, server, certs):
    """Every third is refused. Counted once all has been done a few times: descriptors and memory, in kB."""

    def memory():
        with open("/proc/%d/smaps_rollup" % instance.pid) as rollup:
            return sum(int(line.split()[1]) for line in rollup if line.startswith(("Anonymous:", "Swap:")))

    texts = [
        conf(backend=server, log_level=1),
        conf(
            backend=server, log_level=1, pems=[certs.default, certs.rsa], frontends=["[127.0.0.1]:0", "[127.0.0.2]:0"]
        ),
        conf(backend=server, log_level=1, lines='pem-file = "/nonexistent.pem"\n'),
    ]
    instance = halter(texts[0], binary=plain_binary())
    counts = []
    for turn in range(300):
        instance.reload(texts[turn % 3], settled=turn % 30 == 0)
        if turn % 30 == 0 and turn > 0:
            fewest = counts[0][0] if counts else 0
            counts.append((_settled_descriptors(instance.pid, fewest), memory()))
    assert fetch(instance.address)
    assert counts[-1][0] <= counts[0][0], counts
    assert counts[-1][1] <= counts[0][1] + 256, counts
    assert len(instance.reload(texts[0], settled=True).workers()) == 1


def test_worker_killed_in_the_middle_of_reloads(halter, server):
    instance = halter(backend=server, workers=2)
    for _ in range(4):
        instance.send_signal(signal.SIGHUP)
        for worker in instance.workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        instance.notify.wait_for("READY=1", instance.process)
        assert fetch(instance.address)


@pytest.mark.parametrize("counts", [(1, 3), (3, 1)])
def test_number_of_workers_is_changed_by_reload(halter, conf, server, counts):
    instance = halter(conf(backend=server, workers=counts[0]))
    assert len(instance.workers()) == counts[0]
    instance.reload(conf(backend=server, workers=counts[1]), settled=True)
    assert len(instance.workers()) == counts[1]
    for _ in range(20):
        assert fetch(instance.address)


def test_fewer_workers_under_load_lose_no_connection(halter, conf, server):
    instance = halter(conf(backend=server, workers=3))
    load = Load(instance.address)
    load.wait_progress(8)
    instance.reload(conf(backend=server, workers=1))
    load.wait_progress(8)
    instance.reload(conf(backend=server, workers=3))
    load.wait_progress(8)
    assert load.stop() == []


def test_backend_is_changed_by_reload(halter, conf, backend_of):
    first, second = backend_of("manual"), backend_of("manual")
    instance = halter(conf(backend=first))
    with TlsClient(instance.address), first.accept():
        pass
    instance.reload(conf(backend=second), settled=True)
    with TlsClient(instance.address), second.accept():
        assert first.nothing_waits()


@pytest.mark.parametrize("version", [tls12, tls13], ids=["tls1.2", "tls1.3"])
def test_tickets_survive_a_reload(halter, server, version):
    instance = halter(backend=server)
    context = version()
    with TlsClient(instance.address, context) as client:
        client.send(b"SOURCE 1\n")
        client.recv_to_end()
        session = client.session
    instance.reload(settled=True)
    with TlsClient(instance.address, context, session=session) as client:
        assert client.resumed


# privileges and places


def status_of(pid):
    with open("/proc/%d/status" % pid) as status:
        return {key: value.split() for key, value in (line.rstrip().split(":", 1) for line in status)}


@pytest.mark.needs_root
def test_workers_drop_user_group_and_supplementary_groups(halter):
    import pwd

    nobody = pwd.getpwnam("nobody")
    instance = halter(workers=2, groups=[0, 4, 12345])
    assert len(instance.workers()) == 2
    for worker in instance.workers():
        status = status_of(worker)
        assert status["Uid"] == [str(nobody.pw_uid)] * 4
        assert status["Gid"] == [str(nobody.pw_gid)] * 4
        assert status["Groups"] == []
        assert int(status["CapEff"][0], 16) == int(status["CapPrm"][0], 16) == 0
        assert status["NoNewPrivs"] == ["1"]


@pytest.mark.needs_root
def test_group_alone_can_be_chosen(halter):
    import grp

    group = grp.getgrnam("daemon")
    instance = halter(lines='group = "daemon"\n')
    (worker,) = instance.workers()
    assert status_of(worker)["Gid"] == [str(group.gr_gid)] * 4


@pytest.mark.needs_root
def test_chroot_with_a_unix_socket_inside(halter, backend_of):
    from harness.backends import ThreadedBackend, commands

    root = make_directory()
    server = ThreadedBackend(commands, root / "socket")
    try:
        # Neither the leak checker's /proc nor its log are in there.
        instance = halter(
            backend="/socket",
            lines='chroot = "%s"\n' % root,
            environment={"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1"},
        )
        (worker,) = instance.workers()
        assert os.readlink("/proc/%d/root" % worker) == str(root)
        assert fetch(instance.address)
        instance.reload(settled=True)
        assert fetch(instance.address)
    finally:
        server.close()
        shutil.rmtree(root)


def cpu_quota_is_in_force():
    """Of the control group that we see as the root one; there halter leaves the choice of cores to the kernel."""
    for path in ("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"):
        with contextlib.suppress(OSError):
            if open(path).read().split()[0] not in ("max", "-1"):
                return True
    return False


def test_each_worker_has_a_core_of_its_own(halter):
    if cpu_quota_is_in_force():
        pytest.skip("a CPU quota is in force: no pinning")
    allowed = sorted(os.sched_getaffinity(0))
    instance = halter(workers=len(allowed))
    pinned = [status_of(worker)["Cpus_allowed_list"][0] for worker in instance.workers()]
    assert sorted(map(int, pinned)) == allowed


def test_workers_auto_follows_the_cpuset(halter):
    one = min(os.sched_getaffinity(0))
    instance = halter(workers="auto", wrapper=["taskset", "-c", str(one)])
    assert len(instance.workers()) == 1
    if len(os.sched_getaffinity(0)) > 1:
        everywhere = halter(workers="auto")
        assert 1 <= len(everywhere.workers()) <= len(os.sched_getaffinity(0))


# descriptors


def test_more_clients_than_descriptors_wait_and_are_served(halter, server):
    """The limit is small: some connections wait in the queue, nothing dies, and all are served in the end."""
    instance = halter(backend=server, nofile=48)
    (worker,) = instance.workers()
    wires = [connect(instance.address) for _ in range(80)]
    served = [TlsClient(wires.pop(0)) for _ in range(3)]
    assert instance.workers() == [worker]
    for client in served:
        client.send(b"SOURCE 10\n")
        assert client.recv_to_end() == body(10)
        client.close()
    for wire in wires:
        with TlsClient(wire, tls12()) as client:
            client.send(b"SOURCE 10\n")
            assert client.recv_to_end() == body(10)
    assert instance.workers() == [worker]
    instance.stop()
    assert instance.totals()["accept_pauses"] >= 1


def test_few_descriptors_are_told_at_start(halter, server):
    """And the number is that at which accepting pauses."""
    instance = halter(backend=server, nofile=48)
    told = instance.log.wait_for(r"event=few-files limit=48 .*holds (\d+) connections at most")
    wires = [connect(instance.address) for _ in range(12)]
    paused = instance.log.wait_for(r"event=accept-paused connections=(\d+)")
    assert told.group(1) == paused.group(1)
    for wire in wires:
        wire.close()


@pytest.mark.skipif(not IS_ROOT, reason="reads /proc/PID/fd of other users")
def test_closed_standard_descriptors_are_taken_by_nothing_else(halter, server, workdir):
    """What is opened first would get their numbers: the log would be written into it, and workers would keep it."""
    instance = halter(
        backend=server,
        log_level=3,
        arguments=["--pidfile=%s" % (workdir / "pid")],
        wrapper=["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-'],
    )
    assert fetch(instance.address)
    for pid in [instance.pid, *instance.workers()]:
        for number in (0, 1, 2):
            assert os.readlink("/proc/%d/fd/%d" % (pid, number)) == "/dev/null"
    assert (workdir / "pid").read_text() == "%d\n" % instance.pid


def test_full_descriptor_table_does_not_spin(halter, server):
    """While nothing can be accepted the worker sleeps. Clock of the test: a client that is cut off after 4 s of silence."""
    instance = halter(backend=server, nofile=48, lines="ssl-handshake-timeout = 4\n")
    (worker,) = instance.workers()
    wires = [connect(instance.address) for _ in range(80)]
    with TlsClient(wires[0], tls12()):
        before, started = _cpu_seconds(worker), time.monotonic()
        wires[1].wait_ended()
        spent, passed = _cpu_seconds(worker) - before, time.monotonic() - started
    for wire in wires:
        wire.close()
    assert spent <= max(0.3 * passed, 0.25), (spent, passed)
    assert instance.workers() == [worker]


def _cpu_seconds(pid):
    with open("/proc/%d/stat" % pid, "rb") as stat:
        fields = stat.read().rsplit(b")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_idle_connections_cost_no_cpu(halter, server):
    instance = halter(backend=server, lines="idle-timeout = 60\n")
    (worker,) = instance.workers()
    clients = [open_echo(instance.address) for _ in range(20)]
    for client in clients:
        client.close_notify()  # half-closed both ways round: the classic busy loop
    for client in clients:
        client.close()
    half = TlsClient(instance.address)
    half.send(b"SINK\n")
    clock = halter(backend=server, lines="ssl-handshake-timeout = 1\n")
    before, started = _cpu_seconds(worker), time.monotonic()
    connect(clock.address).wait_ended()
    spent, passed = _cpu_seconds(worker) - before, time.monotonic() - started
    half.close()
    assert spent <= max(0.2 * passed, 0.2), (spent, passed)


def test_no_descriptor_is_leaked(halter, server):
    instance = halter(backend=server)
    (worker,) = instance.workers()
    if not os.access("/proc/%d/fd" % worker, os.R_OK):
        pytest.skip("may not look into the worker")

    def descriptors():
        return len(os.listdir("/proc/%d/fd" % worker))

    before = descriptors()  # no connection has been made yet
    for turn in range(30):
        assert fetch(instance.address)
        connect(instance.address).reset()
        with connect(instance.address) as wire:
            wire.send(b"garbage\r\n").wait_ended()
        with open_echo(instance.address) as client:
            if turn % 2:
                client.reset()
    deadline = Deadline("the worker's descriptors to be closed: %d of %d" % (descriptors(), before))
    while descriptors() > before:  # the last closes may be under way; a round trip through the worker is the clock
        assert fetch(instance.address)
        deadline.left()


def _settled_descriptors(pid, wanted=0):
    """Counts, once there are no more than wanted (0: once the count stays); the last close may still be under way."""
    counts = []
    deadline = time.monotonic() + DEADLINE_S
    while True:
        counts.append(len(os.listdir("/proc/%d/fd" % pid)))
        is_settled = counts[-1] <= wanted if wanted else counts[-5:] == 5 * counts[-1:]
        if is_settled or time.monotonic() > deadline:
            return counts[-1]
        select.select([], [], [], 0.01)  # nothing tells of a close in another process


# logs


def failed_handshake(address):
    """A plain HTTP request; its client's port is what a log line can be found by."""
    with connect(address) as wire:
        port = wire.socket.getsockname()[1]
        try:
            wire.send(b"GET / HTTP/1.1\r\n\r\n")
        except ConnectionError:
            pass
        wire.wait_ended()
    return port


def test_failed_handshake_is_logged_with_the_client(halter, server):
    instance = halter(backend=server, log_level=2)
    port = failed_handshake(instance.address)
    line = instance.log.wait_for(r".*127\.0\.0\.1:%d.*" % port).group(0)
    assert re.search(r"event=\S+", line) and re.search(r"halter\[%d\]" % instance.workers()[0], line), line


def test_log_lines_have_one_form(halter, server):
    instance = halter(backend=server, log_level=3)
    fetch(instance.address)
    failed_handshake(instance.address)
    instance.stop()
    lines = instance.log.wait_end().splitlines()
    assert lines
    for line in lines:
        assert re.match(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z (error|notice|info|debug) halter\[\d+\] event=\S+", line
        ), line


def test_log_level_1_is_silent_about_clients(halter, server):
    instance = halter(backend=server, log_level=1)
    fetch(instance.address)
    port = failed_handshake(instance.address)
    instance.stop()
    assert ":%d" % port not in instance.log.wait_end()


def test_log_level_0_is_silence(halter, server):
    instance = halter(backend=server, log_level=0)
    fetch(instance.address)
    failed_handshake(instance.address)
    instance.stop()
    assert instance.log.wait_end() == ""


def test_a_client_cannot_forge_log_lines(halter, server):
    instance = halter(backend=server, log_level=3)
    message = hello.client_hello(name="a\nevent=forged b\x1b[31m")
    with connect(instance.address) as wire:
        wire.send(hello.records(message)).shutdown_write()
        wire.wait_ended()
    fetch(instance.address)
    instance.stop()
    text = instance.log.wait_end()
    assert not re.search(r"^event=forged", text, re.MULTILINE) and "\x1b" not in text


def test_usr1_reopens_a_rotated_log(halter, server, workdir):
    log = workdir / "halter.log"
    instance = halter(backend=server, log_level=2, lines='log-filename = "%s"\n' % log)
    wait_file(log, "127.0.0.1:%d" % failed_handshake(instance.address))
    os.rename(log, workdir / "halter.log.1")
    instance.send_signal(signal.SIGUSR1)
    wait_file(log, "")  # there again
    wait_file(log, "127.0.0.1:%d" % failed_handshake(instance.address))


def test_log_that_cannot_be_reopened_goes_on_where_it_was(halter, server, workdir):
    log, moved = workdir / "halter.log", workdir / "halter.log.1"
    instance = halter(backend=server, log_level=2, lines='log-filename = "%s"\n' % log)
    os.rename(log, moved)
    log.mkdir()
    instance.send_signal(signal.SIGUSR1)
    wait_file(moved, "error .*event=log-not-reopened")
    wait_file(moved, "127.0.0.1:%d" % failed_handshake(instance.address))


def test_log_at_the_limit_of_file_sizes_harms_nobody(halter, server, workdir):
    log = workdir / "halter.log"
    instance = halter(
        backend=server,
        log_level=3,
        lines='log-filename = "%s"\n' % log,
        wrapper=["sh", "-c", 'ulimit -f 1; exec "$0" "$@"'],
    )
    for _ in range(10):
        assert fetch(instance.address)
        failed_handshake(instance.address)
    instance.reload(settled=True)
    assert fetch(instance.address)
    assert log.stat().st_size <= 1024


def test_log_to_a_full_disk_harms_nobody(halter, server):
    instance = halter(backend=server, log_level=3, lines='log-filename = "/dev/full"\n')
    for _ in range(10):
        assert fetch(instance.address)
        failed_handshake(instance.address)


def test_log_reader_that_has_gone_harms_nobody(halter, server, conf):
    """The other end of the standard error pipe is closed, as when a supervisor's logger dies."""
    instance = halter(backend=server, log_level=3, wrapper=["sh", "-c", 'exec "$0" "$@" 2>&-'], ready=False)
    instance.wait_ready()
    for _ in range(10):
        assert fetch(instance.address)
        failed_handshake(instance.address)


def test_log_reader_that_is_stuck_harms_nobody(halter, server, workdir):
    """A named pipe that nobody empties fills up; lines are dropped, service goes on."""
    fifo = workdir / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, 1031, 4096)  # F_SETPIPE_SZ: a few lines fill it
    try:
        instance = halter(backend=server, log_level=3, lines='log-filename = "%s"\n' % fifo)
        for _ in range(20):
            for _ in range(40):
                failed_handshake(instance.address)
            assert fetch(instance.address)
        instance.stop()
    finally:
        os.close(reader)


@pytest.mark.needs_root
def test_syslog(halter, server, workdir):
    """In a mount namespace whose /dev/log is ours."""
    if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("no mount namespaces here")
    device = workdir / "dev"
    device.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(str(device / "log"))
        os.chmod(device / "log", 0o777)
        log.settimeout(DEADLINE_S)
        script = (
            'd="$1"; shift; for f in null zero full random urandom; do touch "$d/$f"; mount --bind "/dev/$f" "$d/$f"; done; '
            'mount --bind "$d" /dev; exec "$@"'
        )
        instance = halter(
            backend=server,
            log_level=2,
            lines='syslog = on\nsyslog-facility = "local3"\n',
            wrapper=["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", str(device)],
        )
        port = failed_handshake(instance.address)
        while True:
            line = log.recv(8192).decode()
            match = re.match(r"<(\d+)>.*halter\[(\d+)\]: ", line)
            assert match and int(match.group(1)) >> 3 == 19, line  # local3
            if ":%d" % port in line:
                break


# timeouts


def test_handshake_timeout_counts_from_accept(halter, server):
    """Neither silence nor one byte now and then keeps a connection in its handshake."""
    instance = halter(backend=server, lines="ssl-handshake-timeout = 3\n")
    data = hello.records(hello.client_hello())
    silent, part, slow = (connect(instance.address) for _ in range(3))
    part.send(data[: len(data) // 2])
    assert silent.wait_ended()
    assert part.wait_ended()
    slow.socket.setblocking(False)
    with contextlib.suppress(ConnectionError):
        for byte in data[:-1]:  # ends when halter has closed: a send fails, or everything is sent and it ends
            try:
                slow.socket.send(bytes([byte]))
            except BlockingIOError:
                break
    slow.socket.settimeout(DEADLINE_S)
    assert slow.wait_ended()
    assert fetch(instance.address)


def test_handshake_timeout_spares_those_who_are_through(halter, server):
    instance = halter(backend=server, lines="ssl-handshake-timeout = 3\n")
    with open_echo(instance.address) as client:
        connect(instance.address).wait_ended()
        assert is_alive(client)


def is_quiet(wire):
    """Nothing has come, no end either."""
    poll = select.poll()
    poll.register(wire.socket, select.POLLIN)
    return not poll.poll(0)


def test_idle_timeout(halter, server):
    instance = halter(backend=server, lines="idle-timeout = 2\n")
    with open_echo(instance.address) as client:
        client.wait_ended()
    assert fetch(instance.address)


def test_idle_timeout_is_renewed_by_either_direction(halter, backend):
    """Bytes of the reply alone keep the connection, beyond the timeout; another halter's timeout is the clock."""
    instance = halter(backend=backend, lines="idle-timeout = 5\n")
    clock = halter(backend=backend, lines="ssl-handshake-timeout = 2\n")
    with TlsClient(instance.address) as client, backend.accept() as served:
        for _ in range(3):
            served.send(b".")
            assert client.recv_exact(1) == b"."
            connect(clock.address).wait_ended()
        assert is_quiet(client) and is_quiet(served)


def test_idle_timeout_ends_a_client_that_does_not_read(halter, backend):
    """A full window and nobody who empties it: the connection is idle, and its end is no clean one."""
    instance = halter(backend=backend, lines="idle-timeout = 1\nclose-timeout = 1\n")
    with TlsClient(instance.address, receive_buffer=4096) as client, backend.accept() as served:
        block = body(1 << 16)
        with pytest.raises(ConnectionError):
            while True:
                served.send(block)
        assert client.wait_ended() in ("reset", "truncated", "alert")


def test_first_data_timeout(halter, backend):
    instance = halter(backend=backend, lines="first-data-timeout = 1\nidle-timeout = 600\n")
    with TlsClient(instance.address) as client, backend.accept() as served:
        client.wait_ended()
        served.wait_ended()


def test_first_data_timeout_spares_those_who_spoke(halter, backend):
    instance = halter(backend=backend, lines="first-data-timeout = 4\nidle-timeout = 600\n")
    with TlsClient(instance.address) as client, backend.accept() as served:
        served.send(b"hello")
        assert client.recv_exact(5) == b"hello"
        with TlsClient(instance.address) as silent, backend.accept():
            silent.wait_ended()
        client.send(b"still here")
        assert served.recv_exact(10) == b"still here"


def test_half_close_timeout(halter, backend):
    """The backend has ended, the client says nothing more and does not end."""
    instance = halter(backend=backend, lines="half-close-timeout = 1\nidle-timeout = 600\n")
    with TlsClient(instance.address) as client, backend.accept() as served:
        client.send(b"request")
        assert served.recv_exact(7) == b"request"
        served.shutdown_write()
        assert client.recv_to_end() == b""
        served.wait_ended()


def test_idle_timeout_holds_for_a_reply_that_does_not_come(halter, backend):
    """The client has ended its side; the reply may take long, but not for ever."""
    instance = halter(backend=backend, lines="half-close-timeout = 600\nidle-timeout = 1\n")
    with TlsClient(instance.address) as client, backend.accept() as served:
        client.object.write(b"request")
        client.close_notify()  # in one write with the request
        assert served.recv_to_end() == b"request"
        client.wait_ended()
        served.wait_ended()
