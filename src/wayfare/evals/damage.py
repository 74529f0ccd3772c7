"""Find what of a run's files is not as it was written, and which episodes that concerns.

Knows nothing of the records: `wayfare.evals.coverage` certifies those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wayfare.evals.digest import is_proven
from wayfare.evals.recorder_choice import EpisodeChoice
from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.frames import read_frames
from wayfare.store.labels import LABELS_FILE, need_labels
from wayfare.store.recording import (
    ACTIONS_FILE,
    CALLS_FOLDER,
    VIDEOS_FILE,
    VIDEOS_FOLDER,
    calls_path,
    record_token,
)
from wayfare.store.recording_block import peek_block
from wayfare.store.recording_poses import POSES_FILE
from wayfare.store.recording_videos import read_listed
from wayfare.store.records import RunHeader
from wayfare.store.run import RunReader
from wayfare.store.truth import FIRINGS_FILE, Committed, read_columns, read_latest

_LOST_FIRINGS = "what each node gave, by which `wayfare compare` says where two runs part"
_LOST_ACTIONS = "the actions that were taken"
_LOST_POSES = "the poses, which a leaderboard's file is made of"
_LOST_VIDEOS = "the videos"
_LOST_CALLS = "the calls, which `wayfare replay` sends again"
_LOST_LABELS = "the info that `--by`, exports and leaderboards' files tell episodes apart by"


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A file, or folder, of a run that is damaged or missing, wholly or in part.

    `episodes` are the keys of those that it concerns, in the order of the run's list; `lost` is
    what they had there. Whatever it is, their records have their outcomes, metrics and digests.
    """

    file: str
    problem: str
    lost: str
    episodes: tuple[str, ...]


def find_damage(reader: RunReader) -> list[Damage]:
    """Return what of a run's files, besides its records, is not as it was written.

    Raises CorruptFileError where the records themselves can't be read.
    """
    latest = read_latest(reader.folder, [planned.key for planned in reader.header.episodes])
    mode = reader.header.settings.get("record", "none")
    found = [*_check_firings(reader.folder, latest), *_check_labels(reader)]
    if mode != "none":
        found += _check_blocks(reader.folder / ACTIONS_FILE, latest, _LOST_ACTIONS)
        if reader.header.submission is not None:
            found += _check_poses(reader.folder / POSES_FILE, latest)
    if mode == "frames":
        found += _check_videos(reader.folder, _choose(reader.header, latest))
    elif mode == "full":
        found += _check_calls(reader.folder, _choose(reader.header, latest))
    return found


def _check_firings(folder: Path, latest: Sequence[Committed]) -> Iterator[Damage]:
    path = folder / FIRINGS_FILE
    problem, concerned = "", []
    for entry in latest:
        try:
            if is_proven(entry.record, read_columns(folder, entry)):
                continue
            fault = f"{path}: the firings are not those that the record's digest was made of."
        except (CorruptFileError, FormatVersionError) as error:
            fault = str(error)
        problem = problem or fault
        concerned.append(entry)
    if concerned:
        yield _describe(path, problem, lost=_LOST_FIRINGS, concerned=concerned)


def _check_labels(reader: RunReader) -> Iterator[Damage]:
    try:
        need_labels(reader.folder, len(reader.header.episodes))
    except (CorruptFileError, FormatVersionError) as error:
        keys = tuple(planned.key.text for planned in reader.header.episodes)
        yield Damage(file=LABELS_FILE, problem=str(error), lost=_LOST_LABELS, episodes=keys)


def _check_blocks(path: Path, latest: Sequence[Committed], lost: str) -> Iterator[Damage]:
    """Find the episodes that have no block, though each was given one before its record."""
    whole, problem = _read_tokens(path)
    without = [entry for entry in latest if record_token(entry.record) not in whole]
    if without:
        missing = f"{path}: what it had of some episodes is not there."
        yield _describe(path, problem or missing, lost=lost, concerned=without)


def _check_poses(path: Path, latest: Sequence[Committed]) -> Iterator[Damage]:
    """Find the episodes whose poses may be lost: one that never had a pose has no block."""
    _, problem = _read_tokens(path)
    if problem:
        yield from _check_blocks(path, latest, _LOST_POSES)


def _check_videos(folder: Path, chosen: Sequence[Committed]) -> Iterator[Damage]:
    path = folder / VIDEOS_FILE
    _, problem = _read_tokens(path)
    if problem:
        yield from _check_blocks(path, chosen, _LOST_VIDEOS)
        return
    listed, root = read_listed(folder), folder / VIDEOS_FOLDER
    without = [
        entry
        for entry in chosen
        if any(
            video.file and not (root / video.file).is_file()
            for video in listed.get(record_token(entry.record), ())
        )
    ]
    if without:
        missing = f"{root}: videos that {VIDEOS_FILE} lists are not there."
        yield _describe(root, missing, lost=_LOST_VIDEOS, concerned=without)


def _check_calls(folder: Path, chosen: Sequence[Committed]) -> Iterator[Damage]:
    """Find the episodes without a file; those that are there are read when calls are replayed."""
    without = [
        entry
        for entry in chosen
        if not calls_path(folder, entry.position, record_token(entry.record)).is_file()
    ]
    if without:
        root = folder / CALLS_FOLDER
        missing = f"{root}: files are missing."
        yield _describe(root, missing, lost=_LOST_CALLS, concerned=without)


def _choose(header: RunHeader, latest: Sequence[Committed]) -> list[Committed]:
    """Return the episodes of which videos or calls were to be kept."""
    choice = EpisodeChoice.parse(header.settings.get("record_only", ""))
    return [
        entry for entry in latest if choice.may_want(entry.position) and choice.wants(entry.record)
    ]


def _read_tokens(path: Path) -> tuple[set[bytes], str]:
    """Return the tokens of the records that have a block in the file, and what is wrong with it.

    What follows the first damage counts as lost, since nothing reads beyond it.
    """
    tokens: set[bytes] = set()
    try:
        for offset, payload in read_frames(path):
            tokens.add(peek_block(payload, f"{path}: byte {offset}")[1])
    except (CorruptFileError, FormatVersionError) as error:
        return tokens, str(error)
    return tokens, ""


def _describe(path: Path, problem: str, *, lost: str, concerned: Sequence[Committed]) -> Damage:
    keys = tuple(entry.record.key.text for entry in concerned)
    return Damage(file=path.name, problem=problem, lost=lost, episodes=keys)
