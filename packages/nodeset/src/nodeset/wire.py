"""Turn messages of passive data into frames and back, arrays out of band, everything bounded.

Knows nothing of sockets or of what the messages mean.
"""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

import msgpack
import numpy as np

from nodeset.array_wire import ALIGNMENT, ArrayReader, Body, Buffer, memory_of
from nodeset.errors import WireError
from nodeset.frame import (
    MAGIC,
    MAX_BODY_BYTES,
    MAX_BUFFERS,
    MAX_HEADER_BYTES,
    NOTICE,
    PREFIX,
    check_bounds,
    pack_prefix,
)
from nodeset.memory import MappedMemory

MAX_NESTING = 64

_ENVELOPE_NESTING = 8
_STAGING_BYTES = 64 * 2**10
_STAGED_BYTES = _STAGING_BYTES - PREFIX.size
_JOIN_BYTES = 16 * 2**10
_LEAVES = frozenset({int, float, str, bool, type(None), bytes, np.ndarray})
_JOIN_TEXT = "".join
_MAX_CONTAINERS = 2**20


def encode(message: Mapping[str, Any]) -> List[Buffer]:
    """Return the buffers of one frame, to be sent in this order.

    Large arrays are referred to, not copied: send or copy the buffers before their owner writes
    to them again. Tuples arrive as lists, NumPy scalars as Python's. Raises WireError for what is
    not passive data or exceeds a bound.
    """
    return pack(message)[0]


def pack(
    message: Mapping[str, Any], memory: Optional[MappedMemory] = None, *, is_kept: bool = False
) -> Tuple[List[Buffer], Body]:
    """Return the buffers of one frame, as `encode`, and what its arrays became.

    Large arrays are copied into `memory`; what `is_kept` must be released.
    """
    _check_structure(message)
    body = Body(memory, is_kept)
    try:
        header = msgpack.packb(message, default=body.place, use_bin_type=True)
        check_bounds(len(body.arrays), len(header), body.size)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        body.withdraw()
        raise WireError(f"a message cannot be encoded: {error}") from error
    except WireError:
        body.withdraw()
        raise
    if not body.arrays:
        return [pack_prefix(len(header)) + header], body
    prefix = pack_prefix(len(header), buffers=len(body.arrays), body_bytes=body.size)
    return _join_small([prefix, header, *body.pieces()]), body


def decode(
    header: Buffer,
    body: Buffer,
    *,
    buffer_count: int = MAX_BUFFERS,
    memory: Optional[MappedMemory] = None,
) -> Dict[str, Any]:
    """Return the message of one frame; its arrays are read-only views of `body` or `memory`."""
    leases = None if memory is None else memory.leases
    arrays = ArrayReader(memoryview(body).toreadonly(), buffer_count, leases)
    try:
        message = msgpack.unpackb(header, raw=False, strict_map_key=False, ext_hook=arrays.read)
    except (msgpack.UnpackException, TypeError, ValueError, RecursionError) as error:
        raise WireError(f"a frame's header is not msgpack: {error}") from error
    if not isinstance(message, dict):
        raise WireError(f"a frame holds a {type(message).__name__}; it must hold a map")
    _check_structure(message)
    return message


def copy_message(message: Mapping[str, Any]) -> Dict[str, Any]:
    """Return `message` as it would arrive at the other end, sharing no memory with it."""
    decoder = Decoder()
    (copy,) = decoder.feed(b"".join(encode(message)))
    return copy


class Decoder:
    """Cuts a stream of bytes into messages.

    Receive into `get_buffer()`, then iterate over `receive(count)` to its end. A WireError means
    that the stream cannot be read any further. With a `memory`, arrays may lie there.
    """

    def __init__(self) -> None:
        self.memory: Optional[MappedMemory] = None
        self.max_body_bytes = MAX_BODY_BYTES
        self.max_header_bytes = MAX_HEADER_BYTES
        self._staging = memoryview(bytearray(_STAGING_BYTES))
        self._start = self._end = 0
        self._frame: Optional[_Frame] = None

    def get_buffer(self) -> memoryview:
        """Return where the next bytes of the stream belong; never empty."""
        if self._frame is not None:
            return self._frame.rest()
        return self._staging[self._end :]

    def receive(self, count: int) -> Iterator[Dict[str, Any]]:
        """Take `count` bytes that were written to `get_buffer()`; yield the messages they end."""
        frame = self._frame
        if frame is None:
            self._end += count
            return self._take_frames()
        return self._fill_frame(frame, count)

    def _fill_frame(self, frame: _Frame, count: int) -> Iterator[Dict[str, Any]]:
        frame.filled += count
        if frame.is_complete:
            self._frame = None
            yield frame.decode()

    def feed(self, data: Buffer) -> Iterator[Dict[str, Any]]:
        """Yield the messages that `data`, the next bytes of the stream, ends."""
        rest = memoryview(data)
        while rest:
            target = self.get_buffer()
            count = min(len(target), len(rest))
            target[:count] = rest[:count]
            rest = rest[count:]
            yield from self.receive(count)

    def _take_frames(self) -> Iterator[Dict[str, Any]]:
        while self._end - self._start >= PREFIX.size:
            flags, buffers, header, body = self._read_prefix()
            begin, wanted = self._start + PREFIX.size, header + body
            available = min(self._end - begin, wanted)
            if available < wanted <= _STAGED_BYTES:
                break  # it fits here, but is not here yet
            self._start = begin + available
            data = self._staging[begin : self._start]
            if flags:
                self._read_notice(data)
            elif available == wanted and not body:
                yield decode(data, b"", buffer_count=buffers, memory=self.memory)
            else:
                frame = _Frame(header, body, buffers=buffers, memory=self.memory)
                frame.put(data)
                if not frame.is_complete:
                    self._frame = frame
                    break
                yield frame.decode()
        self._make_room()

    def _read_prefix(self) -> Tuple[int, int, int, int]:
        """Return flags, number of buffers and the lengths of header and body."""
        magic, flags, buffers, header, body = PREFIX.unpack_from(self._staging, self._start)
        if magic != MAGIC:
            raise WireError(f"a frame begins with {magic!r}; it must begin with {MAGIC!r}")
        if flags and (flags != NOTICE or self.memory is None or header + body > _STAGED_BYTES):
            raise WireError(f"a frame has flags {flags:#x}; none is known")
        check_bounds(
            buffers, header, body, max_header=self.max_header_bytes, max_body=self.max_body_bytes
        )
        return flags, buffers, header, body

    def _read_notice(self, header: memoryview) -> None:
        if self.memory is not None:
            self.memory.read_notice(header)

    def _make_room(self) -> None:
        left = self._end - self._start
        if not left:
            self._start = self._end = 0
        elif self._start:
            self._staging[:left] = bytes(self._staging[self._start : self._end])
            self._start, self._end = 0, left


class _Frame:
    """The header and body of one frame, in memory of its own; the body begins aligned."""

    def __init__(
        self, header: int, body: int, *, buffers: int, memory: Optional[MappedMemory]
    ) -> None:
        raw = np.empty(header + body + ALIGNMENT, np.uint8)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(memory_of(raw)))
        shift = -(begin + header) % ALIGNMENT if body else 0
        self._memory = memory_of(raw)[shift : shift + header + body]
        self._header_length = header
        self._buffers = buffers
        self._mapped = memory
        self.filled = 0

    @property
    def is_complete(self) -> bool:
        return self.filled == len(self._memory)

    def put(self, data: memoryview) -> None:
        self._memory[: len(data)] = data
        self.filled = len(data)

    def rest(self) -> memoryview:
        return self._memory[self.filled :]

    def decode(self) -> Dict[str, Any]:
        cut = self._header_length
        head, body = self._memory[:cut], self._memory[cut:]
        return decode(head, body, buffer_count=self._buffers, memory=self._mapped)


def _check_structure(message: Any) -> None:
    """Refuse what is nested too deep, keys that are not text, and msgpack's own extensions."""
    containers: List[Any] = [message]
    for value in containers:  # it grows meanwhile
        for child in value if type(value) is list else _children(value):
            if type(child) not in _LEAVES:
                containers.append(child)  # noqa: PERF401  for a few, a comprehension costs more
        if len(containers) > MAX_NESTING:
            _check_levels(message)
            return


def _check_levels(message: Any) -> None:
    """Do what `_check_structure` does, where there are enough containers to nest too deep."""
    level: List[Any] = [message]
    for _ in range(MAX_NESTING + _ENVELOPE_NESTING):
        deeper: List[Any] = []
        for value in level:
            found = value if type(value) is list else _children(value)
            deeper += [child for child in found if type(child) not in _LEAVES]
        if not deeper:
            return
        if len(deeper) > _MAX_CONTAINERS:
            raise WireError(f"a message holds more than {_MAX_CONTAINERS} lists and dicts")
        level = deeper
    raise WireError(f"a value is nested deeper than {MAX_NESTING} levels, or holds itself")


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        try:
            _JOIN_TEXT(value)
        except TypeError:
            key = next(key for key in value if not isinstance(key, str))
            raise WireError(f"a dict has the key {key!r}; keys must be text") from None
        return value.values()
    if isinstance(value, (msgpack.ExtType, msgpack.Timestamp)):
        raise WireError(f"a {type(value).__name__} of msgpack cannot cross between processes")
    return value if isinstance(value, (list, tuple)) else ()


def _join_small(pieces: Sequence[Buffer]) -> List[Buffer]:
    """Join neighbours that are cheaper to copy than to hand to the kernel one by one."""
    joined: List[Buffer] = []
    small: List[Buffer] = []
    for piece in pieces:
        if len(piece) <= _JOIN_BYTES:
            small.append(piece)
            continue
        joined.extend((b"".join(small), piece))
        small.clear()
    if small:
        joined.append(b"".join(small))
    return [piece for piece in joined if len(piece)]
