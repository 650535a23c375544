"""Backends in Python: by hand (the test itself is the server) and threaded with a handler."""

import os
import queue
import socket
import threading

from .body import blocks, digest
from .wait import DEADLINE_S, DeadlineError, ReservedPort
from .wire import Wire


class Listener:
    """A listening socket on 127.0.0.1 (or host), or on a unix path; spec is what halter's backend= takes."""

    def __init__(self, path=None, host="127.0.0.1", backlog=1024):
        if path is not None:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.bind(str(path))
            os.chmod(path, 0o777)
            self.spec = self.address = str(path)
        else:
            self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind((host, 0))
            self.address = self.socket.getsockname()[:2]
            self.spec = "[%s]:%d" % self.address
        self.socket.listen(backlog)

    def close(self):
        self.socket.close()


class ManualBackend(Listener):
    """Accepts when the test says so: the test plays the server."""

    def accept(self):
        self.socket.settimeout(DEADLINE_S)
        try:
            return Wire(self.socket.accept()[0])
        except socket.timeout:
            raise DeadlineError("halter made no connection to the backend") from None

    def nothing_waits(self):
        """True when no connection waits to be accepted at this moment."""
        self.socket.settimeout(0)
        try:
            self.socket.accept()[0].close()
            return False
        except BlockingIOError:
            return True


class StuckBackend(Listener):
    """Listens, but its queue is full: connections to it are never made, never refused."""

    def __init__(self):
        super().__init__(backlog=0)
        self.filler = socket.create_connection(self.address, DEADLINE_S)  # SYNs beyond this one are dropped

    def close(self):
        self.filler.close()
        super().close()


class DeadBackend:
    """An address that refuses connections as long as this lives."""

    def __init__(self):
        self.port = ReservedPort()
        self.address = self.port.address
        self.spec = "[%s]:%d" % self.address

    def close(self):
        self.port.close()


class ThreadedBackend(Listener):
    """Calls handler(wire) in a thread for each connection; what it raises fails the test, but for resets."""

    def __init__(self, handler, path=None, host="127.0.0.1"):
        super().__init__(path, host)
        self.handler = handler
        self.faults = queue.Queue()
        self.accepted = 0
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.socket.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._serve, args=(Wire(sock),), daemon=True).start()

    def _serve(self, wire):
        try:
            with wire:
                self.handler(wire)
        except (ConnectionError, EOFError):
            pass
        except Exception as fault:  # shown by close()
            self.faults.put(fault)

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        super().close()
        if not self.faults.empty():
            raise self.faults.get()


def echo(wire):
    """Sends back what comes, then ends."""
    for part in iter(wire.recv_some, b""):
        wire.send(part)
    wire.shutdown_write()


def commands(wire):
    """A server that is told what to do by the first line.

    SOURCE n    sends n bytes of the known body, then ends
    SINK n      takes n bytes, answers with their SHA-256, then ends
    SINK        takes all up to the client's end, answers with the SHA-256, then ends
    BOTH n      sends n bytes while it takes all up to the client's end; then the SHA-256 on a line of its own
    ECHO        as it says
    """
    verb, _, argument = wire.recv_line().decode().strip().partition(" ")
    if verb == "SOURCE":
        for block in blocks(int(argument)):
            wire.send(block)
        wire.shutdown_write()
        wire.wait_ended()
    elif verb == "SINK":
        wire.send(digest(_take(wire, int(argument) if argument else None)).encode())
        wire.shutdown_write()
        wire.wait_ended()
    elif verb == "BOTH":
        source = threading.Thread(target=lambda: [wire.send(b) for b in blocks(int(argument))], daemon=True)
        source.start()
        hash_of_request = digest(iter(wire.recv_some, b""))
        source.join(DEADLINE_S)
        wire.send(hash_of_request.encode())
        wire.shutdown_write()
    elif verb == "ECHO":
        echo(wire)
    else:
        raise AssertionError("backend was told %r" % verb)


def _take(wire, count):
    while count is None or count > 0:
        part = wire.recv_some(1 << 20 if count is None else min(count, 1 << 20))
        if not part:
            return
        yield part
        if count is not None:
            count -= len(part)


def http(wire):
    """HTTP/1.1 with keep-alive: GET /bytes/N gives a body of N bytes, PUT or POST answers with the body's SHA-256."""
    while True:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            more = wire.recv_some(1) if head else wire.recv_some(1)
            if not more:
                return
            head += more
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        fields = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)}
        if fields.get("expect", "").lower() == "100-continue":
            wire.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        if method == "GET":
            length = int(target.rsplit("/", 1)[1])
            wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length)
            for block in blocks(length):
                wire.send(block)
        else:
            answer = digest(_take(wire, int(fields.get("content-length", "0")))).encode()
            wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))
        if fields.get("connection", "").lower() == "close":
            wire.shutdown_write()
            return
