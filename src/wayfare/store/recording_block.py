"""Turn what was recorded into compact blocks of bytes and back, arrays included.

Knows nothing of files or of what the blocks are for.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

from wayfare.store.errors import CorruptFileError

Array = np.ndarray[Any, Any]

_ARRAY_CODE = 1
_REFERENCE_CODE = 2
_MIN_COMPRESSED_BYTES = 512
_HEAD_BYTES = 256
_LEVEL = 1
"""Speed before size: level 6 takes three times as long on images for a tenth less."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block: what kind it is of, what it goes by, and its fields."""

    kind: int
    key: bytes
    fields: Any


def pack_value(value: Any, refer: Callable[[Array], bytes | None] | None = None) -> bytes:
    """Return passive data as bytes.

    An array stands in it with its content, or where `refer` returns bytes for it, by those.
    Raises TypeError, ValueError or OverflowError for what is not passive data.
    """

    def place(item: Any) -> Any:
        if isinstance(item, np.generic):
            return item.item()
        if not isinstance(item, np.ndarray) or item.dtype.hasobject or item.dtype.names:
            raise TypeError(f"a {type(item).__name__} can't be recorded; it is no passive data")
        reference = refer(item) if refer else None
        if reference is not None:
            return msgpack.ExtType(_REFERENCE_CODE, reference)
        return msgpack.ExtType(_ARRAY_CODE, _pack_array(item))

    packed: bytes = msgpack.packb(value, default=place, unicode_errors="surrogatepass")
    return packed


def unpack_value(packed: bytes, resolve: Callable[[bytes], Array] | None = None) -> Any:
    """Return what `pack_value` was given; `resolve` returns the array that a reference names."""

    def make(code: int, data: bytes) -> Any:
        if code == _REFERENCE_CODE and resolve is not None:
            return resolve(data)
        if code != _ARRAY_CODE:
            raise ValueError(f"extension type {code} is unknown")
        dtype, shape, content = msgpack.unpackb(data)
        return read_only(dtype, shape, content)

    return msgpack.unpackb(
        packed, ext_hook=make, unicode_errors="surrogatepass", strict_map_key=False
    )


def read_only(dtype: str, shape: Sequence[int], content: bytes) -> Array:
    """Return the array with this content; it can't be written to. Raises ValueError, TypeError."""
    return np.frombuffer(content, np.dtype(dtype)).reshape(shape)


def _pack_array(array: Array) -> bytes:
    """Return the array as bytes.

    The buffer has the size that is needed: msgpack's own, 256 KiB for each, is so large that two
    at a time make the allocator ask the system for memory, which takes ten times as long.
    """
    content = [array.dtype.str, array.shape, array.tobytes()]
    packed: bytes = msgpack.packb(content, buf_size=array.nbytes + _HEAD_BYTES)
    return packed


def pack_block(kind: int, packed: bytes, key: bytes = b"") -> bytes:
    """Return a block of packed fields, compressed where that makes it smaller."""
    content, is_compressed = packed, False
    if len(packed) >= _MIN_COMPRESSED_BYTES:
        smaller = zlib.compress(packed, _LEVEL)
        if len(smaller) < len(packed):
            content, is_compressed = smaller, True
    block: bytes = msgpack.packb([kind, key, is_compressed, content])
    return block


def peek_block(block: bytes, where: str) -> tuple[int, bytes]:
    """Return the block's kind and key; its fields stay packed. Raises CorruptFileError."""
    try:
        kind, key, _, _ = msgpack.unpackb(block)
    except (ValueError, TypeError) as error:
        raise CorruptFileError(f"{where}: no block of a recording: {error}") from error
    return kind, key


def unpack_block(
    block: bytes, where: str, resolve: Callable[[bytes], Array] | None = None
) -> Block:
    """Return the block; raises CorruptFileError, naming `where`, for what is none."""
    try:
        kind, key, is_compressed, content = msgpack.unpackb(block)
        packed = zlib.decompress(content) if is_compressed else content
        return Block(kind, key, unpack_value(packed, resolve))
    except (ValueError, TypeError, zlib.error) as error:
        raise CorruptFileError(f"{where}: no block of a recording: {error}") from error
