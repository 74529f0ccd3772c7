"""Let a run go on that ended early: is it the same run, what is left of it, what stands.

Knows nothing of how episodes run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from nodeset.digest import digest_value
from wayfare.evals.comparison_header import (
    Difference,
    find_agent_differences,
    find_definition_differences,
    find_term_differences,
    graph_of,
)
from wayfare.evals.counters import count_earlier_parts
from wayfare.evals.episodes import EpisodePlan, Listed
from wayfare.evals.errors import ResumeRefusedError
from wayfare.evals.header import EvalRequest
from wayfare.evals.opening import OpenRun
from wayfare.evals.report import summarise_run
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.store.errors import CorruptFileError, StorageWriteError
from wayfare.store.folder import write_summary
from wayfare.store.labels import gather_labels, read_labels, write_labels
from wayfare.store.records import Attempt, EpisodeKey, EpisodeRecord, PlannedEpisode, RunHeader
from wayfare.store.resumption import Resumption
from wayfare.store.run import RunReader
from wayfare.store.summary import RunSummary
from wayfare.store.writer import RunWriter

_NO_DIFFERENCE = "version of platform"
"""The kernel's number is in it, which changes no result."""


class ResumedRun:
    """A run that goes on: what is left of it, and what is asked of it now.

    `force` lets it go on with an agent or a list of episodes that has changed meanwhile;
    `retry_errors` runs all episodes again that ended in an error, not only those whose copies died.
    """

    def __init__(self, writer: RunWriter, *, force: bool = False, retry_errors: bool = False):
        self.writer = writer
        self._force = force
        self._retry_errors = retry_errors
        self._left = writer.list_left(retry_errors=retry_errors)

    @property
    def header(self) -> RunHeader:
        """Return what the run was about to do when it began."""
        return self.writer.header

    def find_workspaces(self, given: Sequence[Path]) -> list[Path]:
        """Return the workspaces to take nodesets from.

        Those `given`; where they lack one of the run's, also those in which the run found its own,
        as far as they are still there. Raises WorkspaceError.
        """
        registry = WorkspaceComponentRegistry(given)
        if not registry.find_missing(graph_of(self.header)):
            return list(given)
        known = [Path(folder) for folder in self.header.settings.get("workspaces", ())]
        return [*given, *(folder for folder in known if folder.is_dir())]

    @property
    def is_over(self) -> bool:
        """Return whether nothing is left to run."""
        return not self._left

    def plan(self, environment: str, split: str, listed: Sequence[Listed]) -> EpisodePlan:
        """Return the run's whole list, each episode where the environment lists it now.

        Raises ResumeRefusedError for an episode that it does not list any more.
        """
        list_hash = digest_value([dict(episode) for episode in listed]).hex()
        planned = self.header.episodes
        if any(entry.key.list_hash != list_hash for entry in planned):
            planned = self._find_again(listed)
        is_ordered = "," in self.header.selection
        return EpisodePlan(environment, split, list_hash, listed, planned, is_ordered)

    @contextmanager
    def open(self, now: RunHeader, plan: EpisodePlan) -> Iterator[OpenRun]:
        """Write down that the run goes on, and give what is left of it.

        `now` is the header that the run would have if it began now. Raises ResumeRefusedError,
        naming every difference, unless it is the same run or `force` is given.
        """
        differences = self._find_differences(now, plan)
        if differences and not self._force:
            raise ResumeRefusedError(_describe(self.header, differences))
        note = self._note(now, differences)
        self.writer.begin_again(note, self._left)
        self._restore_labels(plan)
        claims = {**self.header.claims, **now.claims}
        yield OpenRun(
            writer=self.writer,
            header=replace(self.header, worker_count=now.worker_count, claims=claims),
            plan=replace(plan, planned=tuple(plan.planned[place] for place in self._left)),
            earlier=self._earlier_attempts(),
            kept=self._kept_records(),
            counted=note.counted,
            uncounted_parts=note.uncounted_parts,
            worked_seconds=self.writer.worked_seconds,
        )

    def check_same(self, request: EvalRequest) -> None:
        """Raise ResumeRefusedError if the run ran something else, unless `force` is given.

        For a run that `is_over`: it compares what a header can say without starting anything.
        """
        settings = {**self.header.settings, "step_budget": request.rules.step_budget}
        now = replace(self.header, graph=request.document.to_json(), settings=settings)
        differences = find_agent_differences(self.header, now)
        if differences and not self._force:
            raise ResumeRefusedError(_describe(self.header, differences))

    def end(self) -> RunSummary:
        """Return the summary of a run that `is_over`, written down where the disk takes it."""
        summary = summarise_run(RunReader(self.writer.folder, self.header))
        with suppress(StorageWriteError):  # it can be made again whenever it is asked for
            write_summary(self.writer.folder, summary)
        return summary

    def _restore_labels(self, plan: EpisodePlan) -> None:
        """Write the labels anew where the run was killed before it had any, or they are damaged."""
        try:
            read_labels(self.writer.folder, len(self.header.episodes))
        except CorruptFileError:
            write_labels(self.writer.folder, gather_labels(plan.infos))

    def _earlier_attempts(self) -> Mapping[EpisodeKey, Sequence[Attempt]]:
        failed = self.writer.failed
        again = (failed[position] for position in self._left if position in failed)
        return {record.key: record.attempts for record in again}

    def _kept_records(self) -> Iterator[EpisodeRecord]:
        again = self._earlier_attempts()
        records = RunReader(self.writer.folder, self.header).iter_records()
        return (record for record in records if record.key not in again)

    def _find_differences(self, now: RunHeader, plan: EpisodePlan) -> list[Difference]:
        keys = [
            replace(
                entry.key,
                environment=plan.environment,
                list_hash=plan.list_hash,
                split=plan.split,
            )
            for entry in plan.planned
        ]
        pairs = zip(plan.planned, keys, strict=True)
        now = replace(now, episodes=tuple(replace(entry, key=key) for entry, key in pairs))
        agent = find_agent_differences(self.header, now)
        terms = find_term_differences(self.header, now)
        lists = [entry for entry in terms if entry.about == "episodes"]
        definitions = find_definition_differences(self.header, now)
        found = [*agent, *lists, *definitions]
        return [entry for entry in found if entry.what != _NO_DIFFERENCE]

    def _find_again(self, listed: Sequence[Listed]) -> tuple[PlannedEpisode, ...]:
        places = {(entry["scene_id"], entry["id"]): n for n, entry in enumerate(listed)}
        found = []
        for entry in self.header.episodes:
            place = places.get((entry.key.scene_id, entry.key.id))
            if place is None:
                raise ResumeRefusedError(
                    f"run {self.header.run_id} can't be resumed, --force or not: the environment "
                    f"does not list episode {entry.key.text} any more."
                )
            found.append(replace(entry, index=place))
        return tuple(found)

    def _note(self, now: RunHeader, differences: Sequence[Difference]) -> Resumption:
        counted, uncounted_parts = count_earlier_parts(RunReader(self.writer.folder, self.header))
        return Resumption(
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            worker_count=now.worker_count,
            kept=len(self.header.episodes) - len(self._left),
            retry_errors=self._retry_errors,
            settings=dict(now.settings),
            forced=tuple(str(entry) for entry in differences),
            graph=dict(now.graph) if differences else {},
            nodesets=dict(now.nodesets) if differences else {},
            counted=counted,
            uncounted_parts=uncounted_parts,
        )


def _describe(header: RunHeader, differences: Iterable[Difference]) -> str:
    lines = "\n".join(f"  {entry}" for entry in differences)
    return (
        f"run {header.run_id} can't be resumed: what it runs has changed since it began.\n"
        f"{lines}\n"
        "Put it back as it was, or begin a new run. --force goes on all the same, with episodes of "
        "both in one table, and the run says so."
    )
