"""Run a graph through Wayfare and read from its records who ran what when.

Knows nothing of what the figures are compared with.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayfare.evals.library import evaluate_async
from wayfare.evals.observer import Observer
from wayfare.evals.surroundings import Silence, Surroundings
from wayfare.store.records import EpisodeRecord, Metric
from wayfare.store.run import RunReader
from wayfare.store.summary import RunSummary

WORKSPACE = Path(__file__).resolve().parent / "workspace"


@dataclass(frozen=True)
class Span:
    """One episode: its worker, seconds since the run began, and what it came to."""

    episode: str
    worker: int
    started: float
    ended: float
    steps: int
    metrics: Mapping[str, Metric]


@dataclass(frozen=True)
class Timeline:
    """All episodes of one run."""

    spans: Sequence[Span]
    summary: RunSummary

    @property
    def digest(self) -> str:
        return self.summary.digest

    @property
    def metrics(self) -> dict[str, Mapping[str, Metric]]:
        """Return what each episode measured, by its id."""
        return {span.episode: span.metrics for span in self.spans}

    @property
    def steps(self) -> int:
        return sum(span.steps for span in self.spans)

    @property
    def makespan(self) -> float:
        return max(s.ended for s in self.spans) - min(s.started for s in self.spans)

    @property
    def releases(self) -> list[float]:
        """When each worker began, in seconds after the first: copies become ready in turn."""
        first = min(span.started for span in self.spans)
        begins: dict[int, float] = {}
        for span in self.spans:
            begins[span.worker] = min(begins.get(span.worker, span.started), span.started)
        return sorted(begin - first for begin in begins.values())

    @property
    def share_between_episodes(self) -> float:
        """Return the share of the time from a worker's first episode to its last in none."""
        idle = total = 0.0
        for worker in {span.worker for span in self.spans}:
            own = [span for span in self.spans if span.worker == worker]
            lasted = max(s.ended for s in own) - min(s.started for s in own)
            total += lasted
            idle += lasted - sum(s.ended - s.started for s in own)
        return idle / total

    @property
    def steps_per_second(self) -> float:
        """Return the speed while all workers ran: starting and ending are not in it."""
        workers = {span.worker for span in self.spans}
        begin = max(min(s.started for s in self.spans if s.worker == w) for w in workers)
        end = min(max(s.ended for s in self.spans if s.worker == w) for w in workers)
        if end <= begin:
            return self.steps / self.makespan
        return sum(_steps_within(span, begin, end) for span in self.spans) / (end - begin)


async def run_graph(
    graph: str,
    workers: int,
    settings: Mapping[str, Any],
    *,
    episodes: str = "",
    step_budget: int | None = None,
    observer: Observer | None = None,
) -> Timeline:
    """Evaluate a graph as `wayfare eval` does, with what it records by default.

    Every episode must come to its end; with a `step_budget` that may be the budget's.
    """
    with tempfile.TemporaryDirectory(prefix="wayfare-benchmark-") as out:
        run = await evaluate_async(
            graph,
            workers=workers,
            episodes=episodes,
            step_budget=step_budget,
            overrides=settings,
            workspaces=[WORKSPACE],
            out=out,
            surroundings=Surroundings(observer=observer or Silence()),
        )
        reader = RunReader(run.folder, run.header)
        spans = [_span_of(record) for record in reader.iter_records()]
        counts = run.summary.episodes
        cut = counts.truncated if step_budget is None else 0
        if counts.error or cut:
            raise RuntimeError(f"not every episode was completed: {counts}")
        return Timeline(spans, run.summary)


def _span_of(record: EpisodeRecord) -> Span:
    last = record.attempts[-1]
    return Span(
        episode=record.episode_id,
        worker=record.worker,
        started=last.started_seconds,
        ended=last.ended_seconds,
        steps=record.steps,
        metrics=record.metrics,
    )


def timed(**config: Any) -> dict[str, Any]:
    """Return the settings of the timed environment."""
    return {f"nodesets.env_timed.{name}": value for name, value in config.items()}


def schedule_longest_first(durations: Iterable[float], releases: Sequence[float]) -> float:
    """Return the end of the schedule that gives the longest to whoever is free first.

    For the durations used here no schedule ends earlier.
    """
    free = list(releases)
    heapq.heapify(free)
    end = 0.0
    for duration in sorted(durations, reverse=True):
        done = heapq.heappop(free) + duration
        heapq.heappush(free, done)
        end = max(end, done)
    return end


def _steps_within(span: Span, begin: float, end: float) -> float:
    overlap = min(span.ended, end) - max(span.started, begin)
    return span.steps * max(0.0, overlap) / max(span.ended - span.started, 1e-9)
