"""Place the arrays of a message beside its header, and make them again from there.

Knows nothing of frames: a body is a stretch of bytes in which every array begins aligned.
"""

from __future__ import annotations

import re
from typing import Any, Iterator, List, Union

import msgpack
import numpy as np

from nodeset.errors import WireError

Buffer = Union[bytes, memoryview]

ALIGNMENT = 64
_ARRAY_CODE = 1
_DTYPE_KINDS = "biufcSUmM"
_DTYPE_TEXT = re.compile(r"[<>|=][biufcSUmM][0-9]{1,9}(\[[0-9A-Za-z/]{1,16}\])?")
_PADDING = bytes(ALIGNMENT)
_MAX_DIMENSIONS = 32


def memory_of(array: Any) -> memoryview:
    """Return the bytes of a one-dimensional array of `uint8`."""
    return memoryview(array)


class Body:
    """Collects the arrays of a message while its header is packed."""

    def __init__(self) -> None:
        self.arrays: List[np.ndarray[Any, Any]] = []
        self.size = 0

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
        if dtype.kind not in _DTYPE_KINDS or isinstance(value, np.ma.MaskedArray):
            kind = "a masked array" if isinstance(value, np.ma.MaskedArray) else f"dtype {dtype}"
            raise WireError(f"an array with {kind} cannot cross between processes")
        place = [len(self.arrays), dtype.str, value.shape, self.size, value.nbytes]
        self.arrays.append(value)
        self.size += value.nbytes + -value.nbytes % ALIGNMENT
        return msgpack.ExtType(_ARRAY_CODE, msgpack.packb(place))

    def pieces(self) -> Iterator[Buffer]:
        for array in self.arrays:
            if array.nbytes:
                flat = np.ascontiguousarray(array).reshape(-1)
                yield memory_of(flat.view(np.uint8))
                yield _PADDING[: -array.nbytes % ALIGNMENT]


class ArrayReader:
    """Makes the arrays of a message from the body of its frame."""

    def __init__(self, body: memoryview, buffer_count: int) -> None:
        self._body = body
        self._buffer_count = buffer_count

    def read(self, code: int, data: bytes) -> np.ndarray[Any, Any]:
        if code != _ARRAY_CODE:
            raise WireError(f"a frame holds a value of extension type {code}; only 1 is known")
        try:
            index, text, shape, offset, size = msgpack.unpackb(data)
            dtype = self._read_dtype(text)
            if not self._fits(index, offset, size) or not _is_shape(shape, dtype, size):
                raise ValueError("its place or shape does not fit the frame")
            return _read_only(self._body[offset : offset + size], dtype, shape)
        except (msgpack.UnpackException, TypeError, ValueError, OverflowError) as error:
            raise WireError(f"a frame holds a malformed array: {error}") from error

    def _read_dtype(self, text: Any) -> np.dtype[Any]:
        if not isinstance(text, str) or not _DTYPE_TEXT.fullmatch(text):
            raise ValueError(f"dtype {text!r} cannot cross between processes")
        return np.dtype(text)

    def _fits(self, index: Any, offset: Any, size: Any) -> bool:
        numbers = all(type(number) is int and number >= 0 for number in (index, offset, size))
        return (
            numbers
            and index < self._buffer_count
            and offset % ALIGNMENT == 0
            and offset + size <= len(self._body)
        )


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
