"""Open a run for its episodes: a new one, or what is left of one that ended early.

Knows nothing of how episodes run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from wayfare.evals.episodes import EpisodePlan, Listed, plan_episodes
from wayfare.evals.header import EvalRequest
from wayfare.store.labels import gather_labels
from wayfare.store.records import Attempt, EpisodeKey, EpisodeRecord, RunHeader
from wayfare.store.room import Room
from wayfare.store.summary import NodesetReport
from wayfare.store.writer import RunWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run that may begin its episodes."""

    writer: RunWriter
    header: RunHeader
    """The run's, with the workers of now."""
    plan: EpisodePlan
    """What is to be run; the header's list may be longer."""
    earlier: Mapping[EpisodeKey, Sequence[Attempt]] = field(default_factory=dict)
    """Attempts that were made already at episodes of the plan."""
    kept: Iterable[EpisodeRecord] = ()
    """The episodes that are finished and stay as they are."""
    counted: Mapping[str, NodesetReport] = field(default_factory=dict)
    """What copies did in earlier parts of the run, but for `uncounted_parts` of them."""
    uncounted_parts: int = 0
    worked_seconds: float = 0.0
    """How long the run took by now."""


class NewRun:
    """A run that begins now, in a folder of its own in `out`."""

    def __init__(self, request: EvalRequest, out: Path, room: Room) -> None:
        self._request = request
        self._out = out
        self._room = room

    def plan(self, environment: str, split: str, listed: Sequence[Listed]) -> EpisodePlan:
        """Return the run's fixed list of episodes. Raises SelectionError."""
        request = self._request
        return plan_episodes(
            environment, split, listed, selection=request.selection, repeats=request.repeats
        )

    @contextmanager
    def open(self, header: RunHeader, plan: EpisodePlan) -> Iterator[OpenRun]:
        """Make the run's folder and hold it open. Raises StorageWriteError."""
        labels = gather_labels(plan.infos)
        with RunWriter.create(self._out, header, labels=labels, room=self._room) as writer:
            yield OpenRun(writer=writer, header=writer.header, plan=plan)
