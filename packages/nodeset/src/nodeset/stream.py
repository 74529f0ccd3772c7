"""One end of a connection: frames out and in, and the memory that both ends map.

Knows nothing of what the messages mean, or of when the socket is ready.
"""

from __future__ import annotations

import array
import socket
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from nodeset import wire
from nodeset.arena import arena_bytes
from nodeset.array_wire import Body, Buffer
from nodeset.memory import MappedMemory
from nodeset.outbox import MAX_PENDING_BYTES, Outbox

_ITEM_BYTES = array.array("i").itemsize
_RIGHTS_BYTES = socket.CMSG_SPACE(4 * _ITEM_BYTES)


class Stream:
    """A non-blocking socket. Any thread may send, one at a time may receive."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self.outbox = Outbox(sock)
        self.decoder = wire.Decoder()
        self._memory: Optional[MappedMemory] = None

    def map_memory(self) -> bool:
        """Accept arrays in memory of the other end; False unless it is on this machine."""
        if self.socket.family != socket.AF_UNIX:
            return False
        self._memory = self.decoder.memory = MappedMemory(self.outbox.announce)
        self.outbox.take_notices = self._memory.take_notices
        return True

    def make_room(self, workers: int) -> None:
        """Let so many workers' frames and arrays be under way, at least."""
        outbox = self.outbox
        outbox.max_pending_bytes = max(outbox.max_pending_bytes, MAX_PENDING_BYTES * workers)
        if self._memory is not None:
            leases = self._memory.leases
            leases.max_bytes = max(leases.max_bytes, arena_bytes(workers))

    def lend_memory(self, workers: int = 1) -> None:
        """Send large arrays through memory: the other end accepts that, for so many workers."""
        if self._memory is not None:
            arena = self._memory.arena
            arena.max_bytes = max(arena.max_bytes, arena_bytes(workers))
            self._memory.is_lending = True

    def pack(
        self, message: Mapping[str, Any], *, is_kept: bool = False
    ) -> Tuple[List[Buffer], Body]:
        """Return the buffers of a message, to be sent on this stream only; see `wire.pack`."""
        return wire.pack(message, self._memory, is_kept=is_kept)

    def receive(self) -> Iterator[Dict[str, Any]]:
        """Yield the messages that what arrived ends; iterate to the end.

        Raises BlockingIOError if nothing arrived, EOFError if nothing will, OSError and WireError.
        """
        if self._memory is None:
            count = self.socket.recv_into(self.decoder.get_buffer())
        else:
            count = self._receive_rights(self._memory)
        if not count:
            raise EOFError
        return self.decoder.receive(count)

    def close(self) -> None:
        """Close the socket and let the memory go; arrays that arrived stay valid."""
        self.outbox.abandon()
        self.socket.close()
        if self._memory is not None:
            self._memory.close()
        self._memory = self.decoder.memory = None
        self.outbox.take_notices = bytes

    def _receive_rights(self, memory: MappedMemory) -> int:
        count, ancillary, _, _ = self.socket.recvmsg_into(
            [self.decoder.get_buffer()], _RIGHTS_BYTES, socket.MSG_CMSG_CLOEXEC
        )
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors = array.array("i")
                descriptors.frombytes(data[: len(data) - len(data) % _ITEM_BYTES])
                memory.add_descriptors(descriptors)
        return count
