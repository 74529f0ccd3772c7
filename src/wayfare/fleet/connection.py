"""Carry one worker's requests to one copy and its replies back, over a Unix or TCP stream.

Knows nothing of what is asked or of how the copy was started.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from nodeset.errors import WireError
from nodeset.stream import Stream
from wayfare.fleet.exchange import Exchange, Explain, Frame

PROTOCOL = 1
HELLO_SECONDS = 120.0
SEND_BUFFER_BYTES = 4 * 2**20  # an image fits; the kernel may allow less


class Connection(Exchange):
    """A `Link` over a stream of its own socket; belongs to the event loop it was made in.

    A single request leaves at once; what leaves together leaves in one write.
    """

    sends_at_once = True

    def __init__(self, sock: socket.socket, copy: str, explain_loss: Explain) -> None:
        super().__init__(copy, explain_loss)
        self._stream = Stream(sock)
        self._accepts_memory = self._stream.map_memory()
        self._is_flushing = False
        self._loop.add_reader(sock, self._read)

    async def greet(self, worker: int, token: str = "") -> None:
        """Say hello, with the token if there is one; learn whether arrays may go through memory."""
        shown = {"token": token} if token else {}
        hello = await self.request(
            "hello",
            protocol=PROTOCOL,
            worker=worker,
            mapped=self._accepts_memory,
            budget_seconds=HELLO_SECONDS,
            **shown,
        )
        if hello.get("mapped") is True:
            self._stream.lend_memory()

    async def close(self) -> None:
        """Give the connection up; requests under way fail."""
        self._abort()

    def end(self) -> None:
        """Take what the copy sent before it ended, then give the connection up."""
        while not self.is_lost and self._read():
            pass
        self._abort()

    def _pack(self, message: Mapping[str, Any]) -> Frame:
        return self._stream.pack(message)[0]

    def _deliver(self, frames: Sequence[Frame]) -> None:
        buffers = frames[0] if len(frames) == 1 else list(chain.from_iterable(frames))
        if not self._stream.outbox.send(buffers):
            self._tend_outbox()

    def _read(self) -> bool:
        """Take what has arrived; say whether there was something."""
        try:
            for message in self._stream.receive():
                self._receive(message)
        except (BlockingIOError, InterruptedError):
            return False
        except WireError as error:
            self._abort(error)
        except (OSError, EOFError):
            self._abort()
        return True

    def _write(self) -> None:
        self._stream.outbox.flush()
        self._tend_outbox()

    def _tend_outbox(self) -> None:
        """Wait for room in the socket as long as something is unsent."""
        outbox = self._stream.outbox
        if outbox.is_broken:
            self._abort()
        elif outbox.pending_bytes and not self._is_flushing:
            self._is_flushing = True
            self._loop.add_writer(self._stream.socket, self._write)
        elif not outbox.pending_bytes and self._is_flushing:
            self._is_flushing = False
            self._loop.remove_writer(self._stream.socket)

    def _abort(self, fault: WireError | None = None) -> None:
        if self.is_lost:
            return
        self._loop.remove_reader(self._stream.socket)
        self._loop.remove_writer(self._stream.socket)
        self._stream.close()
        self._lose(fault)


async def open_connection(
    url: str, *, copy: str, worker: int, explain_loss: Explain, token: str = ""
) -> Connection:
    """Connect to a copy, by its tag, at `unix:PATH` or `tcp:HOST:PORT` and greet it.

    `token` is what a copy asks for over TCP. Raises OSError when nothing listens there, WireError
    without the right token, CopyFailedError when the copy ends meanwhile.
    """
    scheme, _, address = url.partition(":")
    sock = await (_connect_unix(address) if scheme == "unix" else _connect_tcp(address))
    connection = Connection(sock, copy, explain_loss)
    try:
        await connection.greet(worker, token)
    except BaseException:
        await connection.close()
        raise
    return connection


async def _connect_unix(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    await _connect(sock, path)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    return sock


async def _connect_tcp(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    family, kind, protocol, _, place = found[0]
    sock = socket.socket(family, kind, protocol)
    await _connect(sock, place)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


async def _connect(sock: socket.socket, place: Any) -> None:
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, place)
    except BaseException:
        sock.close()
        raise
