"""Keep the poses of each finished episode, of which leaderboards ask for, and read them back.

Knows nothing of which ports give poses or of what leaderboards want.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from wayfare.store.frames import read_frames
from wayfare.store.recording import record_token
from wayfare.store.recording_block import pack_block, pack_value, unpack_block
from wayfare.store.recording_file import SharedAppender
from wayfare.store.records import EpisodeRecord
from wayfare.store.room import Room

POSES_FILE = "poses.frames"
_EPISODE = 1


class PoseFile:
    """A run's poses, appended episode by episode, from any thread."""

    def __init__(self, folder: Path, room: Room | None = None) -> None:
        self._file = SharedAppender(folder / POSES_FILE, room)

    def append_episode(self, token: bytes, poses: Sequence[Any]) -> None:
        """Keep an episode's poses; then the disk has them. Raises StorageWriteError."""
        self._file.append(pack_block(_EPISODE, pack_value(list(poses)), token))

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()


def read_poses(
    folder: Path, records: Sequence[EpisodeRecord]
) -> Iterator[tuple[EpisodeRecord, list[Any]]]:
    """Yield, of the records that have any, each with its episode's poses in their order.

    Raises CorruptFileError.
    """
    path = folder / POSES_FILE
    by_token = {record_token(record): record for record in records}
    for offset, payload in read_frames(path) if path.exists() else ():
        block = unpack_block(payload, f"{path}: byte {offset}")
        record = by_token.get(block.key)
        if record is not None:
            yield record, block.fields
