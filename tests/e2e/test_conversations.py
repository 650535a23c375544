"""Conversations at random: both sides write, read, pause and end when they like; every byte must arrive, in order.

The seed decides everything, so a failure can be had again. One thread plays both sides of many connections at once;
nothing waits for time, a step is taken when a socket is ready for it.
"""

import random
import select
import ssl

import pytest

from harness.body import body, digest
from harness.tls import TlsClient, tls12, tls13
from harness.wait import DEADLINE_S, DeadlineError

SIZES = [0, 1, 100, 16384, 16385, 70000, 300000]
STEPS = [1, 7, 500, 16384, 65536, 300000]


class Side:
    """What one side has still to write, and what it has read."""

    def __init__(self, rng):
        self.data = body(rng.choice(SIZES))
        self.step = rng.choice(STEPS)
        self.appetite = rng.choice(STEPS)
        self.eagerness = rng.choice([0.1, 0.5, 1.0])
        self.ends_early = rng.random() < 0.5  # ends as soon as all is written; else only once the other has ended
        self.written = 0
        self.pending = b""  # ciphertext, or plaintext of the backend, that the socket has not taken
        self.ended = False
        self.received = []
        self.saw_end = False

    def has_work(self):
        return bool(self.pending) or self.written < len(self.data) or not self.ended

    def may_end(self):
        return self.written == len(self.data) and (self.ends_early or self.saw_end)


class Conversation:
    def __init__(self, address, backend, rng):
        self.rng = rng
        self.client = TlsClient(address, rng.choice([tls12, tls13])(), receive_buffer=rng.choice([None, 4096]))
        self.served = backend.accept()
        self.request = Side(rng)  # written by the client
        self.reply = Side(rng)  # written by the backend
        for side, other in ((self.request, self.reply), (self.reply, self.request)):
            side.step = max(side.step, len(side.data) // 200)  # a long body in tiny steps would take minutes
            side.appetite = max(side.appetite, len(other.data) // 200)
        if not self.request.ends_early and not self.reply.ends_early:
            self.request.ends_early = True
        for wire in (self.client, self.served):
            wire.socket.setblocking(False)

    def over(self):
        return not (self.request.has_work() or self.reply.has_work()) and self.request.saw_end and self.reply.saw_end

    def sockets(self):
        """Where something may be done: to be read from, to be written to."""
        reads, writes = [], []
        if not self.request.saw_end:
            reads.append(self.client.socket)
        if not self.reply.saw_end:
            reads.append(self.served.socket)
        if self.request.pending or self.request.written < len(self.request.data) or self._can_end(self.request):
            writes.append(self.client.socket)
        if self.reply.pending or self.reply.written < len(self.reply.data) or self._can_end(self.reply):
            writes.append(self.served.socket)
        return reads, writes

    @staticmethod
    def _can_end(side):
        return not side.ended and side.may_end()

    def step(self, reads, writes):
        actions = []
        if self.client.socket in writes:
            actions.append((self.request, self.client_write))
        if self.served.socket in writes:
            actions.append((self.reply, self.backend_write))
        if self.client.socket in reads:
            actions.append((self.request, self.client_read))
        if self.served.socket in reads:
            actions.append((self.reply, self.backend_read))
        self.rng.shuffle(actions)
        for side, action in actions:
            if self.rng.random() < side.eagerness:
                action(side)

    def client_write(self, side):
        if not side.pending:
            if side.written < len(side.data):
                part = side.data[side.written : side.written + min(side.step, 16384)]
                self.client.object.write(part)
                side.written += len(part)
            elif self._can_end(side):
                self._client_end(side)
            side.pending = self.client.outgoing.read()
        side.pending = side.pending[self._send(self.client.socket, side.pending) :]

    def _client_end(self, side):
        self._decrypt(side)
        try:
            self.client.object.unwrap()
        except ssl.SSLWantReadError:
            pass
        side.ended = True

    def _decrypt(self, side):
        try:
            while True:
                part = self.client.object.read(1 << 18)
                if not part:
                    side.saw_end = True
                    return
                side.received.append(part)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            side.saw_end = True

    def client_read(self, side):
        try:
            data = self.client.socket.recv(side.appetite)
        except BlockingIOError:
            return
        if data:
            self.client.incoming.write(data)
        else:
            self.client.incoming.write_eof()
        self._decrypt(side)

    def backend_write(self, side):
        if not side.pending and side.written < len(side.data):
            side.pending = side.data[side.written : side.written + side.step]
            side.written += len(side.pending)
        side.pending = side.pending[self._send(self.served.socket, side.pending) :]
        if not side.pending and self._can_end(side):
            self.served.shutdown_write()
            side.ended = True

    def backend_read(self, side):
        try:
            data = self.served.socket.recv(side.appetite)
        except BlockingIOError:
            return
        if data:
            side.received.append(data)
        else:
            side.saw_end = True

    @staticmethod
    def _send(sock, data):
        try:
            return sock.send(data) if data else 0
        except BlockingIOError:
            return 0

    def assert_complete(self):
        # What the client received stands in its own side, and so for the backend.
        assert digest(self.request.received) == digest(self.reply.data), "reply"
        assert digest(self.reply.received) == digest(self.request.data), "request"

    def close(self):
        self.client.close()
        self.served.close()


@pytest.mark.parametrize("seed", range(12))
def test_random_conversations(halter, backend, seed):
    rng = random.Random(seed)
    instance = halter(backend=backend, lines=rng.choice(["", "recv-bufsize = 4096\n", "send-bufsize = 4096\n"]))
    conversations = [Conversation(instance.address, backend, random.Random(rng.random())) for _ in range(25)]
    try:
        talking = list(conversations)
        while talking:
            wanted = [(conversation, *conversation.sockets()) for conversation in talking]
            reads = [sock for _, some, _ in wanted for sock in some]
            writes = [sock for _, _, some in wanted for sock in some]
            readable, writable, _ = select.select(reads, writes, [], DEADLINE_S)
            if not readable and not writable:
                raise DeadlineError("%d conversations stand still" % len(talking))
            readable, writable = set(readable), set(writable)
            for conversation, some, others in wanted:
                conversation.step([s for s in some if s in readable], [s for s in others if s in writable])
            for conversation in talking:
                if conversation.over():
                    conversation.assert_complete()
            talking = [conversation for conversation in talking if not conversation.over()]
    finally:
        for conversation in conversations:
            conversation.close()
    instance.stop()
    totals = instance.totals()
    assert totals["request_bytes"] == sum(len(c.request.data) for c in conversations)
    assert totals["reply_bytes"] == sum(len(c.reply.data) for c in conversations)
