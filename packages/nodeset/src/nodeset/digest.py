"""Digests of values: canonical bytes and their 128-bit hash.

Knows nothing of runs; the same value gives the same bytes under every Python, NumPy and byte order.
"""

from __future__ import annotations

import struct
from typing import Any, Iterator, List, Mapping, Sequence, Tuple

import numpy as np
import xxhash

from nodeset.errors import WireError

_LENGTH = struct.Struct("<Q")
_FLOAT = struct.Struct("<d")


def digest_value(value: Any) -> bytes:
    """Return the 128-bit xxh3 digest (16 bytes) of `value`'s canonical bytes."""
    hasher = xxhash.xxh3_128()
    for chunk in canonical(value):
        hasher.update(chunk)
    return hasher.digest()


def digest_firing(path: str, turns: Sequence[int], outputs: Mapping[str, Any]) -> bytes:
    """Return a firing's digest: node path, turns, then each non-volatile output by name."""
    return digest_value([path, list(turns), dict(outputs)])


def hash64(*parts: Any) -> int:
    """Return an unsigned 64-bit hash of `parts` (passive data); seeds are made by it."""
    return xxhash.xxh3_64_intdigest(b"".join(bytes(chunk) for chunk in canonical(list(parts))))


def canonical(value: Any) -> Iterator[Any]:
    """Yield `value`'s canonical bytes as bytes-like chunks.

    Each value is a tag, its length and its content: integers as decimal text, floats as 8 bytes
    little-endian, arrays as dtype (little-endian), shape and C-order bytes, dicts by sorted keys.
    """
    small: List[bytes] = []
    for chunk in _walk(value):
        if isinstance(chunk, bytes) and len(chunk) <= 4096:
            small.append(chunk)
            continue
        yield b"".join(small)
        small.clear()
        yield chunk
    yield b"".join(small)


def _walk(value: Any) -> Iterator[Any]:
    if value is None:
        yield b"n"
    elif isinstance(value, (bool, np.bool_)):
        yield b"t" if value else b"f"
    elif isinstance(value, (int, np.integer)):
        yield from _sized(b"i", str(int(value)).encode("ascii"))
    elif isinstance(value, (float, np.floating)):
        yield b"d" + _FLOAT.pack(float(value))
    elif isinstance(value, str):
        yield from _sized(b"s", value.encode("utf-8", "surrogatepass"))
    else:
        yield from _walk_container(value)


def _walk_container(value: Any) -> Iterator[Any]:
    if isinstance(value, (bytes, bytearray, memoryview)):
        yield from _sized(b"b", bytes(value))
    elif isinstance(value, np.ndarray):
        yield from _walk_array(value)
    elif isinstance(value, (list, tuple)):
        yield b"l" + _LENGTH.pack(len(value))
        for item in value:
            yield from _walk(item)
    elif isinstance(value, Mapping):
        yield b"m" + _LENGTH.pack(len(value))
        for key in sorted(value):
            yield from _walk(key)
            yield from _walk(value[key])
    else:
        raise WireError(f"a {type(value).__name__} has no canonical bytes; use passive data")


def _sized(tag: bytes, content: bytes) -> Tuple[bytes, bytes]:
    return tag + _LENGTH.pack(len(content)), content


def _walk_array(value: np.ndarray[Any, Any]) -> Iterator[Any]:
    if value.dtype.hasobject or value.dtype.names is not None:
        raise WireError(f"an array of dtype {value.dtype} has no canonical bytes")
    array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<")).reshape(value.shape)
    yield from _sized(b"a", array.dtype.str.encode("ascii"))
    yield _LENGTH.pack(array.ndim) + b"".join(_LENGTH.pack(size) for size in array.shape)
    yield _LENGTH.pack(array.nbytes)
    if array.nbytes:
        yield array.reshape(-1).view(np.uint8).data
