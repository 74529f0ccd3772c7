"""Put finished episodes into the run's file of truth and read them back, in the order written.

Knows nothing of which episodes a run should have.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgpack
from pydantic import TypeAdapter, ValidationError

from wayfare.store.errors import CorruptFileError
from wayfare.store.firings import unpack_columns, unpack_firings
from wayfare.store.frames import read_frame, read_frames, salvage_frames
from wayfare.store.records import EpisodeKey, EpisodeRecord, Firing

EPISODES_FILE = "episodes.frames"
FIRINGS_FILE = "firings.frames"

_RECORD: TypeAdapter[EpisodeRecord] = TypeAdapter(EpisodeRecord)
_Firings = TypeVar("_Firings")


@dataclass(frozen=True, slots=True)
class Committed:
    """A finished episode: its place in the run's list, where its firings stand, its record."""

    position: int
    firings_offset: int
    record: EpisodeRecord


@dataclass(frozen=True, slots=True)
class Salvage:
    """What can be read of the file of truth, in the order written, and what is wrong with it."""

    entries: tuple[Committed, ...]
    problems: tuple[str, ...] = ()

    @property
    def latest(self) -> list[Committed]:
        """Return each finished episode's last record, in the order of the run's list."""
        return _pick_latest(self.entries)


def pack_record(record: EpisodeRecord) -> bytes:
    """Return the record as bytes; raises OverflowError for a number beyond 64 bits."""
    fields: dict[str, Any] = _RECORD.dump_python(record)
    packed: bytes = msgpack.packb(fields)
    return packed


def pack_committed(position: int, firings_offset: int, record: bytes) -> bytes:
    """Return one payload of the truth file; `record` comes from `pack_record`."""
    packed: bytes = msgpack.packb([position, firings_offset, record])
    return packed


def read_truth(folder: Path, keys: Sequence[EpisodeKey]) -> Iterator[Committed]:
    """Yield what was committed, in that order; an episode tried again comes again.

    `keys` are those of the run's list; they stand in the records for those of the file, so that
    who keeps a key keeps nothing new. Raises CorruptFileError, for an episode that is not on the
    list too, and FormatVersionError as `read_frames` does.
    """
    path = folder / EPISODES_FILE
    for offset, payload in read_frames(path):
        yield _unpack(payload, f"{path}: byte {offset}", keys)


def iter_latest(folder: Path, keys: Sequence[EpisodeKey]) -> Iterator[Committed]:
    """Yield each finished episode's last record in the order written, without keeping any.

    `keys` and errors are those of `read_truth`.
    """
    path = folder / EPISODES_FILE
    last = array("q")
    repeated: set[int] = set()
    for offset, payload in read_frames(path):
        position = _peek_position(payload, f"{path}: byte {offset}", len(keys))
        last.extend([0] * (1 + position - len(last)))
        if last[position]:
            repeated.add(last[position])
        last[position] = offset
    for offset, payload in read_frames(path):
        if offset not in repeated:
            yield _unpack(payload, f"{path}: byte {offset}", keys)


def read_latest(folder: Path, keys: Sequence[EpisodeKey]) -> list[Committed]:
    """Return each finished episode's last record, in the order of the run's list.

    `keys` and errors are those of `read_truth`.
    """
    return _pick_latest(read_truth(folder, keys))


def salvage_truth(folder: Path, keys: Sequence[EpisodeKey]) -> Salvage:
    """Return what was committed as far as it can be read; `keys` are those of `read_truth`."""
    path, problems = folder / EPISODES_FILE, list[str]()
    entries = []
    for offset, payload in salvage_frames(path, problems):
        try:
            entries.append(_unpack(payload, f"{path}: byte {offset}", keys))
        except CorruptFileError as error:
            problems.append(str(error))
    return Salvage(tuple(entries), tuple(problems))


def _pick_latest(entries: Iterable[Committed]) -> list[Committed]:
    latest = {entry.position: entry for entry in entries}
    return [latest[position] for position in sorted(latest)]


def read_firings(folder: Path, entry: Committed) -> list[Firing]:
    """Return an episode's firings, sorted by turns and path. Raises CorruptFileError."""
    return _read_firings(folder, entry, unpack_firings)


def read_columns(folder: Path, entry: Committed) -> dict[str, Any]:
    """Return an episode's firings as columns. Raises CorruptFileError."""
    return _read_firings(folder, entry, unpack_columns)


def _read_firings(
    folder: Path, entry: Committed, unpack: Callable[[bytes], tuple[int, _Firings]]
) -> _Firings:
    path = folder / FIRINGS_FILE
    where = f"{path}: byte {entry.firings_offset}"
    try:
        position, firings = unpack(read_frame(path, entry.firings_offset))
    except (ValueError, TypeError, LookupError) as error:
        raise CorruptFileError(f"{where}: no firings: {error!r}") from error
    if position != entry.position:
        raise CorruptFileError(f"{where}: the firings are of another episode than the record.")
    return firings


def count_finished(folder: Path, total: int) -> int:
    """Return how many of a run's `total` episodes have a record, without reading the records."""
    path = folder / EPISODES_FILE
    frames = read_frames(path)
    return len({_peek_position(entry, f"{path}: byte {at}", total) for at, entry in frames})


def _peek_position(payload: bytes, where: str, total: int) -> int:
    """Return where in the run's list a record stands, without reading the record."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(payload)
    try:
        unpacker.read_array_header()
        position = int(unpacker.unpack())
    except (ValueError, TypeError, msgpack.OutOfData) as error:
        raise CorruptFileError(f"{where}: no episode record: {error}") from error
    if not 0 <= position < total:
        raise CorruptFileError(_describe_stranger(where, f"place {position}", total))
    return position


def _unpack(payload: bytes, where: str, keys: Sequence[EpisodeKey]) -> Committed:
    position = _peek_position(payload, where, len(keys))
    try:
        _, firings_offset, packed = msgpack.unpackb(payload)
        fields = msgpack.unpackb(packed)
        found, fields["key"] = fields["key"], keys[position]
        record = _RECORD.validate_python(fields)
        is_stranger = EpisodeKey(**found) != record.key
    except (ValueError, TypeError, LookupError, ValidationError) as error:
        raise CorruptFileError(f"{where}: no episode record: {error}") from error
    if is_stranger:
        raise CorruptFileError(_describe_stranger(where, f"episode {found['id']!r}", len(keys)))
    return Committed(position, firings_offset, record)


def _describe_stranger(where: str, what: str, total: int) -> str:
    return (
        f"{where}: the record is of {what}, which is not what the run's list of {total} has there; "
        f"the file, or the list, is another run's."
    )
