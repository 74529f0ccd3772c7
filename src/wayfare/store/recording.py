"""Say what a run can keep beside its results, and which recording belongs to which record.

Knows nothing of how calls are recorded.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import xxhash

from wayfare.store.records import EpisodeKey, EpisodeRecord
from wayfare.store.truth import pack_record, read_latest

RecordMode = Literal["none", "actions", "frames", "full"]

ACTIONS_FILE = "actions.frames"
VIDEOS_FILE = "videos.frames"
CALLS_FOLDER = "calls"
VIDEOS_FOLDER = "videos"
PART_SUFFIX = ".part"
"""What is still being written ends in it; what a killed run left of such is removed."""

_NAME_LENGTH = 80


def record_token(record: EpisodeRecord) -> bytes:
    """Return what ties a recording to the record that it belongs to.

    A recording that was kept for a record which never reached the disk has another one.
    """
    return xxhash.xxh3_64_digest(pack_record(record))


def calls_path(folder: Path, position: int, token: bytes) -> Path:
    """Return the file that holds the calls of the episode with this record."""
    return folder / CALLS_FOLDER / f"{position:06d}-{token.hex()}.frames"


def video_folder(position: int, episode_id: str) -> str:
    """Return the name of the folder that holds an episode's videos."""
    return f"{position:06d}-{_as_name(episode_id)}"


def video_names(path: str, port: str) -> Iterator[str]:
    """Yield names for the video of a node's port, the first one that is free being its own."""
    name = f"{_as_name(path)}.{_as_name(port)}"
    yield f"{name}.mp4"
    for number in itertools.count(2):
        yield f"{name}-{number}.mp4"


def remove_parts(folder: Path) -> None:
    """Remove what a killed run left unfinished."""
    for part in folder.glob(f"*{PART_SUFFIX}"):
        part.unlink()


def remove_strays(folder: Path, keys: Sequence[EpisodeKey]) -> None:
    """Remove the files of calls whose record was replaced or never reached the disk.

    `keys` are those of the run's list.
    """
    files = list((folder / CALLS_FOLDER).glob("*.frames"))
    if not files:
        return
    latest = read_latest(folder, keys)
    kept = {calls_path(folder, entry.position, record_token(entry.record)) for entry in latest}
    for file in files:
        if file not in kept:
            file.unlink()


def _as_name(text: str) -> str:
    """Return `text` as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text)[:_NAME_LENGTH].strip("-") or "_"
