"""A socket whose every operation has a deadline and says exactly how the peer ended."""

import errno
import socket

from .wait import DEADLINE_S, DeadlineError, linger_reset


class Wire:
    """One connected stream socket, TCP or unix."""

    def __init__(self, sock):
        self.socket = sock
        sock.settimeout(DEADLINE_S)
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data, chunk=None):
        step = chunk or len(data) or 1
        try:
            for start in range(0, len(data), step):
                self.socket.sendall(data[start : start + step])
        except socket.timeout:
            raise DeadlineError("peer did not take %d bytes" % len(data)) from None
        return self

    def recv_some(self, limit=65536):
        """At least one byte, or b"" at the peer's FIN. A reset raises ConnectionResetError."""
        try:
            return self.socket.recv(limit)
        except socket.timeout:
            raise DeadlineError("nothing came") from None

    def recv_exact(self, count):
        parts = []
        while count > 0:
            part = self.recv_some(min(count, 1 << 20))
            if not part:
                raise EOFError("peer ended %d bytes early; had %r" % (count, b"".join(parts)[-80:]))
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def recv_line(self):
        line = b""
        while not line.endswith(b"\n"):
            line += self.recv_exact(1)
        return line

    def recv_to_end(self):
        """All bytes up to the peer's FIN."""
        return b"".join(iter(self.recv_some, b""))

    def wait_ended(self):
        """Waits until the peer ended the connection in whatever way; returns "eof" or "reset"."""
        try:
            while self.recv_some():
                pass
            return "eof"
        except (ConnectionResetError, BrokenPipeError):
            return "reset"

    def shutdown_write(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError as fault:
            if fault.errno != errno.ENOTCONN:
                raise
            raise BrokenPipeError(errno.EPIPE, "the peer has reset the connection") from None
        return self

    def reset(self):
        linger_reset(self.socket)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def connect(address, source=None, receive_buffer=None):
    """A TCP connection to (host, port), or a unix one to a path."""
    if isinstance(address, str):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    else:
        sock = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, socket.SOCK_STREAM)
    if receive_buffer:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    if source:
        sock.bind(source)
    sock.settimeout(DEADLINE_S)
    sock.connect(address)
    return Wire(sock)
