"""Lend memory that the other end of a connection maps: blocks for arrays on their way.

Knows nothing of frames or sockets: its owner passes segments on and brings back what was released.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from nodeset.errors import WireError

SMALLEST_BYTES = 32 * 2**10
"""Below this an array crosses inline: copying it costs less than lending a block."""
FIRST_SEGMENT_BYTES = 8 * 2**20
MAX_ARENA_BYTES = 128 * 2**20
"""For each worker of a connection, up to eight: each segment is at most as large as all before."""
MAX_SEGMENTS = 8
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
"""A segment keeps its size for good: one that shrank would kill whoever reads it."""

_PAGE = 4096

Announce = Callable[[int, int, int], bool]
"""Passes a segment on: its number, size and descriptor. False if that can't be done now."""


def arena_bytes(workers: int) -> int:
    """Return how much may be lent to so many workers that share a connection."""
    return MAX_ARENA_BYTES * min(max(workers, 1), 8)


def block_size(nbytes: int) -> int:
    """Return the size of the block for `nbytes`: few sizes, of which at most an eighth is lost."""
    grain = max(_PAGE, 1 << max(0, (nbytes - 1).bit_length() - 4))
    return -(-nbytes // grain) * grain


@dataclass(eq=False)
class Block:
    """A stretch of a segment; `pins` counts its readers: the other end, and this one if it does."""

    segment: int
    offset: int
    size: int
    pins: int = 0


@dataclass(frozen=True, eq=False)
class Placed:
    """Where an array was copied to, and that copy."""

    block: Block
    view: np.ndarray[Any, Any]


@dataclass(eq=False)
class _Segment:
    """Memory of one anonymous file; what lies beyond `used` was never lent."""

    memory: mmap.mmap
    size: int
    used: int = 0
    live: int = 0


class Arena:
    """One end's memory. Any thread may use it; nothing here ever waits for room."""

    def __init__(self, announce: Announce) -> None:
        self._announce = announce
        self.max_bytes = MAX_ARENA_BYTES
        self._lock = threading.Lock()
        self._segments: List[_Segment] = []
        self._free: Dict[int, List[Block]] = {}
        self._lent: Dict[Tuple[int, int], Block] = {}
        self._is_closed = False

    @property
    def lent_bytes(self) -> int:
        """Return how much is in use."""
        return sum(block.size for block in self._lent.values())

    def place(self, array: np.ndarray[Any, Any], pins: int) -> Optional[Placed]:
        """Copy an array into a block that `pins` readers hold; None where there is no room."""
        with self._lock:
            block = None if self._is_closed else self._take(block_size(array.nbytes))
            if block is None:
                return None
            block.pins = pins
            self._lent[block.segment, block.offset] = block
            segment = self._segments[block.segment]
            segment.live += 1
        flat: np.ndarray[Any, Any] = np.frombuffer(
            segment.memory, array.dtype, array.size, block.offset
        )
        view = flat.reshape(array.shape)
        view[...] = array
        return Placed(block, view)

    def release(self, segment: Any, offset: Any) -> None:
        """Take back what the other end has read; raises WireError if it was not lent."""
        with self._lock:
            block = self._lent.pop((segment, offset), None)
            if block is None:
                raise WireError(
                    f"a frame releases memory at {offset!r} of segment {segment!r}; "
                    "nothing is lent there"
                )
            self._unpin(block)

    def unpin(self, block: Block) -> None:
        """End this end's own reading of a block."""
        with self._lock:
            self._unpin(block)

    def close(self) -> None:
        """Lend nothing more: the connection has ended, and with it who passes segments on."""
        with self._lock:
            self._announce = _announce_nothing
            self._is_closed = True

    def withdraw(self, block: Block) -> None:
        """Take back a block that was not sent after all."""
        with self._lock:
            del self._lent[block.segment, block.offset]
            block.pins = 1
            self._unpin(block)

    def _unpin(self, block: Block) -> None:
        block.pins -= 1
        if block.pins:
            return
        self._segments[block.segment].live -= 1
        self._free.setdefault(block.size, []).append(block)

    def _take(self, size: int) -> Optional[Block]:
        """Return a free block, the one that was used last: it is still in the caches."""
        free = self._free.get(size)
        if free:
            return free.pop()
        block = self._cut(size)
        if block is None and self._reclaim():
            block = self._cut(size)
        if block is None and self._grow(size):
            block = self._cut(size)
        return block

    def _cut(self, size: int) -> Optional[Block]:
        for number, segment in enumerate(self._segments):
            if segment.size - segment.used >= size:
                segment.used += size
                return Block(number, segment.used - size, size)
        return None

    def _reclaim(self) -> bool:
        """Forget how idle segments were cut; say whether there were any."""
        idle = {n for n, s in enumerate(self._segments) if s.used and not s.live}
        for number in idle:
            self._segments[number].used = 0
        for size, blocks in self._free.items() if idle else ():
            self._free[size] = [block for block in blocks if block.segment not in idle]
        return bool(idle)

    def _grow(self, size: int) -> bool:
        total = sum(segment.size for segment in self._segments)
        wanted = max(block_size(size), total or FIRST_SEGMENT_BYTES)
        wanted = min(wanted, self.max_bytes - total)
        if wanted < size or len(self._segments) >= MAX_SEGMENTS:
            return False
        try:
            descriptor = os.memfd_create("nodeset", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except OSError:
            return False  # no descriptor is left: inline is always possible
        try:
            os.ftruncate(descriptor, wanted)
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)
            memory = mmap.mmap(descriptor, wanted)
            if not self._announce(len(self._segments), wanted, descriptor):
                memory.close()
                return False
        finally:
            os.close(descriptor)
        self._segments.append(_Segment(memory, wanted))
        return True


def _announce_nothing(_number: int, _size: int, _descriptor: int) -> bool:
    return False
