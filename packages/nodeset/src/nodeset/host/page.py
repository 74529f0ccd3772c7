"""The page in which a copy marks the author's calls that run, and that its supervisor reads.

Knows nothing of what is called, of budgets' lengths or of who reads. A supervisor that maps the
same file sees a call even while it holds the interpreter lock, and after the copy has ended.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Tuple

PLACES = 65
"""Calls that can be marked at a time: the author thread's, and those of async tools."""
BUDGETS = ("initialize", "first_call", "call")
"""Names of the budgets in the order of their codes."""

_MAGIC = 0x0001_4547_4150_444E
_MAGIC_AT = struct.Struct("=Q")
_HEAD = struct.Struct("=QQd")  # magic, calls that ended, how many seconds they took
_ENDED = struct.Struct("=Qdd")  # the head's second half, and the first place's start
_ENDED_BESIDE = struct.Struct("=Qd")  # the head's second half
_PLACE = struct.Struct("=dqqhhi32s")  # start, call id, worker, budget, unused, rows, name
_START = struct.Struct("=d")
_NAME_BYTES = 32
_FIRST_CALL, _LATER_CALL = 1, 2
_FIRST = _HEAD.size
PAGE_BYTES = -(-(_FIRST + PLACES * _PLACE.size) // mmap.PAGESIZE) * mmap.PAGESIZE


@dataclass(frozen=True)
class MarkedCall:
    """A call of the author's code that runs; `started` is in seconds of the machine's monotonic
    clock, `name` the tool or the operation, and `rows` how many calls the handler sees at once.
    """

    name: str
    budget: str
    started: float
    call_id: int = 0
    worker: int = -1
    rows: int = 1


@dataclass(frozen=True)
class PageReading:
    """What the page said: the calls that run, how many have ended and the seconds that these took,
    added up.
    """

    running: Tuple[MarkedCall, ...] = ()
    ended: int = 0
    ended_seconds: float = 0.0


class CallPage:
    """The copy's side. The thread that runs author code marks one call at a time by `begin` and
    `end`; those that run beside it have places of their own. Marking costs about a microsecond.
    """

    def __init__(self, memory: Optional[mmap.mmap] = None) -> None:
        self._memory = mmap.mmap(-1, PAGE_BYTES) if memory is None else memory
        self._ended = 0
        self._seconds = 0.0
        self._begun = [0.0] * PLACES
        self._free = list(range(1, PLACES))
        self._tools: Dict[str, Tuple[int, bytes]] = {}
        """Each tool's budget and name as they are marked: the first call has one of its own."""
        _HEAD.pack_into(self._memory, 0, _MAGIC, 0, 0.0)

    @classmethod
    def open(cls, path: str) -> CallPage:
        """Map the page that a supervisor made. Raises OSError."""
        return cls(_map(Path(path), os.O_RDWR))

    def begin(self, name: str, call_id: int = 0, worker: int = -1, *, budget: int = 1) -> None:
        """Mark that the author thread calls author code now; `budget` indexes BUDGETS."""
        self._begun[0] = now = time.monotonic()
        _PLACE.pack_into(self._memory, _FIRST, now, call_id, worker, budget, 0, 1, _encode(name))

    def begin_tool(self, name: str, call_id: int, worker: int, *, rows: int = 1) -> None:
        """Mark that the author thread calls a tool now."""
        budget, text = self._tools.get(name) or (_FIRST_CALL, _encode(name))
        self._begun[0] = now = time.monotonic()
        _PLACE.pack_into(self._memory, _FIRST, now, call_id, worker, budget, 0, rows, text)

    def end(self) -> None:
        """Mark that the author thread is back."""
        self._ended += 1
        self._seconds += time.monotonic() - self._begun[0]
        _ENDED.pack_into(self._memory, _MAGIC_AT.size, self._ended, self._seconds, 0.0)

    def end_tool(self, name: str) -> None:
        """Mark that the author thread is back from a tool, whose next call is not the first."""
        if name not in self._tools:
            self._tools[name] = _LATER_CALL, _encode(name)
        self.end()

    def begin_beside(self, name: str, call_id: int, worker: int) -> int:
        """Mark that a call runs beside the author thread; return the place to `end_beside`."""
        if not self._free:
            return 0
        place = self._free.pop()
        at = _FIRST + place * _PLACE.size
        budget, text = self._tools.get(name) or (_FIRST_CALL, _encode(name))
        self._begun[place] = now = time.monotonic()
        _PLACE.pack_into(self._memory, at, now, call_id, worker, budget, 0, 1, text)
        return place

    def end_beside(self, place: int, name: str) -> None:
        """Mark that the call at the place has ended."""
        self._tools[name] = _LATER_CALL, _encode(name)
        if place:
            self._seconds += time.monotonic() - self._begun[place]
            _START.pack_into(self._memory, _FIRST + place * _PLACE.size, 0.0)
            self._free.append(place)
        self._ended += 1
        _ENDED_BESIDE.pack_into(self._memory, _MAGIC_AT.size, self._ended, self._seconds)


class PageReader:
    """The supervisor's side: makes the page's file, and reads what the copy marked there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        descriptor = os.open(str(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, PAGE_BYTES)  # a full disk is told now, not by SIGBUS
        finally:
            os.close(descriptor)
        self._memory = _map(path, os.O_RDONLY)

    def read(self) -> PageReading:
        """Return what the page says; nothing of a copy that has not opened it yet."""
        magic, ended, seconds = _HEAD.unpack_from(self._memory, 0)
        if magic != _MAGIC:
            return PageReading()
        running: List[MarkedCall] = []
        for place in range(PLACES):
            at = _FIRST + place * _PLACE.size
            if _START.unpack_from(self._memory, at)[0]:
                running += self._read_place(at)
        return PageReading(tuple(running), ended, seconds)

    def close(self) -> None:
        """Remove the file; what it said last can still be read."""
        self.path.unlink(missing_ok=True)

    def _read_place(self, at: int) -> List[MarkedCall]:
        started, call_id, worker, budget, _, rows, name = _PLACE.unpack_from(self._memory, at)
        if not started or not 0 <= budget < len(BUDGETS):
            return []  # it ended just now, or the author wrote there
        text = name.rstrip(b"\0").decode("utf-8", "replace")
        return [MarkedCall(text, BUDGETS[budget], started, call_id, worker, rows)]


def _encode(name: str) -> bytes:
    return name.encode("utf-8")[:_NAME_BYTES]


def _map(path: Path, flags: int) -> mmap.mmap:
    descriptor = os.open(str(path), flags | os.O_CLOEXEC)
    try:
        access = mmap.ACCESS_WRITE if flags & os.O_RDWR else mmap.ACCESS_READ
        return mmap.mmap(descriptor, PAGE_BYTES, access=access)
    finally:
        os.close(descriptor)
