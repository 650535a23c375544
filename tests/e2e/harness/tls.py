"""TLS clients in Python that know each byte they send, and how exactly the server ended."""

import ssl

from .wire import Wire, connect


_IGNORE_UNEXPECTED_EOF = 1 << 7  # SSL_OP_IGNORE_UNEXPECTED_EOF


class TruncatedError(AssertionError):
    """The server's FIN came without close_notify: an attacker could have cut the stream."""


def client_context(ca=None, low=None, high=None, ciphers=None, alpn=None):
    """A verifying client context; without a CA it takes any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.options &= ~_IGNORE_UNEXPECTED_EOF  # Python 3.9 sets it: a cut stream must be told from an ended one
    if ca is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_verify_locations(str(ca))
    if low:
        context.minimum_version = low
    if high:
        context.maximum_version = high
    if ciphers:
        context.set_ciphers(ciphers)
    if alpn:
        context.set_alpn_protocols(alpn)
    return context


def tls12(**more):
    return client_context(low=ssl.TLSVersion.TLSv1_2, high=ssl.TLSVersion.TLSv1_2, **more)


def tls13(**more):
    return client_context(low=ssl.TLSVersion.TLSv1_3, high=ssl.TLSVersion.TLSv1_3, **more)


class TlsClient(Wire):
    """A TLS connection over memory BIOs: the plaintext side has Wire's operations.

    raw is the Wire below. send() may cut ciphertext into chunks; the client's end is close_notify() (TLS),
    shutdown_write() (FIN after close_notify), reset() (RST), or close().
    """

    def __init__(
        self, address, context=None, name=None, session=None, handshake=True, source=None, receive_buffer=None
    ):
        self.raw = address if isinstance(address, Wire) else connect(address, source, receive_buffer)
        super().__init__(self.raw.socket)
        self.incoming = ssl.MemoryBIO()
        self.outgoing = ssl.MemoryBIO()
        self.chunk = None
        self.early = b""  # plaintext read before close_notify was sent
        self.object = (context or client_context()).wrap_bio(
            self.incoming, self.outgoing, server_hostname=name, session=session
        )
        if handshake:
            try:
                self.handshake()
            except BaseException:
                self.raw.close()
                raise

    # handshake

    def handshake(self, chunk=None):
        """Completes the handshake, sending chunk bytes at a time."""
        self.chunk = chunk
        self._pump(self.object.do_handshake)
        self.chunk = None
        return self

    def _flush(self):
        data = self.outgoing.read()
        if data:
            self.raw.send(data, self.chunk)

    def _pump(self, operation, *arguments):
        while True:
            try:
                result = operation(*arguments)
                self._flush()
                return result
            except ssl.SSLWantReadError:
                self._flush()
                data = self.raw.recv_some(1 << 18)
                if data:
                    self.incoming.write(data)
                else:
                    self.incoming.write_eof()
            except ssl.SSLError:
                try:
                    self._flush()
                except OSError:
                    pass
                raise

    # plaintext

    def send(self, data, chunk=None):
        self.chunk = chunk
        for start in range(0, len(data), 1 << 18):
            self._pump(self.object.write, data[start : start + (1 << 18)])
        self.chunk = None
        return self

    def recv_some(self, limit=1 << 18):
        """At least one byte, or b"" after the server's close_notify. A FIN without it raises TruncatedError."""
        if self.early:
            part, self.early = self.early[:limit], self.early[limit:]
            return part
        try:
            return self._pump(self.object.read, limit)
        except ssl.SSLZeroReturnError:
            return b""
        except ssl.SSLError as fault:
            if isinstance(fault, ssl.SSLEOFError) or fault.reason == "UNEXPECTED_EOF_WHILE_READING":
                raise TruncatedError("FIN without close_notify") from None
            raise

    def wait_ended(self):
        """Waits for the server's end: "close_notify", "truncated", "reset" or "alert"."""
        try:
            while self.recv_some():
                pass
            return "close_notify"
        except TruncatedError:
            return "truncated"
        except (ConnectionResetError, BrokenPipeError):
            return "reset"
        except ssl.SSLError:
            return "alert"

    def receive_ready(self):
        """Feeds ciphertext that has arrived into the BIO, so that later calls find it there."""
        data = self.raw.recv_some(1 << 18)
        self.incoming.write(data) if data else self.incoming.write_eof()

    # ends

    def close_notify(self):
        """Sends close_notify and goes on reading."""
        try:
            while True:  # SSL_shutdown() would choke on records that have arrived already
                part = self.object.read(1 << 18)
                if not part:
                    break
                self.early += part
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass
        try:
            self.object.unwrap()
        except ssl.SSLWantReadError:
            pass
        self._flush()
        return self

    def shutdown_write(self):
        self.close_notify()
        self.raw.shutdown_write()
        return self

    # facts

    @property
    def version(self):
        return self.object.version()

    @property
    def cipher(self):
        return self.object.cipher()[0]

    @property
    def alpn(self):
        return self.object.selected_alpn_protocol()

    @property
    def peer_der(self):
        return self.object.getpeercert(binary_form=True)

    @property
    def resumed(self):
        return self.object.session_reused

    @property
    def session(self):
        return self.object.session
