"""Send frames over a non-blocking socket; what it does not take at once waits here.

Knows nothing of messages or of who empties it later.
"""

from __future__ import annotations

import array
import socket
import threading
import time
from collections import deque
from typing import Callable, Deque, List, Sequence

from nodeset.array_wire import Buffer

MAX_PENDING_BYTES = 256 * 2**20
"""For each worker: a connection on which more than this waits is given up if it reads nothing."""
STALL_SECONDS = 30.0
"""How long it may read nothing then."""
_MAX_PIECES = 512  # the kernel takes 1024


class Outbox:
    """The unsent bytes of one connection; any thread may send.

    `frames` counts what was given to `send`; `is_broken` is set when the other end is gone or
    does not read. One that reads, however slowly, may have any amount wait: it is no more than what
    it has asked for. `take_notices` returns what has to go out before the next frame.
    """

    def __init__(self, sock: socket.socket, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.take_notices: Callable[[], bytes] = bytes
        self._socket = sock
        self._clock = clock
        self._moved_at = 0.0
        """When it was last seen that the other end reads, while something waits."""
        self._lock = threading.Lock()
        self._pending: Deque[memoryview] = deque()
        self.pending_bytes = 0
        self.max_pending_bytes = MAX_PENDING_BYTES
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
            notices = self.take_notices()
            if len(buffers) == 1 and not self._pending:
                piece = buffers[0]
                return self._send_one(notices + bytes(piece) if notices else piece)
            pieces = [notices, *buffers] if notices else buffers
            return self._send_parts([memoryview(piece) for piece in pieces])

    def announce(self, frame: bytes, descriptor: int) -> bool:
        """Send a short frame and a descriptor with it, at once or not at all."""
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))
        with self._lock:
            if self._pending or self.is_broken:
                return False
            try:
                count = self._socket.sendmsg([frame], [rights])
            except OSError:
                return False  # full, or broken as the next frame will find
            if count < len(frame):
                self._keep([memoryview(frame)[count:]])
            return True

    def flush(self) -> None:
        """Send what waits, as far as the socket takes it."""
        with self._lock:
            before = self.pending_bytes
            self._pending = deque(self._send_some(list(self._pending)))
            self.pending_bytes = sum(len(piece) for piece in self._pending)
            if self.pending_bytes < before:
                self._moved_at = self._clock()

    def abandon(self) -> None:
        """Drop what waits and all that comes."""
        with self._lock:
            self._break()

    def _send_one(self, piece: Buffer) -> bool:
        """Send one piece, which is what most frames are, by the shortest way."""
        try:
            count = self._socket.send(piece)
        except (BlockingIOError, InterruptedError):
            count = 0
        except OSError:
            self.is_broken = True
            return False
        return count == len(piece) or self._send_parts([memoryview(piece)[count:]])

    def _send_parts(self, pieces: List[memoryview]) -> bool:
        if not self._pending:
            pieces = self._send_some(pieces)
        if self.pending_bytes > self.max_pending_bytes and self._is_stalled():
            self._break()
            return False
        self._keep(pieces)
        return not self._pending and not self.is_broken

    def _is_stalled(self) -> bool:
        return self._clock() - self._moved_at > STALL_SECONDS

    def _keep(self, pieces: Sequence[memoryview]) -> None:
        if pieces and not self._pending:
            self._moved_at = self._clock()
        for piece in pieces:
            self._pending.append(memoryview(bytes(piece)))
            self.pending_bytes += len(piece)

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
