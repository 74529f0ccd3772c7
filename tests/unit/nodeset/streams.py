"""Two ends of a connection in one process, for tests."""

from __future__ import annotations

import socket

from nodeset.stream import Stream


class Pair:
    """Two streams on one machine that both lend memory."""

    def __init__(self):
        self.ends = []
        for sock in socket.socketpair(socket.AF_UNIX):
            sock.setblocking(False)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**22)
            stream = Stream(sock)
            assert stream.map_memory()
            stream.lend_memory()
            self.ends.append(stream)
        self.left, self.right = self.ends

    def cross(self, value, *, back=False):
        """Return `value` as it arrives at the other end."""
        sender, receiver = (self.right, self.left) if back else (self.left, self.right)
        buffers, body = sender.pack({"value": value})
        self.is_mapped = bool(body.placed)
        sender.outbox.send(buffers)
        while True:
            sender.outbox.flush()
            for message in receiver.receive():
                return message["value"]

    @property
    def lent(self):
        return self.left._memory.arena.lent_bytes
