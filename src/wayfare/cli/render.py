"""Draw what a run came to, and lists of runs and episodes, as tables for people.

Knows nothing of how the numbers were made.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from wayfare.cli.copies_view import describe_shutdown, describe_uncounted, render_nodesets
from wayfare.cli.live import describe_count, describe_failure, describe_seconds
from wayfare.cli.metric_view import (
    NOTHING,
    add_columns,
    describe_coverage,
    describe_denominators,
    format_number,
    render_metrics,
)
from wayfare.cli.output import Text
from wayfare.evals.report import EpisodeRow
from wayfare.store.listing import RunEntry
from wayfare.store.records import Metric
from wayfare.store.resumption import Resumption, resume_command
from wayfare.store.summary import (
    EpisodeCounts,
    Invariance,
    RecordingReport,
    RunSummary,
)

MAX_FAILED_VIDEOS = 5
MAX_ERRORS = 20
MAX_KEY_WIDTH = 32
"""Columns of a part of an episode's key that others give way to."""
_KEY_PARTS = ("scene", "id", "repeat")
_GO_ON = "to go on"
_WHOLE = ("digest", "run", _GO_ON)


def render_summary(
    summary: RunSummary, resumptions: Sequence[Resumption] = (), *, is_running: bool = False
) -> RenderableType:
    """Return the tables and lines that end `wayfare eval` and begin `wayfare show`."""
    parts = [*render_metrics(summary), *render_nodesets(summary.nodesets)]
    workers = describe_count(summary.worker_count, "worker")
    status = f"{summary.status} (under way)" if is_running else summary.status
    lines = {
        "status": f"{status}, {describe_seconds(summary.elapsed_s)}, {workers}",
        "episodes": "\n".join(
            [describe_outcomes(summary.episodes), *describe_denominators(summary)]
        ),
        "invariance": describe_invariance(summary.invariance),
        "digest": summary.digest,
        "run": summary.out,
    }
    if summary.coverage is not None:
        lines["coverage"] = describe_coverage(summary.coverage, summary.episodes)
    if summary.recording.mode != "none":
        lines["recorded"] = describe_recording(summary.recording)
    if resumptions:
        lines["resumed"] = describe_resumptions(resumptions)
    if uncounted := describe_uncounted(summary):
        lines["not counted"] = uncounted
    if shutdown := describe_shutdown(summary.nodesets):
        lines["shutdown"] = shutdown
    if summary.status in ("incomplete", "failed") and not is_running:
        lines[_GO_ON] = resume_command(summary.out)
    parts += _lines(lines)
    return Group(*parts)


def render_runs(entries: Iterable[RunEntry]) -> RenderableType:
    """Return the table of `wayfare runs`; an id, which is there to be copied, is never folded."""
    entries = list(entries)
    table = Table(box=None, pad_edge=False, header_style="bold")
    longest = max((len(entry.folder.name) for entry in entries), default=0)
    table.add_column("run", no_wrap=True, min_width=longest)
    add_columns(table, "status", "graph", right=("workers", "episodes", "errors"))
    for entry in entries:
        if entry.header is None:
            table.add_row(Text(entry.folder.name), entry.status, Text(entry.problem), "", "", "")
            continue
        table.add_row(
            Text(entry.folder.name),
            entry.status,
            Text(entry.header.graph_name),
            describe_workers(entry.worker_counts),
            f"{entry.finished}/{entry.total}" if entry.total is not None else NOTHING,
            str(entry.summary.episodes.error) if entry.summary else NOTHING,
        )
    problems = [
        Text(f"{entry.folder.name}: {entry.problem}") for entry in entries if entry.has_damage
    ]
    open_runs = [entry for entry in entries if entry.can_go_on]
    newest = [Text(f"the newest incomplete run: {entry.resume}") for entry in open_runs[:1]]
    lines = [*problems, *newest]
    return Group(table, *([Text(), *lines] if lines else []))


def describe_workers(counts: Sequence[int]) -> str:
    """Return how many workers a run's parts had, those in a row that had as many as one."""
    return ", ".join(str(count) for count, _ in itertools.groupby(counts))


def render_episodes(rows: Iterable[EpisodeRow]) -> RenderableType:
    """Return the table of episodes of `wayfare show`; above it what all their keys share."""
    rows = list(rows)
    names = sorted({name for row in rows for name in row.metrics})
    keys = [_split_key(row) for row in rows]
    heads = dict.fromkeys(head for head, _ in keys)
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = [part for part in _KEY_PARTS if part == "id" or any(key[part] for _, key in keys)]
    for part in shown:
        longest = max((len(key[part]) for _, key in keys), default=0)
        table.add_column(part, overflow="fold", min_width=min(longest, MAX_KEY_WIDTH))
    add_columns(table, "outcome", right=("attempts", "worker", "steps", "seconds", *names))
    for row, (_, key) in zip(rows, keys, strict=True):
        table.add_row(
            *(Text(key[part]) for part in shown),
            row.outcome,
            str(row.attempts),
            str(row.worker),
            str(row.steps),
            f"{row.seconds:.2f}",
            *(_metric_cell(row.metrics.get(name)) for name in names),
        )
    return Group(*(Text(f"episodes of {head}") for head in heads), table, Text())


def render_errors(rows: Iterable[EpisodeRow]) -> Iterator[RenderableType]:
    """Yield a line for each of the first episodes that ended in `error`, and how many more did."""
    failed = [row for row in rows if row.error is not None]
    for row in failed[:MAX_ERRORS]:
        key = _split_key(row)[1]
        name = "/".join(part for part in key.values() if part)
        if row.error is not None:
            yield Text(f"episode {name}: {describe_failure(row.error)}")
    if len(failed) > MAX_ERRORS:
        yield Text(f"and {len(failed) - MAX_ERRORS} more, which --json lists")
    if failed:
        yield Text()


def _split_key(row: EpisodeRow) -> tuple[str, dict[str, str]]:
    """Return what the keys of a run share, and the rest by name; repeat 0 is not worth a word."""
    head, _, _, repeat = row.key.rsplit("/", 3)
    repeat = "" if repeat == "0" else repeat
    return head, {"scene": row.scene_id, "id": row.episode_id, "repeat": repeat}


def describe_outcomes(counts: EpisodeCounts) -> str:
    """Return one line that says what the means are over, errors in the denominator included."""
    outcomes = f"{counts.completed} completed, {counts.truncated} truncated, {counts.error} error"
    line = f"{counts.total}: {outcomes}"
    if counts.finished < counts.total:
        line = f"{counts.finished} of {counts.total} finished: {outcomes}"
    if counts.attempts > counts.finished:
        line += f"; {counts.attempts} attempts"
    if counts.retried:
        line += f". {describe_retries(counts)}"
    if counts.error:
        scored = counts.completed + counts.truncated
        line += f". The means are over the {scored} of {counts.finished} that did not end in error"
    return line


def describe_retries(counts: EpisodeCounts) -> str:
    """Return how many episodes were tried again, and how that may bias what the run shows."""
    episodes = describe_count(counts.retried, "episode")
    return (
        f"{episodes} took more than one attempt: if what ended the earlier ones depends on how an "
        f"episode goes, the means lean towards where it does not"
    )


def describe_resumptions(resumptions: Sequence[Resumption]) -> str:
    """Return how often a run went on, and over which differences it was forced to."""
    counts = [resumption.worker_count for resumption in resumptions]
    workers = "1 worker" if set(counts) == {1} else f"{describe_workers(counts)} workers"
    count = f"{describe_count(len(resumptions), 'time')}, with {workers}"
    forced = [line for resumption in resumptions for line in resumption.forced]
    return "\n".join([f"{count}{'; forced over:' if forced else ''}", *forced])


def describe_invariance(invariance: Invariance) -> str:
    """Return one line that says whether the number of workers is claimed to change nothing."""
    if invariance.claimed:
        return "claimed: the number of workers changes no result"
    return f"not claimed: the batch size may change the last bits of {', '.join(invariance.tools)}"


def describe_recording(recording: RecordingReport) -> str:
    """Return what was recorded, and the first videos that could not be made with their reasons."""
    only = f" of {recording.only}" if recording.only else ""
    line = f"{recording.mode}{only}"
    if recording.videos:
        line += f", {describe_count(recording.videos, 'video')}"
    if not recording.failed:
        return line
    shown = [
        f"{video.key} {video.node}.{video.port}: {video.reason}"
        for video in recording.failed[:MAX_FAILED_VIDEOS]
    ]
    more = len(recording.failed) - len(shown)
    rest = [f"and {more} more, which `wayfare show --json` lists"] if more else []
    return "\n".join([f"{line}, {len(recording.failed)} failed:", *shown, *rest])


def _metric_cell(value: Metric | Mapping[str, str] | None) -> Text:
    if value is None:
        return Text(NOTHING)
    if isinstance(value, Mapping):
        return Text(value["undefined"], style="dim")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    return Text(str(value) if isinstance(value, int) else format_number(value))


def _lines(lines: Mapping[str, str]) -> Iterator[RenderableType]:
    """Yield the lines, folded at words; what is there to be copied stays whole."""
    yield Text()
    width = max(len(name) for name in lines)
    for name, line in lines.items():
        if name in _WHOLE:
            yield Text.assemble(
                (f"{name:<{width}}", "bold"), f"  {line}", overflow="ignore", no_wrap=True
            )
            continue
        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold", no_wrap=True, min_width=width)
        table.add_column(overflow="fold")
        table.add_row(name, Text(line))
        yield table
