"""Turn messages of passive data into frames and back, arrays out of band, everything bounded.

Knows nothing of sockets or of what the messages mean.
"""

from __future__ import annotations

import struct
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import msgpack
import numpy as np

from nodeset.array_wire import ALIGNMENT, ArrayReader, Body, Buffer, memory_of
from nodeset.errors import WireError

MAGIC = b"WFR1"
PREFIX = struct.Struct("<4sHHIQ")
"""Magic, flags, number of buffers, header length, body length."""
MAX_HEADER_BYTES = 16 * 2**20
MAX_BODY_BYTES = 2**30
MAX_BUFFERS = 1024
MAX_NESTING = 64

_ENVELOPE_NESTING = 8
_STAGING_BYTES = 64 * 2**10
_JOIN_BYTES = 16 * 2**10
_CONTAINERS = (dict, list, tuple, msgpack.Timestamp)
_MAX_CONTAINERS = 2**20


def encode(message: Mapping[str, Any]) -> List[Buffer]:
    """Return the buffers of one frame, to be sent in this order.

    Large arrays are referred to, not copied: send or copy the buffers before their owner writes
    to them again. Tuples arrive as lists, NumPy scalars as Python's. Raises WireError for what is
    not passive data or exceeds a bound.
    """
    _check_structure(message)
    body = Body()
    try:
        header = msgpack.packb(message, default=body.place, use_bin_type=True)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise WireError(f"a message cannot be encoded: {error}") from error
    _check_bounds(len(body.arrays), len(header), body.size)
    prefix = PREFIX.pack(MAGIC, 0, len(body.arrays), len(header), body.size)
    return _join_small([prefix, header, *body.pieces()])


def decode(header: Buffer, body: Buffer, buffer_count: int = MAX_BUFFERS) -> Dict[str, Any]:
    """Return the message of one frame; its arrays are read-only views of `body`."""
    arrays = ArrayReader(memoryview(body).toreadonly(), buffer_count)
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
    that the stream cannot be read any further.
    """

    def __init__(self) -> None:
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
            yield from self._take_frames()
            return
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
            frame = self._take_frame()
            if frame is None:
                break
            if not frame.is_complete:
                self._frame = frame
                break
            yield frame.decode()
        self._make_room()

    def _take_frame(self) -> Optional[_Frame]:
        """Take a frame from the staging buffer; None if it would fit there but is not there yet."""
        magic, flags, buffers, header, body = PREFIX.unpack_from(self._staging, self._start)
        if magic != MAGIC:
            raise WireError(f"a frame begins with {magic!r}; it must begin with {MAGIC!r}")
        if flags:
            raise WireError(f"a frame has flags {flags:#x}; none is known")
        _check_bounds(buffers, header, body, limits=(self.max_header_bytes, self.max_body_bytes))
        begin, wanted = self._start + PREFIX.size, header + body
        if self._end - begin < wanted <= _STAGING_BYTES - PREFIX.size:
            return None
        frame = _Frame(header, body, buffers)
        frame.put(self._staging[begin : min(self._end, begin + wanted)])
        self._start = begin + frame.filled
        return frame

    def _make_room(self) -> None:
        left = self._end - self._start
        if self._start:
            self._staging[:left] = bytes(self._staging[self._start : self._end])
            self._start, self._end = 0, left


class _Frame:
    """The header and body of one frame, in memory of its own; the body begins aligned."""

    def __init__(self, header: int, body: int, buffers: int) -> None:
        raw = np.empty(header + body + ALIGNMENT, np.uint8)
        shift = -(raw.ctypes.data + header) % ALIGNMENT if body else 0
        self._memory = memory_of(raw)[shift : shift + header + body]
        self._header_length = header
        self._buffers = buffers
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
        return decode(self._memory[:cut], self._memory[cut:], self._buffers)


def _check_bounds(
    buffers: int,
    header: int,
    body: int,
    *,
    limits: Tuple[int, int] = (MAX_HEADER_BYTES, MAX_BODY_BYTES),
) -> None:
    for what, value, limit in (
        ("arrays", buffers, MAX_BUFFERS),
        ("bytes of header (all that is not an array)", header, limits[0]),
        ("bytes of arrays", body, limits[1]),
    ):
        if value > limit:
            raise WireError(f"a frame of {value} {what} is too large; at most {limit} may cross")


def _check_structure(message: Any) -> None:
    """Refuse what is nested too deep, keys that are not text, and msgpack's own extensions."""
    level: List[Any] = [message]
    for _ in range(MAX_NESTING + _ENVELOPE_NESTING):
        children: List[Any] = []
        for container in level:
            children.extend(c for c in _children(container) if isinstance(c, _CONTAINERS))
        if not children:
            return
        if len(children) > _MAX_CONTAINERS:
            raise WireError(f"a message holds more than {_MAX_CONTAINERS} lists and dicts")
        level = children
    raise WireError(f"a value is nested deeper than {MAX_NESTING} levels, or holds itself")


def _children(container: Any) -> Sequence[Any]:
    if isinstance(container, dict):
        for key in container:
            if not isinstance(key, str):
                raise WireError(f"a dict has the key {key!r}; keys must be text")
        return list(container.values())
    if isinstance(container, (msgpack.ExtType, msgpack.Timestamp)):
        raise WireError(f"a {type(container).__name__} of msgpack cannot cross between processes")
    found: Sequence[Any] = container
    return found


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
