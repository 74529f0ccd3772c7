"""Carry the requests of one or many workers to one copy and its replies back, over one stream.

Knows nothing of what is asked or of how the copy was started.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Protocol

from nodeset.errors import WireError
from nodeset.stream import Stream

SEND_BUFFER_BYTES = 4 * 2**20  # an image fits; the kernel may allow less
CHUNK = 4
"""Replies that are taken, or frames that are packed, before what is packed is sent: more of them
cost fewer system calls, fewer let the copy begin sooner."""

Frame = Sequence[bytes | memoryview]


class Channel(Protocol):
    """One worker's part of a line."""

    def take(self, message: dict[str, Any]) -> None:
        """Take a message that the copy sent to it."""
        ...

    def flush(self) -> None:
        """Send what was queued, by `Line.send`."""
        ...

    def lose(self, fault: WireError | None) -> None:
        """Note that the line has ended, because of a fault of its own if any."""
        ...


class Line:
    """A stream of its own socket; belongs to the event loop it was made in.

    What the channels queue in one iteration of the loop leaves in few writes, and what arrives
    together is taken by one read: for many workers that is most of what a call costs beyond its
    own work.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._loop = asyncio.get_running_loop()
        self._stream = Stream(sock)
        self.accepts_memory = self._stream.map_memory()
        self.is_closed = False
        self._channels: dict[int, Channel] = {}
        self._next_number = 0
        self._greeted = 0
        self._due: dict[Channel, None] = {}
        self._frames: list[Frame] = []
        self._is_reading = self._is_collecting = self._awaits_room = False
        self._loop.add_reader(sock, self._read)

    def join(self, channel: Channel) -> int:
        """Return the number by which the copy shall know a channel from now on."""
        if self.is_closed:
            channel.lose(None)
        number = self._next_number
        self._next_number += 1
        self._channels[number] = channel
        self._stream.make_room(len(self._channels))
        return number

    def leave(self, number: int) -> None:
        """Tell the copy that a channel has ended; with the last one the line ends."""
        if self._channels.pop(number, None) is None:
            return
        if self._channels:
            self.send([self.pack({"id": 0, "op": "leave", "channel": number})])
        else:
            self.abort()

    def lend_memory(self) -> None:
        """Send large arrays through memory: the copy accepts that, for one channel more."""
        self._greeted += 1
        self._stream.lend_memory(self._greeted)

    def pack(self, message: Mapping[str, Any]) -> Frame:
        """Return the frame of a message, to be sent here; raises WireError."""
        return self._stream.pack(message)[0]

    def schedule(self, channel: Channel) -> None:
        """Have a channel flushed once this iteration of the loop, or this read, is over."""
        if not self._due and not self._is_reading:
            self._loop.call_soon(self._flush)
        self._due[channel] = None

    def send(self, frames: Sequence[Frame]) -> None:
        """Send frames now, or with those of other channels that are flushed now."""
        self._frames.extend(frames)
        if not self._is_collecting or len(self._frames) >= CHUNK:
            self._push()

    def end(self) -> None:
        """Take what the copy sent before it ended, then give the line up."""
        while not self.is_closed and self._read():
            pass
        self.abort()

    def abort(self, fault: WireError | None = None) -> None:
        """Give the line up, and with it all its channels."""
        if self.is_closed:
            return
        self.is_closed = True
        self._loop.remove_reader(self._stream.socket)
        self._loop.remove_writer(self._stream.socket)
        self._stream.close()
        self._frames.clear()
        channels = list(self._channels.values())
        self._channels.clear()
        for channel in channels:
            channel.lose(fault)

    def _read(self) -> bool:
        """Take what has arrived; say whether there was something."""
        self._is_reading = True
        try:
            self._take_all()
        except (BlockingIOError, InterruptedError):
            return False
        except WireError as error:
            self.abort(error)
        except (OSError, EOFError):
            self.abort()
        finally:
            self._is_reading = False
            if self._due:
                self._flush()
        return True

    def _take_all(self) -> None:
        for count, message in enumerate(self._stream.receive(), 1):
            channel = self._channels.get(message.get("channel", 0))
            if channel is not None:
                channel.take(message)
            if not count % CHUNK and self._due:
                self._flush()

    def _flush(self) -> None:
        due, self._due = self._due, {}
        self._is_collecting = True
        try:
            for channel in due:
                channel.flush()
        finally:
            self._is_collecting = False
        self._push()

    def _push(self) -> None:
        frames, self._frames = self._frames, []
        if not frames or self.is_closed:
            return
        buffers = frames[0] if len(frames) == 1 else list(chain.from_iterable(frames))
        if not self._stream.outbox.send(buffers):
            self._tend_outbox()

    def _write(self) -> None:
        self._stream.outbox.flush()
        self._tend_outbox()

    def _tend_outbox(self) -> None:
        """Wait for room in the socket as long as something is unsent."""
        outbox = self._stream.outbox
        if outbox.is_broken:
            self._loop.call_soon(self.end)  # what the copy has sent before counts
        elif outbox.pending_bytes and not self._awaits_room:
            self._awaits_room = True
            self._loop.add_writer(self._stream.socket, self._write)
        elif not outbox.pending_bytes and self._awaits_room:
            self._awaits_room = False
            self._loop.remove_writer(self._stream.socket)


async def open_line(url: str) -> Line:
    """Connect to a copy at `unix:PATH` or `tcp:HOST:PORT`; raises OSError if nothing listens."""
    scheme, _, address = url.partition(":")
    return Line(await (_connect_unix(address) if scheme == "unix" else _connect_tcp(address)))


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
