"""Turn an episode's firings into columns and back; the columns are what is stored and digested.

Knows nothing of files, nor of how a firing's digest is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgpack
import numpy as np

from wayfare.store.records import Firing

DIGEST_BYTES = 16
_NUMBERS = ("path", "depth", "turns")
"""The columns of whole numbers."""
_PEEKED_BYTES = 64
"""More than the position, which stands first, takes."""


def sort_firings(firings: Iterable[Firing]) -> list[Firing]:
    """Return the firings by turns and path, the order that digests and comparisons take them in."""
    return sorted(firings, key=lambda firing: (firing.turns, firing.path, firing.digest))


def columns(firings: Iterable[Firing]) -> dict[str, Any]:
    """Return the sorted firings as passive data, one entry per column.

    `paths` is the sorted table of paths; per firing there are its `path` (an index into it) and
    `depth` (its number of turns); `turns` and `digests` are joined in the firings' order.
    """
    ordered = sort_firings(firings)
    for firing in ordered:
        if len(firing.digest) != DIGEST_BYTES:
            raise ValueError(
                f"the digest of {firing.path!r} at turns {firing.turns} has {len(firing.digest)} "
                f"bytes; a firing's digest has {DIGEST_BYTES}."
            )
    paths = sorted({firing.path for firing in ordered})
    index = {path: number for number, path in enumerate(paths)}
    return {
        "paths": paths,
        "path": np.array([index[firing.path] for firing in ordered], dtype="<u4"),
        "depth": np.array([len(firing.turns) for firing in ordered], dtype="<u4"),
        "turns": np.array([turn for firing in ordered for turn in firing.turns], dtype="<u4"),
        "digests": b"".join(firing.digest for firing in ordered),
    }


def pack_firings(position: int, firings: Iterable[Firing]) -> bytes:
    """Return the firings of the episode at `position` of the run's list as one payload."""
    fields = columns(firings)
    for name in _NUMBERS:
        fields[name] = fields[name].tobytes()
    packed: bytes = msgpack.packb({"position": position, **fields})
    return packed


def peek_position(payload: bytes) -> int:
    """Return the position that `pack_firings` was given. Raises ValueError, TypeError."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(payload[:_PEEKED_BYTES])
    try:
        unpacker.read_map_header()
        name, position = unpacker.unpack(), unpacker.unpack()
    except msgpack.OutOfData as error:
        raise ValueError("they are cut short") from error
    if name != "position":
        raise ValueError(f"they begin with {name!r}")
    return int(position)


def unpack_columns(payload: bytes) -> tuple[int, dict[str, Any]]:
    """Return the position that `pack_firings` was given, and the firings' columns."""
    fields = msgpack.unpackb(payload)
    numbers = {name: np.frombuffer(fields[name], dtype="<u4") for name in _NUMBERS}
    return fields["position"], {"paths": fields["paths"], **numbers, "digests": fields["digests"]}


def unpack_firings(payload: bytes) -> tuple[int, list[Firing]]:
    """Return what `pack_firings` was given, sorted."""
    position, fields = unpack_columns(payload)
    paths: list[str] = fields["paths"]
    turns = fields["turns"].tolist()
    digests: bytes = fields["digests"]
    firings = []
    first_turn = 0
    for number, (path, depth) in enumerate(
        zip(fields["path"].tolist(), fields["depth"].tolist(), strict=True)
    ):
        digest = digests[DIGEST_BYTES * number : DIGEST_BYTES * (number + 1)]
        firings.append(Firing(paths[path], tuple(turns[first_turn : first_turn + depth]), digest))
        first_turn += depth
    return position, firings
