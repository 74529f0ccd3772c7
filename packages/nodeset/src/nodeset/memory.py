"""The memory that both ends of a connection map: what this end lends, and what it reads.

Knows nothing of sockets or messages; notices about memory are frames of their own.
"""

from __future__ import annotations

import os
from collections import deque
from typing import Any, Callable, Deque, Iterable

import msgpack

from nodeset.arena import Arena
from nodeset.errors import WireError
from nodeset.frame import NOTICE, pack_prefix
from nodeset.lease import Leases

_MAX_DESCRIPTORS = 4
_SEGMENT, _RELEASE = 0, 1


class MappedMemory:
    """One end's part. `announce` sends a notice that carries a descriptor, or returns False."""

    def __init__(self, announce: Callable[[bytes, int], bool]) -> None:
        self._announce = announce
        self._descriptors: Deque[int] = deque()
        self.leases = Leases()
        self.arena = Arena(self._announce_segment)
        self.is_lending = False
        """Whether arrays may go through this end's memory: the other end has said that it maps."""

    def take_notices(self) -> bytes:
        """Return the frames that have to go out before the next one."""
        released = self.leases.take_released()
        return _pack_notice([_RELEASE, released]) if released else b""

    def read_notice(self, header: Any) -> None:
        """Take what the other end says about memory; raises WireError."""
        try:
            kind, *content = msgpack.unpackb(header)
            if kind == _SEGMENT:
                self._add_segment(*content)
            elif kind == _RELEASE:
                for segment, offset in content[0]:
                    self.arena.release(segment, offset)
            else:
                raise ValueError(f"its kind is {kind!r}")
        except (msgpack.UnpackException, TypeError, ValueError, LookupError) as error:
            raise WireError(f"a notice about memory is malformed: {error}") from error

    def add_descriptors(self, descriptors: Iterable[int]) -> None:
        """Keep descriptors that arrived until a notice asks for them; raises WireError."""
        self._descriptors.extend(descriptors)
        if len(self._descriptors) > _MAX_DESCRIPTORS:
            self.close()
            raise WireError("descriptors arrived that no frame asks for")

    def close(self) -> None:
        """Close descriptors that nobody asked for; what is mapped lives as long as its readers.

        Nothing waits for a collection of cycles: a run whose copies are replaced would keep the
        memory of many.
        """
        self.arena.close()
        while self._descriptors:
            os.close(self._descriptors.popleft())

    def _announce_segment(self, number: int, size: int, descriptor: int) -> bool:
        return self._announce(_pack_notice([_SEGMENT, number, size]), descriptor)

    def _add_segment(self, number: Any, size: Any) -> None:
        if not self._descriptors:
            raise ValueError("no descriptor came with it")
        descriptor = self._descriptors.popleft()
        try:
            self.leases.add_segment(number, size, descriptor)
        finally:
            os.close(descriptor)


def _pack_notice(content: Any) -> bytes:
    header: bytes = msgpack.packb(content)
    return pack_prefix(len(header), flags=NOTICE) + header
