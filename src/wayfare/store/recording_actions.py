"""Keep the actions of each finished episode and read them back.

Knows nothing of which ports are for actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import xxhash

from wayfare.store.errors import CorruptFileError, NotRecordedError
from wayfare.store.frames import FRAME_BYTES, read_frame, read_frames
from wayfare.store.recording import ACTIONS_FILE, record_token
from wayfare.store.recording_block import (
    pack_block,
    pack_value,
    peek_block,
    unpack_block,
    unpack_value,
)
from wayfare.store.recording_file import SharedAppender
from wayfare.store.records import EpisodeRecord
from wayfare.store.room import Room

_CHUNK = 1
_EPISODE = 2


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """A value that reached an action port: the node's path, its turns, the port."""

    path: str
    turns: tuple[int, ...]
    port: str
    value: Any

    @property
    def step(self) -> int:
        """Return the turn of the outermost loop."""
        return self.turns[0] if self.turns else 0


def pack_action(action: RecordedAction) -> bytes:
    """Return one action as bytes, to be joined with others.

    Raises TypeError, ValueError or OverflowError for a value that is not passive data.
    """
    return pack_value([action.path, action.turns, action.port, action.value])


class ActionFile:
    """A run's actions, appended episode by episode, from any thread."""

    def __init__(self, folder: Path, room: Room | None = None) -> None:
        self._file = SharedAppender(folder / ACTIONS_FILE, room)

    def append_part(self, actions: bytes) -> int:
        """Keep some of an episode's packed actions; return what `append_episode` must name."""
        return self._file.append(pack_block(_CHUNK, pack_value(actions)))

    def append_episode(
        self, position: int, token: bytes, *, actions: bytes, parts: Sequence[int] = ()
    ) -> None:
        """Keep an episode's last actions, after those of its `parts`; then the disk has all."""
        self._file.append(pack_block(_EPISODE, pack_value([position, parts, actions]), token))

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the parts of long episodes' actions stand.

    `astray` are the tokens of the episodes that do not find theirs, or find one twice; `unread` is
    where those stand, from the first byte up to the end, that no episode's last actions name, and
    `last` where the last one that is named stands.
    """

    astray: frozenset[bytes]
    unread: tuple[tuple[int, int], ...] = ()
    last: int = 0


def survey_parts(path: Path) -> Parts:
    """Return how a file's parts stand. Raises CorruptFileError, FormatVersionError."""
    ends: dict[int, int] = {}
    contents: dict[int, int] = {}
    named: dict[bytes, list[int]] = {}
    for offset, payload in read_frames(path):
        where = f"{path}: byte {offset}"
        kind, token = peek_block(payload, where)
        if kind == _CHUNK:
            ends[offset] = offset + FRAME_BYTES + len(payload)
            contents[offset] = xxhash.xxh3_64_intdigest(payload)
        elif kind == _EPISODE and token not in named:
            _, named[token], _ = _unpack_fields(payload, where)
    astray = {
        token
        for token, parts in named.items()
        if len({contents.get(part) for part in parts} - {None}) < len(parts)
    }
    read = {part for parts in named.values() for part in parts}
    unread = tuple(span for span in ends.items() if span[0] not in read)
    return Parts(frozenset(astray), unread, max(read, default=0))


def _unpack_fields(payload: bytes, where: str) -> tuple[int, list[int], bytes]:
    """Return an episode's position, where its parts stand, and its last actions."""
    try:
        position, parts, last = unpack_block(payload, where).fields
    except (ValueError, TypeError) as error:
        raise CorruptFileError(f"{where}: no actions: {error!r}") from error
    return position, parts, last


def need_actions(folder: Path, record: EpisodeRecord) -> list[RecordedAction]:
    """Return the actions kept for this record, by turns and path. Raises NotRecordedError."""
    path, token = folder / ACTIONS_FILE, record_token(record)
    for offset, payload in read_frames(path) if path.exists() else ():
        where = f"{path}: byte {offset}"
        if peek_block(payload, where) == (_EPISODE, token):
            _, parts, last = _unpack_fields(payload, where)
            streams = [unpack_block(read_frame(path, part), str(path)).fields for part in parts]
            return _sorted(_unpack([*streams, last], path))
    raise NotRecordedError(
        f"run folder {folder} has no actions of episode {record.key.text}; `wayfare eval` keeps "
        f"them unless it is given --record none."
    )


def _unpack(streams: Iterable[bytes], path: Path) -> Iterator[RecordedAction]:
    for stream in streams:
        unpacker = msgpack.Unpacker()
        unpacker.feed(stream)
        start = 0
        try:
            while start < len(stream):
                unpacker.skip()
                node, turns, port, value = unpack_value(stream[start : unpacker.tell()])
                start = unpacker.tell()
                yield RecordedAction(node, tuple(turns), port, value)
        except (ValueError, TypeError, msgpack.OutOfData) as error:
            raise CorruptFileError(f"{path}: no actions: {error!r}") from error


def _sorted(actions: Iterable[RecordedAction]) -> list[RecordedAction]:
    return sorted(actions, key=lambda action: (action.turns, action.path, action.port))
