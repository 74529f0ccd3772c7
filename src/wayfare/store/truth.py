"""Put finished episodes into the run's file of truth and read them back, in the order written.

Knows nothing of which episodes a run should have.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
from pydantic import TypeAdapter, ValidationError

from wayfare.store.errors import CorruptFileError
from wayfare.store.frames import read_frames
from wayfare.store.records import EpisodeKey, EpisodeRecord

EPISODES_FILE = "episodes.frames"

_RECORD: TypeAdapter[EpisodeRecord] = TypeAdapter(EpisodeRecord)


@dataclass(frozen=True, slots=True)
class Committed:
    """A finished episode: its place in the run's list, where its firings stand, its record."""

    position: int
    firings_offset: int
    record: EpisodeRecord


def pack_record(record: EpisodeRecord) -> bytes:
    """Return the record as bytes; raises OverflowError for a number beyond 64 bits."""
    fields: dict[str, Any] = _RECORD.dump_python(record)
    packed: bytes = msgpack.packb(fields)
    return packed


def pack_committed(position: int, firings_offset: int, record: bytes) -> bytes:
    """Return one payload of the truth file; `record` comes from `pack_record`."""
    packed: bytes = msgpack.packb([position, firings_offset, record])
    return packed


def read_truth(folder: Path) -> Iterator[Committed]:
    """Yield what was committed, in that order; an episode tried again comes again.

    Raises CorruptFileError and FormatVersionError as `read_frames` does.
    """
    path = folder / EPISODES_FILE
    for offset, payload in read_frames(path):
        yield _unpack(payload, f"{path}: byte {offset}")


def iter_latest(folder: Path, keys: Sequence[EpisodeKey] = ()) -> Iterator[Committed]:
    """Yield each finished episode's last record in the order written, without keeping any.

    `keys`, by position, stand in the records for those of the file. Raises as `read_truth`.
    """
    path = folder / EPISODES_FILE
    last = array("q")
    repeated: set[int] = set()
    for offset, payload in read_frames(path):
        position = _peek_position(payload, f"{path}: byte {offset}")
        last.extend([0] * (1 + position - len(last)))
        if last[position]:
            repeated.add(last[position])
        last[position] = offset
    for offset, payload in read_frames(path):
        if offset not in repeated:
            yield _unpack(payload, f"{path}: byte {offset}", keys)


def read_latest(folder: Path) -> list[Committed]:
    """Return each finished episode's last record, in the order of the run's list."""
    latest = {entry.position: entry for entry in read_truth(folder)}
    return [latest[position] for position in sorted(latest)]


def _peek_position(payload: bytes, where: str) -> int:
    """Return where in the run's list a record stands, without reading the record."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(payload)
    try:
        unpacker.read_array_header()
        return int(unpacker.unpack())
    except (ValueError, TypeError, msgpack.OutOfData) as error:
        raise CorruptFileError(f"{where}: no episode record: {error}") from error


def _unpack(payload: bytes, where: str, keys: Sequence[EpisodeKey] = ()) -> Committed:
    try:
        position, firings_offset, packed = msgpack.unpackb(payload)
        fields = msgpack.unpackb(packed)
        if keys and fields["key"]["id"] == keys[position].id:
            fields["key"] = keys[position]
        record = _RECORD.validate_python(fields)
    except (ValueError, TypeError, LookupError, ValidationError) as error:
        raise CorruptFileError(f"{where}: no episode record: {error}") from error
    return Committed(position, firings_offset, record)
