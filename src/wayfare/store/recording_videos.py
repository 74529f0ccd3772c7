"""List the videos of a run, those that failed with their reason.

Knows nothing of how videos are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import file_digest
from pathlib import Path

import xxhash
from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from wayfare.store.errors import CorruptFileError
from wayfare.store.frames import read_frames
from wayfare.store.recording import VIDEOS_FILE, record_token
from wayfare.store.recording_block import pack_block, pack_value, unpack_block
from wayfare.store.recording_file import SharedAppender
from wayfare.store.records import STRICT_FIELDS, EpisodeKey, EpisodeRecord
from wayfare.store.room import Room

_VIDEOS = 1


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT_FIELDS)
class VideoRecord:
    """One video of an episode: what a node's port gave, frame by frame.

    `file` stands in the run's folder of videos; it is "" where there is none, for the `reason`.
    `size_bytes` and `file_hash` (hex) tell it from others; older lists have neither.
    """

    key: EpisodeKey
    path: str
    port: str
    file: str = ""
    frames: int = 0
    width: int = 0
    height: int = 0
    size_bytes: int = 0
    file_hash: str = ""
    reason: str = ""

    @property
    def is_failed(self) -> bool:
        """Return whether there is no video."""
        return not self.file


_RECORDS: TypeAdapter[tuple[VideoRecord, ...]] = TypeAdapter(tuple[VideoRecord, ...])


class VideoList:
    """A run's list of videos, appended episode by episode, from any thread."""

    def __init__(self, folder: Path, room: Room | None = None) -> None:
        self._file = SharedAppender(folder / VIDEOS_FILE, room)

    def append(self, token: bytes, videos: Sequence[VideoRecord]) -> None:
        """List the videos of the episode whose record has this token."""
        fields = _RECORDS.dump_python(tuple(videos))
        self._file.append(pack_block(_VIDEOS, pack_value(fields), token))

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()


def hash_file(path: Path) -> str:
    """Return the hash (hex) that tells one video's file from all others. Raises OSError."""
    with path.open("rb") as file:
        return file_digest(file, xxhash.xxh3_128).hexdigest()


def read_videos(folder: Path, records: Iterable[EpisodeRecord]) -> list[VideoRecord]:
    """Return the videos that belong to these records, in their order."""
    found = read_listed(folder)
    return [video for record in records for video in found.get(record_token(record), ())]


def read_listed(folder: Path) -> dict[bytes, tuple[VideoRecord, ...]]:
    """Return the videos of every record by its token, those too that have none."""
    path = folder / VIDEOS_FILE
    found: dict[bytes, tuple[VideoRecord, ...]] = {}
    if not path.exists():
        return found
    for offset, payload in read_frames(path):
        where = f"{path}: byte {offset}"
        block = unpack_block(payload, where)
        try:
            found[block.key] = _RECORDS.validate_python(block.fields)
        except ValidationError as error:
            raise CorruptFileError(f"{where}: no list of videos: {error}") from error
    return found
