"""Show a run while it goes on: a live table on a terminal, else plain lines now and then.

Knows nothing of how episodes run; it is told by `evals.observer.Observer`'s methods.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from nodeset.text import tidy
from wayfare.cli.output import Text
from wayfare.cli.progress import Clock, Lane, Progress
from wayfare.fleet.errors import LAST_LINES
from wayfare.store.records import OUTCOMES, EpisodeKey, EpisodeRecord, ErrorRecord, RunHeader

REFRESHES_PER_SECOND = 4
SECONDS_PER_LINE = 5.0
MAX_LANES = 16
MAX_MESSAGE = 400
"""Characters of an error's message that its line shows; `wayfare show --json` has all of it."""


class PlainLines:
    """Prints how far the run is, at most once in SECONDS_PER_LINE, and every error."""

    def __init__(self, console: Console, clock: Clock = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._next_line_seconds = 0.0
        self._progress = Progress(clock)

    def run_started(
        self, header: RunHeader, metrics: Sequence[str], kept: Iterable[EpisodeRecord]
    ) -> None:
        """Say what begins."""
        self._progress.run_started(header, metrics, kept)
        self._next_line_seconds = self._clock() + SECONDS_PER_LINE
        episodes = describe_count(len(header.episodes), "episode")
        workers = describe_count(header.worker_count, "worker")
        stands = f", {self._progress.kept} of them kept" if self._progress.kept else ""
        self._print(f"{header.graph_name}: {episodes}{stands}, {workers}")

    def episode_started(self, worker: int, key: EpisodeKey, attempt: int) -> None:
        """Take note."""
        self._progress.episode_started(worker, key, attempt)

    def attempt_failed(self, worker: int, key: EpisodeKey, error: ErrorRecord) -> None:
        """Say which attempt failed."""
        self._progress.attempt_failed(worker, key, error)
        self._print(describe_error(key, error, will_repeat=True))

    def notice(self, text: str) -> None:
        """Say what a person should know though the run goes on."""
        self._print(f"note: {text}")

    def episode_finished(self, record: EpisodeRecord) -> None:
        """Say an error at once, and how far the run is when a line is due."""
        self._progress.episode_finished(record)
        if record.error is not None:
            self._print(describe_error(record.key, record.error))
        is_last = self._progress.finished == self._progress.total
        if is_last or self._clock() >= self._next_line_seconds:
            self._next_line_seconds = self._clock() + SECONDS_PER_LINE
            self._print(describe_progress(self._progress))

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""


class LiveTable:
    """Draws workers, outcomes and speed on a terminal for as long as it is entered.

    A thread of its own draws it, so that the run never waits for a refresh.
    """

    def __init__(self, console: Console, clock: Clock = time.monotonic) -> None:
        self._console = console
        self._progress = Progress(clock)
        self._live = Live(
            console=console,
            get_renderable=self.render,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
        )

    def run_started(
        self, header: RunHeader, metrics: Sequence[str], kept: Iterable[EpisodeRecord]
    ) -> None:
        """Make a lane for each worker."""
        self._progress.run_started(header, metrics, kept)

    def episode_started(self, worker: int, key: EpisodeKey, attempt: int) -> None:
        """Put the episode on its worker's lane."""
        self._progress.episode_started(worker, key, attempt)

    def attempt_failed(self, worker: int, key: EpisodeKey, error: ErrorRecord) -> None:
        """Print above the table which attempt failed."""
        self._progress.attempt_failed(worker, key, error)
        self._print(describe_error(key, error, will_repeat=True))

    def notice(self, text: str) -> None:
        """Print above the table what a person should know though the run goes on."""
        self._console.print(Text(f"note: {text}"))

    def episode_finished(self, record: EpisodeRecord) -> None:
        """Count the episode; print an error above the table."""
        self._progress.episode_finished(record)
        if record.error is not None:
            self._print(describe_error(record.key, record.error))

    def render(self) -> RenderableType:
        """Return the table as it stands now."""
        progress = self._progress
        if not progress.total:
            return Text("starting …", style="dim")
        bar = Table.grid()  # a bar alone ends no line
        bar.add_row(ProgressBar(total=progress.total, completed=progress.finished, width=60))
        return Group(_draw_lanes(progress), bar, Text(describe_progress(progress)))

    def _print(self, line: str) -> None:
        self._console.print(Text(line, style="red"))

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the table away; what was printed above it stays."""
        self._live.stop()


View = PlainLines | LiveTable


def open_view(console: Console) -> View:
    """Return the view that suits the console."""
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveTable(console)
    return PlainLines(console)


def describe_progress(progress: Progress) -> str:
    """Return one line: episodes by outcome, the headline metric, speed, time left."""
    counts = ", ".join(
        f"{progress.outcomes[outcome]} {outcome}"
        for outcome in OUTCOMES
        if outcome == "completed" or progress.outcomes[outcome]
    )
    parts = [f"{progress.finished}/{progress.total} episodes ({counts})"]
    if progress.repeated:
        parts.append(f"{progress.repeated} attempts repeated")
    if progress.mean is not None:
        parts.append(f"{progress.headline} {progress.mean:.3f}")
    parts.append(f"{progress.episodes_per_second:.2f} episodes/s")
    left = progress.left_seconds
    if left is not None and progress.finished < progress.total:
        parts.append(f"{describe_seconds(left)} left")
    else:
        parts.append(f"{describe_seconds(progress.elapsed_seconds)} so far")
    return " · ".join(parts)


def describe_error(key: EpisodeKey, error: ErrorRecord, *, will_repeat: bool = False) -> str:
    """Return one line that says what failed, where, and what follows from it."""
    line = f"episode {key.text}: {describe_failure(error)}"
    return f"{line.rstrip('.')}; it will be tried again" if will_repeat else line


def describe_failure(error: ErrorRecord) -> str:
    """Return one line that says what failed and where; of a dead copy, its last line too."""
    place = f" at {error.node}" if error.node else ""
    turns = f" (turn {', '.join(map(str, error.turns))})" if error.turns else ""
    first, *rest = error.message.strip().splitlines() or [""]
    if rest and first.endswith(LAST_LINES):
        first = f"{first.removesuffix(LAST_LINES)}{_choose_words(rest)}"
    return f"{error.type}{place}{turns}: {tidy(first, MAX_MESSAGE)}"


def _choose_words(lines: Sequence[str]) -> str:
    """Return the line that tells most: Python's word for a crash, else the last one.

    After its word for a crash Python prints who called whom in every thread, the innermost first;
    the thread that crashed is the current one.
    """
    said = [line.strip() for line in lines if line.strip()]
    crash = next((n for n, line in enumerate(said) if line.startswith("Fatal Python error")), None)
    if crash is None:
        return f"Its last line: {said[-1]}"
    current = (n for n, line in enumerate(said) if n > crash and line.startswith("Current thread"))
    called = (line for line in said[next(current, crash) :] if line.startswith("File "))
    return f"{said[crash]} {next(called, '')}".strip()


def describe_count(count: int, noun: str) -> str:
    """Return a count with its noun: 1 worker, 4 workers."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def describe_seconds(seconds: float) -> str:
    """Return a duration as people say it: 8.3 s, 2 min 05 s, 3 h 07 min."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


def _draw_lanes(progress: Progress) -> RenderableType:
    table = Table(title=Text(progress.graph_name), title_justify="left", box=None, pad_edge=False)
    table.add_column("worker", justify="right")
    table.add_column("episode", no_wrap=True, overflow="ellipsis", min_width=24)
    table.add_column("attempt", justify="right")
    table.add_column("running", justify="right", min_width=8)
    table.add_column("done", justify="right")
    for lane in progress.lanes[:MAX_LANES]:
        table.add_row(*_lane_cells(progress, lane))
    hidden = len(progress.lanes) - MAX_LANES
    if hidden > 0:
        done = sum(lane.finished for lane in progress.lanes[MAX_LANES:])
        table.add_row("…", f"{hidden} more workers", "", "", str(done), style="dim")
    return table


def _lane_cells(progress: Progress, lane: Lane) -> tuple[str, Text, str, str, str]:
    key = lane.key  # the run may change it while this thread draws
    if key is None:
        return str(lane.worker), Text("idle", style="dim"), "", "", str(lane.finished)
    name = "/".join(part for part in (key.scene_id, key.id) if part)
    repeat = f" (repeat {key.repeat})" if key.repeat else ""
    seconds = describe_seconds(progress.lane_seconds(lane))
    return str(lane.worker), Text(name + repeat), str(lane.attempt), seconds, str(lane.finished)
