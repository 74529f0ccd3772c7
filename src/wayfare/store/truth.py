"""Put finished episodes into the run's file of truth and read them back, in the order written.

Knows nothing of which episodes a run should have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
from pydantic import TypeAdapter, ValidationError

from wayfare.store.errors import CorruptFileError
from wayfare.store.frames import read_frames
from wayfare.store.records import EpisodeRecord

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
        try:
            position, firings_offset, packed = msgpack.unpackb(payload)
            record = _RECORD.validate_python(msgpack.unpackb(packed))
        except (ValueError, TypeError, ValidationError) as error:
            raise CorruptFileError(f"{path}: byte {offset}: no episode record: {error}") from error
        yield Committed(position, firings_offset, record)


def read_latest(folder: Path) -> list[Committed]:
    """Return each finished episode's last record, in the order of the run's list."""
    latest = {entry.position: entry for entry in read_truth(folder)}
    return [latest[position] for position in sorted(latest)]
