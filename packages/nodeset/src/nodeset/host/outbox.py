"""Send frames over a non-blocking socket; what it does not take at once waits here.

Knows nothing of messages or of who empties it later.
"""

from __future__ import annotations

import socket
import threading
from collections import deque
from typing import Deque, List, Sequence

from nodeset.array_wire import Buffer

MAX_PENDING_BYTES = 256 * 2**20
"""A connection that lets more than this wait, beyond one frame, is given up."""
_MAX_PIECES = 512  # the kernel takes 1024


class Outbox:
    """The unsent bytes of one connection; any thread may send.

    `frames` counts what was given to `send`; `is_broken` is set when the other end is gone or
    does not read.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._lock = threading.Lock()
        self._pending: Deque[memoryview] = deque()
        self.pending_bytes = 0
        self.frames = 0
        self.is_broken = False

    def send(self, buffers: Sequence[Buffer]) -> bool:
        """Send, or keep a copy of what the socket does not take.

        Return False where the thread that owns the socket has to do the rest: flush, or close.
        """
        with self._lock:
            self.frames += 1
            if self.is_broken:
                return False
            pieces = [memoryview(buffer) for buffer in buffers]
            if not self._pending:
                pieces = self._send_some(pieces)
            if self.pending_bytes > MAX_PENDING_BYTES:
                self._break()
                return False
            for piece in pieces:
                self._pending.append(memoryview(bytes(piece)))
                self.pending_bytes += len(piece)
            return not self._pending and not self.is_broken

    def flush(self) -> None:
        """Send what waits, as far as the socket takes it."""
        with self._lock:
            self._pending = deque(self._send_some(list(self._pending)))
            self.pending_bytes = sum(len(piece) for piece in self._pending)

    def abandon(self) -> None:
        """Drop what waits and all that comes."""
        with self._lock:
            self._break()

    def _break(self) -> None:
        self.is_broken = True
        self._pending.clear()
        self.pending_bytes = 0

    def _send_some(self, pieces: List[memoryview]) -> List[memoryview]:
        """Send until the socket is full; return the rest."""
        while pieces:
            try:
                count = self._socket.sendmsg(pieces[:_MAX_PIECES])
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                self.is_broken = True
                return []
            pieces = _skip(pieces, count)
        return pieces


def _skip(pieces: List[memoryview], count: int) -> List[memoryview]:
    for index, piece in enumerate(pieces):
        if count < len(piece):
            return [piece[count:], *pieces[index + 1 :]]
        count -= len(piece)
    return []
