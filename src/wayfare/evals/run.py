"""Look at a run from Python: its summary, its episodes as a table, what fired in an episode.

Knows nothing of how a run is made.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, overload

from wayfare.evals.breakdown import Part, break_down_run
from wayfare.evals.path import read_path
from wayfare.evals.report import EpisodeRow, list_episodes, summarise_run
from wayfare.evals.table import to_arrow, to_pandas
from wayfare.graph.document import GraphDocument, read_graph
from wayfare.graph.fault import suggest
from wayfare.store.errors import StoreError
from wayfare.store.folder import find_summary
from wayfare.store.recording_actions import RecordedAction
from wayfare.store.records import EpisodeKey, EpisodeRecord, Firing, RunHeader
from wayfare.store.run import RunReader
from wayfare.store.summary import MetricSummary, RunStatus, RunSummary

DEFAULT_RUNS = Path("runs")


class Episodes(Sequence[EpisodeRow]):
    """The finished episodes of a run, sorted by key: a sequence, and a table."""

    def __init__(self, rows: Sequence[EpisodeRow]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int) -> EpisodeRow: ...
    @overload
    def __getitem__(self, index: slice) -> Episodes: ...
    def __getitem__(self, index: int | slice) -> EpisodeRow | Episodes:
        if isinstance(index, slice):
            return Episodes(self._rows[index])
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[EpisodeRow]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"<{len(self)} episodes>"

    def to_arrow(self) -> Any:
        """Return a `pyarrow.Table`; see `wayfare.evals.table` for its columns."""
        return to_arrow(self._rows)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`; see `wayfare.evals.table` for its columns."""
        return to_pandas(self._rows)


@dataclass(frozen=True, slots=True)
class Run:
    """One run as it stood when it was opened.

    `summary` holds all that `wayfare show` prints, `header` what the run was about to do.
    `problem` says what is wrong with the summary's file, if it is damaged: `summary` was made from
    the run's records then, without what its copies did.
    """

    folder: Path
    header: RunHeader
    summary: RunSummary
    _records: Callable[[], Sequence[EpisodeRecord]] = field(compare=False, repr=False)
    """Reads the finished episodes, which may be many, when somebody asks for them."""
    problem: str = ""

    @classmethod
    def open(cls, run: str | Path, out: Path | str | None = None) -> Self:
        """Open a run by its id in the folder `out` (default: `runs`), or by its own folder.

        A run that is under way can be opened too. Raises StoreError if there is none.
        """
        reader = RunReader.open(run, DEFAULT_RUNS if out is None else read_path(out, "out"))
        records = functools.cache(reader.records)
        if reader.summary() is None:
            records()  # it is under way: later there will be more
        _, problem = find_summary(reader.folder)
        return cls(reader.folder, reader.header, summarise_run(reader), records, problem)

    @property
    def id(self) -> str:
        """Return the run's id, which is its folder's name."""
        return self.header.run_id

    @property
    def status(self) -> RunStatus:
        """Return whether all episodes ended (`done`)."""
        return self.summary.status

    @property
    def digest(self) -> str:
        """Return what two runs have in common whose episodes went the same way."""
        return self.summary.digest

    @property
    def metrics(self) -> Mapping[str, MetricSummary]:
        """Return each metric's mean with its interval, by name."""
        return self.summary.metrics

    @property
    def graph(self) -> GraphDocument:
        """Return the graph that ran."""
        return read_graph(self.header.graph, f"run {self.id}")

    @property
    def episodes(self) -> Episodes:
        """Return the finished episodes."""
        return Episodes(list_episodes(self._records()))

    def by(self, key: str) -> Mapping[str, Part]:
        """Return counts and metrics apart: by scene, group, split, repeat, outcome or info key.

        Raises UnknownKeyError, and StoreError for an info key where the labels are lost.
        """
        return break_down_run(self.folder, self.header, self._records(), key=key).parts

    def trajectory(self, episode: str | EpisodeRow | EpisodeKey) -> list[Firing]:
        """Return what fired in an episode, by turns and path: `path`, `turns`, `digest`.

        `episode` is a row, its key, or an id that only one episode has. Raises StoreError.
        """
        return RunReader(self.folder, self.header).firings(self._find(episode))

    def actions(self, episode: str | EpisodeRow | EpisodeKey) -> list[RecordedAction]:
        """Return what reached the action ports in an episode, by turns and path.

        Raises NotRecordedError for a run with `record="none"`, StoreError as `trajectory` does.
        """
        return RunReader(self.folder, self.header).actions(self._find(episode))

    def __repr__(self) -> str:
        counts = self.summary.episodes
        return f"<Run {self.id}: {self.status}, {counts.finished} of {counts.total} episodes>"

    def _find(self, episode: str | EpisodeRow | EpisodeKey) -> EpisodeKey:
        if isinstance(episode, EpisodeKey):
            return episode
        name = episode.key if isinstance(episode, EpisodeRow) else episode
        by_text = {record.key.text: record.key for record in self._records()}
        if name in by_text:
            return by_text[name]
        same_id = [record.key for record in self._records() if record.episode_id == name]
        if len(same_id) == 1:
            return same_id[0]
        if same_id:
            keys = ", ".join(key.text for key in same_id[:5])
            raise StoreError(
                f"run {self.id} has {len(same_id)} episodes with the id {name!r}; give the key "
                f"of one: {keys}."
            )
        raise StoreError(
            f"run {self.id} has no finished episode {name!r}. {suggest(name, by_text)}"
        )
