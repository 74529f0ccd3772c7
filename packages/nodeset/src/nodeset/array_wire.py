"""Place the arrays of a message beside its header, and make them again from there.

Knows nothing of frames: an array lies in a body, a stretch of bytes in which every array begins
aligned, or in memory that both ends map.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Iterator, List, Optional, Tuple, Union

import msgpack
import numpy as np

from nodeset.arena import SMALLEST_BYTES, Placed
from nodeset.errors import WireError
from nodeset.lease import Leases
from nodeset.memory import MappedMemory
from nodeset.passive import DTYPE_KINDS

Buffer = Union[bytes, memoryview]

ALIGNMENT = 64
_ARRAY_CODE = 1
_MAPPED_CODE = 2
_DTYPE_TEXT = re.compile(r"[<>|=][biufcSUmM][1-9][0-9]{0,8}(\[[0-9A-Za-z/]{1,16}\])?")
"""Items of no bytes are left out: of such an array any shape fits any frame."""
_PADDING = bytes(ALIGNMENT)
_MAX_DIMENSIONS = 32


def memory_of(array: Any) -> memoryview:
    """Return the bytes of a one-dimensional array of `uint8`."""
    return memoryview(array)


class Body:
    """Collects the arrays of a message while its header is packed.

    Large ones are copied into `memory`, as long as it lends; `is_kept` has the copies stay valid
    until `release_kept`.
    """

    def __init__(self, memory: Optional[MappedMemory] = None, is_kept: bool = False) -> None:
        self.arrays: List[np.ndarray[Any, Any]] = []
        self.size = 0
        self.placed: List[Tuple[np.ndarray[Any, Any], Placed]] = []
        self._arena = memory.arena if memory is not None and memory.is_lending else None
        self._pins = 2 if is_kept else 1

    def place(self, value: Any) -> Any:
        """Return what stands in the header for a value that msgpack does not know."""
        if isinstance(value, np.ndarray):
            return self._place_array(value)
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, int):
            raise WireError(f"the integer {value!r} does not fit in 64 bits")
        raise WireError(
            f"a {type(value).__module__}.{type(value).__qualname__} cannot cross between "
            "processes; use arrays, numbers, text, bytes, lists or dicts"
        )

    def _place_array(self, value: np.ndarray[Any, Any]) -> msgpack.ExtType:
        dtype = value.dtype
        if dtype.kind not in DTYPE_KINDS or isinstance(value, np.ma.MaskedArray):
            kind = "a masked array" if isinstance(value, np.ma.MaskedArray) else f"dtype {dtype}"
            raise WireError(f"an array with {kind} cannot cross between processes")
        if not dtype.itemsize:
            raise WireError(f"an array whose items have no bytes ({dtype}) cannot cross")
        if self._arena is not None and value.nbytes >= SMALLEST_BYTES:
            placed = self._arena.place(value, self._pins)
            if placed is not None:
                self.placed.append((value, placed))
                block = placed.block
                place = [block.segment, dtype.str, value.shape, block.offset, value.nbytes]
                return msgpack.ExtType(_MAPPED_CODE, msgpack.packb(place))
        place = [len(self.arrays), dtype.str, value.shape, self.size, value.nbytes]
        self.arrays.append(value)
        self.size += value.nbytes + -value.nbytes % ALIGNMENT
        return msgpack.ExtType(_ARRAY_CODE, msgpack.packb(place))

    def withdraw(self) -> None:
        """Take back what was placed: the message is not sent."""
        if self._arena is not None:
            for _, placed in self.placed:
                self._arena.withdraw(placed.block)
        self.placed.clear()

    def find_sent(self, value: Any) -> Any:
        """Return the copy that was sent of an array; anything else as it is."""
        for array, placed in self.placed:
            if array is value:
                return placed.view
        return value

    def release_kept(self) -> None:
        """Let the copies go: nobody at this end reads them any more."""
        if self._arena is not None:
            for _, placed in self.placed:
                self._arena.unpin(placed.block)
        self.placed.clear()

    def pieces(self) -> Iterator[Buffer]:
        for array in self.arrays:
            if array.nbytes:
                flat = np.ascontiguousarray(array).reshape(-1)
                yield memory_of(flat.view(np.uint8))
                yield _PADDING[: -array.nbytes % ALIGNMENT]


class ArrayReader:
    """Makes the arrays of a message from the body of its frame and from mapped memory."""

    def __init__(
        self, body: memoryview, buffer_count: int, leases: Optional[Leases] = None
    ) -> None:
        self._body = body
        self._buffer_count = buffer_count
        self._leases = leases

    def read(self, code: int, data: bytes) -> np.ndarray[Any, Any]:
        is_mapped = code == _MAPPED_CODE and self._leases is not None
        if code != _ARRAY_CODE and not is_mapped:
            raise WireError(f"a frame holds a value of extension type {code}; only 1 is known")
        try:
            index, text, shape, offset, size = msgpack.unpackb(data)
            dtype = _read_dtype(text)
            if not _are_places(index, offset, size) or not _is_shape(shape, dtype, size):
                raise ValueError("its place or shape does not fit the frame")
            take = self._lend if is_mapped else self._cut
            return _read_only(take(index, offset, size), dtype, shape)
        except (msgpack.UnpackException, TypeError, ValueError, OverflowError) as error:
            raise WireError(f"a frame holds a malformed array: {error}") from error

    def _cut(self, index: int, offset: int, size: int) -> memoryview:
        if index >= self._buffer_count or offset + size > len(self._body):
            raise ValueError("its place does not fit the frame")
        return self._body[offset : offset + size]

    def _lend(self, segment: int, offset: int, size: int) -> memoryview:
        if self._leases is None or not size:
            raise ValueError("it is empty but mapped")
        return self._leases.lend(segment, offset, size)


@lru_cache(maxsize=256)
def _read_dtype(text: Any) -> np.dtype[Any]:
    if not isinstance(text, str) or not _DTYPE_TEXT.fullmatch(text):
        raise ValueError(f"dtype {text!r} cannot cross between processes")
    return np.dtype(text)


def _are_places(index: Any, offset: Any, size: Any) -> bool:
    is_number = type(index) is type(offset) is type(size) is int
    return is_number and min(index, offset, size) >= 0 and offset % ALIGNMENT == 0


def _read_only(data: memoryview, dtype: np.dtype[Any], shape: List[int]) -> np.ndarray[Any, Any]:
    """Return an array that stays read-only: its base is `data`, not the owner of the memory."""
    if data:
        return np.frombuffer(data, dtype).reshape(shape)
    array: np.ndarray[Any, Any] = np.empty(shape, dtype)
    array.setflags(write=False)
    return array


def _is_shape(shape: Any, dtype: np.dtype[Any], size: int) -> bool:
    if not isinstance(shape, list) or len(shape) > _MAX_DIMENSIONS:
        return False
    count = 1
    for length in shape:
        if type(length) is not int or length < 0:
            return False
        count *= length
    return count * dtype.itemsize == size
