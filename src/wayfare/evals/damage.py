"""Find what of a run's files is not as it was written, and which episodes that concerns.

Knows nothing of what records prove: `wayfare.evals.coverage` certifies that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from wayfare.evals.damage_block import Blocks, check_actions, check_blocks
from wayfare.evals.damage_finding import Damage, describe_damage, describe_surplus
from wayfare.evals.damage_surplus import find_surplus_firings
from wayfare.evals.digest import is_proven
from wayfare.evals.recorder_choice import EpisodeChoice
from wayfare.evals.recording_fault import find_call_fault, find_video_fault
from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.folder import SUMMARY_FILE, find_summary
from wayfare.store.labels import LABELS_FILE, find_labels
from wayfare.store.recording import (
    ACTIONS_FILE,
    CALLS_FOLDER,
    VIDEOS_FILE,
    VIDEOS_FOLDER,
    calls_path,
    record_token,
)
from wayfare.store.recording_poses import POSES_FILE
from wayfare.store.recording_videos import read_listed
from wayfare.store.records import Firing, RunHeader
from wayfare.store.resumption import DAMAGED_FILE, RESUMPTIONS_FILE, find_resumptions
from wayfare.store.run import RunReader
from wayfare.store.truth import (
    EPISODES_FILE,
    FIRINGS_FILE,
    Committed,
    Salvage,
    read_columns,
    read_firings,
)

_LOST_RECORDS = "outcomes, metrics and digests"
_LOST_FIRINGS = "what each node gave, by which `wayfare compare` says where two runs part"
_LOST_ACTIONS = "the actions that were taken"
_LOST_POSES = "the poses, which a leaderboard's file is made of"
_LOST_VIDEOS = "the videos"
_LOST_CALLS = "the calls, which `wayfare replay` sends again"
_LOST_LABELS = "the info that `--by`, exports and leaderboards' files tell episodes apart by"
_LOST_SUMMARY = "what copies did since the run began or went on, and how long it took"
_LOST_RESUMPTIONS = "when and with how many workers the run went on, and over which differences"


def find_damage(reader: RunReader, found: Salvage, *, is_thorough: bool = False) -> list[Damage]:
    """Return what of a run's files is not as it was written; `found` are its records.

    Of recorded calls and videos their ends and sizes are looked at; all that they hold if
    `is_thorough`.
    """
    latest, folder = found.latest, reader.folder
    mode, is_settled = reader.header.settings.get("record", "none"), _is_settled(reader)
    damage = [*_check_records(reader, found), *_check_documents(reader)]
    damage += _check_firings(folder, found, is_settled=is_settled)
    if mode != "none":
        damage += check_actions(folder / ACTIONS_FILE, latest, _LOST_ACTIONS, is_settled=is_settled)
        if (terms := reader.header.submission) is not None:
            path, keeps_all = folder / POSES_FILE, terms.keeps_all
            damage += check_blocks(path, latest, lost=_LOST_POSES, must_have=keeps_all)
    chosen = _choose(reader.header, latest)
    if mode == "frames":
        damage += _check_videos(folder, chosen, is_thorough=is_thorough)
    elif mode == "full":
        damage += _check_calls(folder, chosen, is_thorough=is_thorough)
    return damage


def _is_settled(reader: RunReader) -> bool:
    """Return whether the run went to its end in one go, no attempt being repeated.

    Then nobody left anything in its files that does not count.
    """
    summary = reader.summary()
    if summary is None or (reader.folder / RESUMPTIONS_FILE).exists():
        return False
    counts = summary.episodes
    return counts.attempts == counts.finished == counts.total


def _check_records(reader: RunReader, found: Salvage) -> Iterator[Damage]:
    """Find the episodes that have no record that can be read, if any is damaged."""
    if not found.problems:
        return
    first, *rest = found.problems
    more = f" (and {len(rest)} more such problems)" if rest else ""
    recorded = {entry.position for entry in found.entries}
    planned = enumerate(reader.header.episodes)
    without = tuple(entry.key.text for n, entry in planned if n not in recorded)
    summary = reader.summary()
    had_all = summary is not None and summary.episodes.finished == summary.episodes.total
    lost = _LOST_RECORDS if had_all else f"{_LOST_RECORDS} of those that had ended"
    problem = f"{first}{more}"
    yield Damage(
        file=EPISODES_FILE, problem=problem, lost=lost if without else "", episodes=without
    )


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


def _check_firings(folder: Path, found: Salvage, *, is_settled: bool) -> Iterator[Damage]:
    path = folder / FIRINGS_FILE
    problem, concerned = "", []
    for entry in found.latest:
        try:
            if is_proven(entry.record, read_columns(folder, entry)):
                continue
            fault = f"{path}: the firings are not those that the record's digest was made of."
        except (CorruptFileError, FormatVersionError) as error:
            fault = str(error)
        problem = problem or fault
        concerned.append(entry)
    surplus = _check_surplus(path, found, concerned, is_settled=is_settled)
    if surplus is not None:
        yield surplus
    elif concerned:
        yield describe_damage(path, problem, lost=_LOST_FIRINGS, concerned=concerned)


def _check_surplus(
    path: Path, found: Salvage, concerned: Sequence[Committed], *, is_settled: bool
) -> Damage | None:
    """Return what stands in the file of firings that the run did not write.

    `concerned` are the episodes whose firings are not where their records look for them. Where
    records are damaged nobody knows which firings are theirs.
    """
    if found.problems:
        return None
    try:
        surplus = find_surplus_firings(path, found.entries, is_settled=is_settled)
    except (CorruptFileError, FormatVersionError) as error:
        return None if concerned else Damage(file=path.name, problem=str(error), lost="")
    if not surplus.spans:
        return None
    problem = describe_surplus(path, surplus)
    if surplus.is_shifted:
        return describe_damage(path, problem, lost=_LOST_FIRINGS, concerned=concerned)
    named = [entry for entry in found.latest if entry.position in surplus.positions]
    return describe_damage(path, problem, lost="", concerned=named)


def _check_videos(
    folder: Path, chosen: Sequence[Committed], *, is_thorough: bool
) -> Iterator[Damage]:
    path = folder / VIDEOS_FILE
    yield from check_blocks(path, chosen, lost=_LOST_VIDEOS, must_have=False)
    if Blocks.read(path).problem:
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
        yield describe_damage(root, faults[0][1], lost=lost, concerned=concerned)


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
