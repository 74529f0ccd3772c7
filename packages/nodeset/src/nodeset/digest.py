"""Digests of values: canonical bytes and their 128-bit hash.

Knows nothing of runs; the same value gives the same bytes under every Python, NumPy and byte order.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Callable, Dict, Iterable, List, Sequence, Tuple

import numpy as np
import xxhash

from nodeset.errors import WireError

_LENGTH = struct.Struct("<Q").pack
_FLOAT = struct.Struct("<d").pack
_INLINE_BYTES = 4096
"""Up to here copying an array's bytes costs less than another chunk."""


def digest_value(value: Any) -> bytes:
    """Return the 128-bit xxh3 digest (16 bytes) of `value`'s canonical bytes."""
    first, *others = canonical(value)
    hasher = xxhash.xxh3_128(first)
    for chunk in others:
        hasher.update(chunk)
    return hasher.digest()


def digest_items(count: int, items: Iterable[Any]) -> bytes:
    """Return `digest_value` of the list of `count` items, which need not be there all at once."""
    hasher = xxhash.xxh3_128(b"l" + _LENGTH(count))
    for item in items:
        for chunk in canonical(item):
            hasher.update(chunk)
    return hasher.digest()


def digest_firing(path: str, turns: Sequence[int], outputs: Mapping[str, Any]) -> bytes:
    """Return a firing's digest: node path, turns, then each non-volatile output by name."""
    return digest_value([path, turns, outputs])


def hash64(*parts: Any) -> int:
    """Return an unsigned 64-bit hash of `parts` (passive data); seeds are made by it."""
    return xxhash.xxh3_64_intdigest(b"".join(canonical(list(parts))))


def hash_document(fields: Mapping[str, Any]) -> str:
    """Return the 64-bit hash (hex) of a JSON document, in the order of its fields."""
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return str(xxhash.xxh3_64_hexdigest(text.encode("utf-8", "surrogatepass")))


class Hash64Series:
    """`hash64(*parts, last)` for many values of `last`: what they share is walked once."""

    def __init__(self, *parts: Any) -> None:
        begin = canonical([*parts, None])
        self._begin = b"".join(begin)[: -len(_write_none(None))]

    def hash(self, last: Any) -> int:
        """Return what `hash64(*parts, last)` returns."""
        return xxhash.xxh3_64_intdigest(b"".join([self._begin, *canonical(last)]))


def canonical(value: Any) -> List[Any]:
    """Return `value`'s canonical bytes as a list of bytes-like chunks.

    Each value is a tag, its length and its content: integers as decimal text, floats as 8 bytes
    little-endian, arrays as dtype (little-endian), shape and C-order bytes, dicts by sorted keys.
    """
    chunks: List[Any] = []
    text = bytearray()
    _walk(value, text, chunks)
    chunks.append(text)
    return chunks


def _walk(value: Any, text: bytearray, chunks: List[Any]) -> bytearray:
    """Write a value to the end of `text`; return where to go on: a large array begins anew."""
    kind = type(value)
    write = _WRITERS.get(kind)
    if write is not None:
        text += write(value)
        return text
    if isinstance(value, (list, tuple)):
        text += b"l" + _LENGTH(len(value))
        for item in value:
            text = _walk(item, text, chunks)
        return text
    if kind is dict or isinstance(value, Mapping):
        return _walk_mapping(value, text, chunks)
    if isinstance(value, np.ndarray):
        return _walk_array(value, text, chunks)
    text += _write_odd(value)
    return text


def _walk_mapping(value: Mapping[Any, Any], text: bytearray, chunks: List[Any]) -> bytearray:
    text += b"m" + _LENGTH(len(value))
    for key in sorted(value):
        text += _write_key(key) if type(key) is str else canonical(key)[0]
        text = _walk(value[key], text, chunks)
    return text


def _write_bool(value: bool) -> bytes:
    return b"t" if value else b"f"


def _write_int(value: int) -> bytes:
    digits = b"%d" % value
    return b"i" + _LENGTH(len(digits)) + digits


def _write_float(value: float) -> bytes:
    return b"d" + _FLOAT(value)


def _write_text(value: str) -> bytes:
    return _sized(b"s", value.encode("utf-8", "surrogatepass"))


_write_key = lru_cache(maxsize=4096)(_write_text)
"""Writes what comes again and again: the names of ports, the paths of nodes."""


def _write_bytes(value: Any) -> bytes:
    return _sized(b"b", bytes(value))


def _write_none(_: None) -> bytes:
    return b"n"


_WRITERS: Dict[type, Callable[[Any], bytes]] = {
    type(None): _write_none,
    bool: _write_bool,
    int: _write_int,
    float: _write_float,
    str: _write_text,
    bytes: _write_bytes,
}


def _write_odd(value: Any) -> bytes:
    """Write what is no plain value itself but stands for one: a NumPy scalar, a subclass."""
    if isinstance(value, (bool, np.bool_)):
        return _write_bool(bool(value))
    if isinstance(value, (int, np.integer)):
        return _write_int(int(value))
    if isinstance(value, (float, np.floating)):
        return _write_float(float(value))
    if isinstance(value, str):
        return _write_text(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _write_bytes(value)
    raise WireError(f"a {type(value).__name__} has no canonical bytes; use passive data")


def _sized(tag: bytes, content: bytes) -> bytes:
    return tag + _LENGTH(len(content)) + content


def _walk_array(value: np.ndarray[Any, Any], text: bytearray, chunks: List[Any]) -> bytearray:
    head, is_little = _describe_array(value.dtype, value.shape)
    text += head
    if not (is_little and value.flags.c_contiguous and type(value) is np.ndarray):
        value = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    if value.nbytes <= _INLINE_BYTES:
        text += value.tobytes()
        return text
    chunks += (text, value.reshape(-1).view(np.uint8).data)
    return bytearray()


@lru_cache(maxsize=1024)
def _describe_array(dtype: np.dtype[Any], shape: Tuple[int, ...]) -> Tuple[bytes, bool]:
    """Return what comes before an array's content, and whether its items are little-endian."""
    if dtype.hasobject or dtype.names is not None:
        raise WireError(f"an array of dtype {dtype} has no canonical bytes")
    little = dtype.newbyteorder("<")
    sizes = (len(shape), *shape, dtype.itemsize * math.prod(shape))
    head = _sized(b"a", little.str.encode("ascii")) + b"".join(map(_LENGTH, sizes))
    return head, dtype.str == little.str
