"""Waiting for things to happen, never for time to pass.

Everything blocks on a descriptor (socket, pipe, pidfd, inotify) or a condition, with one generous deadline that only
a hang ever reaches.
"""

import ctypes
import itertools
import os
import re
import select
import socket
import struct
import threading
import time
from pathlib import Path

DEADLINE_S = float(os.environ.get("HALTER_E2E_DEADLINE_S", "60"))


class DeadlineError(AssertionError):
    """Something that had to happen did not."""


class Deadline:
    """The time left of one wait."""

    def __init__(self, what, seconds=None):
        self.what = what
        self.end = time.monotonic() + (DEADLINE_S if seconds is None else seconds)

    def left(self):
        rest = self.end - time.monotonic()
        if rest <= 0:
            raise DeadlineError("waited in vain for " + self.what)
        return rest


class Lines:
    """Lines that a thread reads from a pipe (or any binary stream) as they come."""

    def __init__(self, stream, name):
        self.name = name
        self.lines = []
        self.ended = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream):
        with stream:
            for raw in iter(stream.readline, b""):
                with self._changed:
                    self.lines.append(raw.decode("utf-8", "replace").rstrip("\n"))
                    self._changed.notify_all()
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def mark(self):
        """A place from which wait_for() and since() look on."""
        with self._changed:
            return len(self.lines)

    def since(self, mark=0):
        with self._changed:
            return list(self.lines[mark:])

    def text(self):
        return "\n".join(self.since())

    def wait_for(self, pattern, after=0, count=1):
        """The count-th line after the mark in which the regular expression is found, as its match."""
        deadline = Deadline("a line like %r in %s" % (pattern, self.name))
        expression = re.compile(pattern)
        with self._changed:
            while True:
                found = [m for m in map(expression.search, self.lines[after:]) if m]
                if len(found) >= count:
                    return found[count - 1]
                if self.ended:
                    raise DeadlineError(
                        "%s ended without a line like %r:\n%s" % (self.name, pattern, "\n".join(self.lines))
                    )
                self._changed.wait(deadline.left())

    def wait_end(self):
        deadline = Deadline("the end of " + self.name)
        with self._changed:
            while not self.ended:
                self._changed.wait(deadline.left())
        return self.text()


class NotifySocket:
    """The receiving end of sd_notify(3)."""

    def __init__(self, path=None, abstract=None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        if abstract is not None:
            self.socket.bind("\0" + abstract)
            self.environment = "@" + abstract
        else:
            self.socket.bind(str(path))
            os.chmod(path, 0o777)
            self.environment = str(path)
        self.messages = []
        self._next = 0

    def wait_for(self, wanted, process=None):
        """Reads on until a datagram holds the line wanted; earlier ones are passed over. Returns that datagram."""
        deadline = Deadline("notification " + wanted)
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        pidfd = None
        if process is not None and process.poll() is None:
            pidfd = os.pidfd_open(process.pid)
            poll.register(pidfd, select.POLLIN)
        try:
            while True:
                while self._next < len(self.messages):
                    message = self.messages[self._next]
                    self._next += 1
                    if wanted in message.split("\n"):
                        return message
                ready = dict(poll.poll(deadline.left() * 1000))
                if self.socket.fileno() in ready:
                    self.messages.append(self.socket.recv(8192).decode())
                elif ready or (process is not None and process.poll() is not None):
                    raise DeadlineError("the process ended before it said " + wanted)
        finally:
            if pidfd is not None:
                os.close(pidfd)

    def close(self):
        self.socket.close()


def process_is_live(pid):
    """True when pid exists and is no zombie."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as stat:
            return stat.read().rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_gone(pids):
    """Waits until each of the processes has ended; they need not be our children."""
    for pid in pids:
        deadline = Deadline("the end of process %d" % pid)
        try:
            pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            while process_is_live(pid) and not poll.poll(deadline.left() * 1000):
                pass
        finally:
            os.close(pidfd)


def children(pid):
    """The live child processes of pid."""
    return [child for child, parent, _ in _processes() if parent == pid]


def session_members(session):
    """The live processes of a session (setsid)."""
    return [pid for pid, _, its_session in _processes() if its_session == session]


def _processes():
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry, "rb") as stat:
                fields = stat.read().rsplit(b")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[0] not in (b"Z", b"X"):
            found.append((int(entry), int(fields[1]), int(fields[3])))
    return found


_IN_ANY_CHANGE = (
    0x00000002 | 0x00000004 | 0x00000008 | 0x00000080 | 0x00000100
)  # modify attrib close_write moved_to create


class DirectoryWatch:
    """Waits for files of one directory to reach a state; woken by inotify(7)."""

    def __init__(self, directory):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0 or libc.inotify_add_watch(self.fd, os.fsencode(directory), _IN_ANY_CHANGE) < 0:
            raise OSError(ctypes.get_errno(), "inotify")

    def wait(self, what, probe):
        """Returns the first true value of probe(), asked now and after each change in the directory."""
        deadline = Deadline(what)
        while True:
            value = probe()
            if value:
                return value
            select.select([self.fd], [], [], deadline.left())
            try:
                os.read(self.fd, 65536)
            except BlockingIOError:
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


def wait_file(path, pattern):
    """Waits until the file exists and its text matches the regular expression; returns the match."""
    path = Path(path)
    expression = re.compile(pattern, re.MULTILINE)

    def probe():
        try:
            return expression.search(path.read_text(errors="replace"))
        except FileNotFoundError:
            return None

    with DirectoryWatch(path.parent) as watch:
        return watch.wait("%r in %s" % (pattern, path), probe)


def linger_reset(sock):
    """Closes a TCP socket with RST."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


class ReservedPort:
    """A port of 127.0.0.1 that refuses connections, and that nobody else gets, while this lives."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = self.socket.getsockname()

    def close(self):
        self.socket.close()


_own_ports = itertools.count()


def own_address():
    """An address for a server that cannot be told to take any free port: of an address and ports of this process alone,
    below those that the kernel gives out."""
    pid = os.getpid()
    host = "127.%d.%d.%d" % (64 + (pid >> 16) % 64, (pid >> 8) % 256, pid % 256)
    return host, 10000 + pid % 200 * 100 + next(_own_ports) % 100
