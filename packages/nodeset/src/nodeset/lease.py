"""Read arrays in the memory that the other end of a connection lends.

Knows nothing of frames or sockets. It trusts nothing that the other end says.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import threading
from collections import deque
from functools import lru_cache
from typing import Any, Deque, Dict, List, Tuple, Type

from nodeset.arena import MAX_ARENA_BYTES, MAX_SEGMENTS, block_size
from nodeset.errors import WireError

Place = Tuple[int, int]
"""Number of the segment, and the offset in it."""


@lru_cache(maxsize=256)
def _lease_type(size: int) -> Type[Any]:
    """Return the class of leases of blocks of `size` bytes.

    A lease exports the memory: whatever array, slice or memoryview is made from it holds it. So
    its end is the moment from which on nobody reads the block; an array's end is not, since NumPy
    lets a view hold the exporter directly and drop the arrays between.
    """
    return type("Lease", (ctypes.c_ubyte * size,), {"__del__": _give_back})


def _give_back(lease: Any) -> None:
    # This runs at any moment on any thread, so it takes no lock.
    lease.released.append(lease.place)


class Leases:
    """What one end maps and holds of the other's memory. Any thread may use it."""

    def __init__(self) -> None:
        self.max_bytes = MAX_ARENA_BYTES
        """What is mapped at most. Of it half is held here; beyond that arrays are copied, so that
        the lender has room."""
        self._lock = threading.Lock()
        self._segments: List[mmap.mmap] = []
        self._held: Dict[Place, int] = {}
        self._held_bytes = 0
        self._ended: Deque[Place] = deque()
        self._released: List[Place] = []

    def add_segment(self, number: Any, size: Any, descriptor: int) -> None:
        """Map a segment; raises WireError unless it is one that can't shrink."""
        known = len(self._segments)
        total = sum(len(segment) for segment in self._segments)
        if number != known or known >= MAX_SEGMENTS or type(size) is not int:
            raise WireError(f"a frame announces segment {number!r} of {size!r} bytes after {known}")
        try:
            seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
            found = os.fstat(descriptor).st_size
            if not seals & fcntl.F_SEAL_SHRINK or not 0 < size == found:
                raise ValueError(f"it has {found} bytes and seals {seals:#x}")
            if total + size > self.max_bytes:
                raise ValueError(f"more than {self.max_bytes} bytes are not mapped")
            self._segments.append(mmap.mmap(descriptor, size))
        except (OSError, ValueError) as error:
            raise WireError(f"a segment of {size} bytes cannot be mapped: {error}") from error

    def lend(self, segment: int, offset: int, nbytes: int) -> memoryview:
        """Return a block's first `nbytes`, read-only; raises ValueError if it can't be one."""
        size = block_size(nbytes)
        if segment >= len(self._segments) or offset + size > len(self._segments[segment]):
            raise ValueError("its place is outside the memory that is mapped")
        place = (segment, offset)
        memory = self._segments[segment]
        with self._lock:
            self._note_ended()
            if place in self._held:
                raise ValueError("its place is held already")
            if self._held_bytes + size > self.max_bytes // 2:
                self._released.append(place)
                return memoryview(memory[offset : offset + nbytes])
            self._held[place] = size
            self._held_bytes += size
        lease = _lease_type(size).from_buffer(memory, offset)
        lease.released, lease.place = self._ended, place
        return memoryview(lease).toreadonly()[:nbytes]

    def take_released(self) -> List[Place]:
        """Return the blocks that nobody reads any more, each once."""
        if not self._ended and not self._released:
            return []
        with self._lock:
            self._note_ended()
            released, self._released = self._released, []
        return released

    def _note_ended(self) -> None:
        while self._ended:
            place = self._ended.popleft()
            self._held_bytes -= self._held.pop(place)
            self._released.append(place)
