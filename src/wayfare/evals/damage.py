"""Find what of a run's files is not as it was written, and which episodes that concerns.

Knows nothing of the records: `wayfare.evals.coverage` certifies those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wayfare.evals.digest import is_proven
from wayfare.evals.recorder_choice import EpisodeChoice
from wayfare.evals.recording_fault import find_call_fault, find_video_fault
from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.folder import SUMMARY_FILE, find_summary
from wayfare.store.frames import read_frames
from wayfare.store.labels import LABELS_FILE, find_labels
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
from wayfare.store.records import Firing, RunHeader, SubmissionRecord
from wayfare.store.resumption import DAMAGED_FILE, RESUMPTIONS_FILE, find_resumptions
from wayfare.store.run import RunReader
from wayfare.store.truth import (
    FIRINGS_FILE,
    Committed,
    read_columns,
    read_firings,
    read_latest,
)

_LOST_FIRINGS = "what each node gave, by which `wayfare compare` says where two runs part"
_LOST_ACTIONS = "the actions that were taken"
_LOST_POSES = "the poses, which a leaderboard's file is made of"
_LOST_VIDEOS = "the videos"
_LOST_CALLS = "the calls, which `wayfare replay` sends again"
_LOST_LABELS = "the info that `--by`, exports and leaderboards' files tell episodes apart by"
_LOST_SUMMARY = "what copies did since the run began or went on, and how long it took"
_LOST_RESUMPTIONS = "when and with how many workers the run went on, and over which differences"


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A file, or folder, of a run that is damaged or missing, wholly or in part.

    `episodes` are the keys of those that it concerns, in the order of the run's list, none where it
    is the run as such; `lost` is what they had there. Whatever it is, their records have their
    outcomes, metrics and digests.
    """

    file: str
    problem: str
    lost: str
    episodes: tuple[str, ...] = ()


def find_damage(reader: RunReader, *, is_thorough: bool = False) -> list[Damage]:
    """Return what of a run's files, besides its records, is not as it was written.

    Of recorded calls and videos their ends and sizes are looked at; all that they hold if
    `is_thorough`. Raises CorruptFileError where the records themselves can't be read.
    """
    latest = read_latest(reader.folder, [planned.key for planned in reader.header.episodes])
    mode = reader.header.settings.get("record", "none")
    found = [*_check_documents(reader), *_check_firings(reader.folder, latest)]
    if mode != "none":
        found += _check_blocks(reader.folder / ACTIONS_FILE, latest, _LOST_ACTIONS)
        if reader.header.submission is not None:
            found += _check_poses(reader.folder / POSES_FILE, latest, reader.header.submission)
    chosen = _choose(reader.header, latest)
    if mode == "frames":
        found += _check_videos(reader.folder, chosen, is_thorough=is_thorough)
    elif mode == "full":
        found += _check_calls(reader.folder, chosen, is_thorough=is_thorough)
    return found


def _check_documents(reader: RunReader) -> Iterator[Damage]:
    """Find what is wrong with the small files that neither records nor recordings stand in."""
    folder, keys = reader.folder, tuple(planned.key.text for planned in reader.header.episodes)
    _, labels = find_labels(folder, len(keys))
    if labels:
        yield Damage(file=LABELS_FILE, problem=labels, lost=_LOST_LABELS, episodes=keys)
    _, summary = find_summary(folder)
    if summary:
        yield Damage(file=SUMMARY_FILE, problem=summary, lost=_LOST_SUMMARY)
    _, resumptions = find_resumptions(folder)
    if resumptions:
        yield Damage(file=RESUMPTIONS_FILE, problem=resumptions, lost=_LOST_RESUMPTIONS)
    if (aside := folder / DAMAGED_FILE).exists():
        problem = f"{aside}: it was damaged when the run went on, and is kept aside since."
        yield Damage(file=DAMAGED_FILE, problem=problem, lost=_LOST_RESUMPTIONS)


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


def _check_blocks(path: Path, latest: Sequence[Committed], lost: str) -> Iterator[Damage]:
    """Find the episodes that have no block, though each was given one before its record."""
    whole, problem = _read_tokens(path)
    without = [entry for entry in latest if record_token(entry.record) not in whole]
    if without:
        missing = f"{path}: what it had of some episodes is not there."
        yield _describe(path, problem or missing, lost=lost, concerned=without)


def _check_poses(
    path: Path, latest: Sequence[Committed], submission: SubmissionRecord
) -> Iterator[Damage]:
    """Find the episodes whose poses are lost, or may be where one without a pose has no block."""
    _, problem = _read_tokens(path)
    if problem or submission.keeps_all:
        yield from _check_blocks(path, latest, _LOST_POSES)


def _check_videos(
    folder: Path, chosen: Sequence[Committed], *, is_thorough: bool
) -> Iterator[Damage]:
    path = folder / VIDEOS_FILE
    _, problem = _read_tokens(path)
    if problem:
        yield from _check_blocks(path, chosen, _LOST_VIDEOS)
        return
    listed, root = read_listed(folder), folder / VIDEOS_FOLDER

    def find_fault(entry: Committed) -> str:
        videos = (video for video in listed.get(record_token(entry.record), ()) if video.file)
        faults = (
            find_video_fault(root / video.file, video, is_thorough=is_thorough) for video in videos
        )
        return next(filter(None, faults), "")

    yield from _check_each(root, chosen, find_fault, lost=_LOST_VIDEOS)


def _check_calls(
    folder: Path, chosen: Sequence[Committed], *, is_thorough: bool
) -> Iterator[Damage]:
    def find_fault(entry: Committed) -> str:
        path = calls_path(folder, entry.position, record_token(entry.record))
        firings = _find_firings(folder, entry) if is_thorough else []
        return find_call_fault(path, firings, is_thorough=is_thorough)

    yield from _check_each(folder / CALLS_FOLDER, chosen, find_fault, lost=_LOST_CALLS)


def _check_each(
    root: Path, chosen: Sequence[Committed], find_fault: Callable[[Committed], str], *, lost: str
) -> Iterator[Damage]:
    """Find the episodes with whose files something is wrong; the first of them says what."""
    faults = [(entry, fault) for entry in chosen if (fault := find_fault(entry))]
    if faults:
        concerned = [entry for entry, _ in faults]
        yield _describe(root, faults[0][1], lost=lost, concerned=concerned)


def _find_firings(folder: Path, entry: Committed) -> list[Firing]:
    """Return an episode's firings; none where they are damaged, which is told apart."""
    try:
        return read_firings(folder, entry)
    except (CorruptFileError, FormatVersionError):
        return []


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
