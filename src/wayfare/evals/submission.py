"""Turn a run into the file that its environment's leaderboard takes.

Knows nothing of the formats, which `nodeset.submission` has, or of where the file goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodeset.submission import FORMATS, SubmissionError, Trajectory
from wayfare.evals.errors import SetupError
from wayfare.store.labels import read_labels
from wayfare.store.recording_poses import read_poses
from wayfare.store.records import EpisodeRecord, PlannedEpisode, SubmissionRecord
from wayfare.store.resumption import resume_command
from wayfare.store.run import RunReader

MAX_NAMED = 5


class ExportError(SetupError):
    """A run can't be exported as it is asked to; the message says why and what helps."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A leaderboard's file: its text, its usual suffix, what the one who sends it should know."""

    text: str
    suffix: str
    notes: tuple[str, ...]


def make_submission(reader: RunReader, *, repeat: int | None = None) -> Submission:
    """Return the file of a run that is complete; the split's ground truth is not needed.

    `repeat` says which one of several is sent. Raises ExportError.
    """
    chosen = _need_submission(reader)
    planned = _choose_episodes(reader, repeat)
    records = {record.key: record for record in reader.records()}
    _refuse_missing(reader, [entry for entry in planned if entry.key not in records])
    kept = [records[entry.key] for entry in planned]
    trajectories = _gather(reader, planned, kept)
    try:
        text = FORMATS[chosen.format].write(trajectories)
    except SubmissionError as error:
        raise ExportError(f"run {reader.header.run_id} is no submission: {error}.") from error
    return Submission(text, FORMATS[chosen.format].suffix, tuple(_list_notes(reader, kept)))


def _need_submission(reader: RunReader) -> SubmissionRecord:
    header = reader.header
    if header.submission is None:
        raise ExportError(
            f"run {header.run_id} is of an environment without a leaderboard's format: its "
            f"get_eval_metadata() has no 'submission' of {', '.join(FORMATS)}."
        )
    if header.submission.format not in FORMATS:
        raise ExportError(
            f"run {header.run_id} has the submission format {header.submission.format!r}; known "
            f"are {', '.join(FORMATS)}."
        )
    return header.submission


def _choose_episodes(reader: RunReader, repeat: int | None) -> list[PlannedEpisode]:
    header = reader.header
    if repeat is None and header.repeats > 1:
        raise ExportError(
            f"run {header.run_id} has each episode {header.repeats} times, a leaderboard takes it "
            f"once; choose one with --repeat 0 to {header.repeats - 1}."
        )
    number = repeat or 0
    if not 0 <= number < header.repeats:
        raise ExportError(
            f"--repeat is {number}; run {header.run_id} has the repeats 0 to {header.repeats - 1}."
        )
    planned = [entry for entry in header.episodes if entry.key.repeat == number]
    twice = [name for name, n in Counter(entry.key.id for entry in planned).items() if n > 1]
    if twice:
        raise ExportError(
            f"run {header.run_id} has {_name(twice)} in several scenes; a leaderboard tells "
            f"episodes by their ids alone."
        )
    return planned


def _refuse_missing(reader: RunReader, missing: Sequence[PlannedEpisode]) -> None:
    if missing:
        raise ExportError(
            f"run {reader.header.run_id} is incomplete: {len(missing)} episodes are missing, and a "
            f"leaderboard takes all of them; `{resume_command(reader.folder)}` goes on."
        )


def _gather(
    reader: RunReader, planned: Sequence[PlannedEpisode], records: Sequence[EpisodeRecord]
) -> list[Trajectory]:
    poses = {record.key: found for record, found in read_poses(reader.folder, records)}
    without = [record.key.id for record in records if not poses.get(record.key)]
    if without:
        raise ExportError(_describe_poseless(reader, without))
    labels = read_labels(reader.folder, len(reader.header.episodes))
    rows = {entry.key: n for n, entry in enumerate(reader.header.episodes)}
    return [
        Trajectory(
            entry.key.id,
            poses[entry.key],
            has_stopped=record.outcome == "completed",
            labels={name: column[rows[entry.key]] for name, column in labels.items()},
        )
        for entry, record in zip(planned, records, strict=True)
    ]


def _describe_poseless(reader: RunReader, without: Sequence[str]) -> str:
    header, run = reader.header, f"run {reader.header.run_id}"
    if header.settings.get("record") == "none":
        return (
            f"{run} has no poses: it was run with --record none; run it again without that option."
        )
    ports = ", ".join(header.submission.poses) if header.submission else ""
    return (
        f"{run} has no poses of {_name(without)}, not even a start: they come from the ports "
        f"{ports}; let the graph call one of these tools in each episode, or run those that ended "
        f"in errors again with `{resume_command(reader.folder)} --retry-errors`."
    )


def _list_notes(reader: RunReader, records: Sequence[EpisodeRecord]) -> Iterator[str]:
    failed = [record.key.id for record in records if record.outcome == "error"]
    if failed:
        yield f"{_name(failed)} ended in an error: the file has the way until then."
    if reader.header.selection:
        yield (
            f"the run is of {len(records)} episodes of split {reader.header.split!r} that "
            f"--episodes selected; a leaderboard takes the whole split."
        )


def _name(episodes: Sequence[str]) -> str:
    shown = ", ".join(map(repr, episodes[:MAX_NAMED]))
    more = len(episodes) - MAX_NAMED
    return f"episode{'s' if len(episodes) > 1 else ''} {shown}" + (
        f" and {more} more" if more > 0 else ""
    )
