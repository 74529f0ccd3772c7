"""Damage bytes and trees of JSON, the same way for the same random numbers.

Knows nothing of frames or graphs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any

INTERESTING_BYTES = bytes((0, 1, 0x7F, 0x80, 0x81, 0x90, 0x91, 0xC0, 0xC1, 0xC7, 0xD4, 0xDF, 0xFF))
INTERESTING_NUMBERS = (0, 1, -1, 2, 63, 64, 255, 2**16, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1)
STRANGE_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**63, 2**64, 10**30, 0.5, 1e308, -0.0, "", "a", "\x00", "\ud800"),
    *("../../etc/passwd", "a/b", "x" * 5000, "loop", "é☃", "1e400", [], {}, [[]], {"": None}),
)
MAX_LENGTH = 1 << 16


def mutate(rng: Random, data: bytes, *, most: int = 4) -> bytes:
    """Return the bytes with one to `most` kinds of damage."""
    result = bytearray(data)
    for _ in range(rng.randint(1, most)):
        rng.choice(_DAMAGES)(rng, result)
    return bytes(result[:MAX_LENGTH])


def _flip(rng: Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _overwrite(rng: Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice(INTERESTING_BYTES)


def _write_number(rng: Random, data: bytearray) -> None:
    width = rng.choice((1, 2, 4, 8))
    number = rng.choice(INTERESTING_NUMBERS) % (1 << 8 * width)
    place = rng.randint(0, len(data))
    data[place : place + width] = number.to_bytes(width, rng.choice(("little", "big")))


def _insert(rng: Random, data: bytearray) -> None:
    place = rng.randint(0, len(data))
    data[place:place] = rng.randbytes(rng.randint(1, 9))


def _cut(rng: Random, data: bytearray) -> None:
    start = rng.randint(0, len(data))
    del data[start : start + rng.randint(1, 16)]


def _truncate(rng: Random, data: bytearray) -> None:
    del data[rng.randint(0, len(data)) :]


def _repeat(rng: Random, data: bytearray) -> None:
    start = rng.randint(0, len(data))
    piece = data[start : start + rng.randint(1, 32)]
    data[start:start] = piece * rng.randint(1, 20)


_DAMAGES: tuple[Callable[[Random, bytearray], None], ...] = (
    *(_flip, _flip, _overwrite, _overwrite, _write_number),
    *(_insert, _cut, _truncate, _repeat),
)


def mutate_tree(rng: Random, tree: Any, *, most: int = 3) -> Any:
    """Return the JSON tree with one to `most` of its parts removed, doubled, changed or swapped."""
    result = copy.deepcopy(tree)
    for _ in range(rng.randint(1, most)):
        places = _list_places(result)
        if not places:
            return rng.choice(STRANGE_VALUES)
        parent, key = rng.choice(places)
        rng.choice(_CHANGES)(rng, parent, key, places)
    return result


def _list_places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every part of a tree as its parent and its key there."""
    places: list[tuple[Any, Any]] = []
    pending = [tree]
    while pending:
        parent = pending.pop()
        keys: Any = ()
        if isinstance(parent, dict):
            keys = list(parent)
        elif isinstance(parent, list):
            keys = range(len(parent))
        places += [(parent, key) for key in keys]
        pending += [parent[key] for key in keys]
    return places


def _remove(rng: Random, parent: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    if isinstance(parent, dict) or key < len(parent):
        del parent[key]


def _replace(rng: Random, parent: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    parent[key] = copy.deepcopy(rng.choice(STRANGE_VALUES))


def _borrow(rng: Random, parent: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    other, at = rng.choice(places)
    parent[key] = copy.deepcopy(other[at])


def _borrow_alike(rng: Random, parent: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    """Put what stands under the same key elsewhere: it may well fit."""
    alike = [(other, at) for other, at in places if at == key and other is not parent]
    if alike:
        other, at = rng.choice(alike)
        parent[key] = copy.deepcopy(other[at])


def _double(rng: Random, parent: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    if isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    else:
        parent[f"{key}{rng.choice(('', ' ', '2', '.x', '/y'))}"] = copy.deepcopy(parent[key])


def _wrap(rng: Random, parent: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    for _ in range(rng.choice((1, 3, 70, 300))):
        parent[key] = [parent[key]] if rng.random() < 0.5 else {"k": parent[key]}


def _rename(rng: Random, parent: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
    if isinstance(parent, dict):
        parent[rng.choice(("", "id", "type", "graph", "ports", "\x00", key * 2))] = parent.pop(key)


_CHANGES = (
    *(_remove, _replace, _replace, _borrow, _double, _wrap, _rename),
    *(_borrow_alike, _borrow_alike, _borrow_alike, _borrow_alike),
)
