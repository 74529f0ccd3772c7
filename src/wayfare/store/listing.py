"""List the runs in a folder and say how each stands.

Knows nothing of their episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wayfare.store.errors import RunNotFoundError, StoreError
from wayfare.store.folder import HEADER_FILE, find_summary, is_locked, read_header
from wayfare.store.records import RunHeader
from wayfare.store.resumption import (
    Resumption,
    count_workers,
    find_resumptions,
    resume_command,
)
from wayfare.store.summary import RunStatus, RunSummary
from wayfare.store.truth import count_finished

Status = RunStatus | Literal["running", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """One line of a list of runs.

    `problem` says why a folder, its summary or its list of resumptions can't be read. `total` and
    `finished` count episodes; None: the run is under way, or can't be read.
    """

    run_id: str
    folder: Path
    status: Status
    header: RunHeader | None = None
    summary: RunSummary | None = None
    resumptions: tuple[Resumption, ...] = ()
    total: int | None = None
    finished: int | None = None
    problem: str = ""

    @property
    def worker_count(self) -> int | None:
        """Return how many workers it ran with last, as far as that is known."""
        return self.worker_counts[-1] if self.worker_counts else None

    @property
    def worker_counts(self) -> tuple[int, ...]:
        """Return how many workers each of its parts ran with, in their order.

        Where the resumptions can't be read those of the first and the last part are left.
        """
        if self.header is None:
            return ()
        counts = count_workers(self.header.worker_count, self.resumptions)
        last = self.summary.worker_count if self.summary else counts[-1]
        return counts if counts[-1] == last else (*counts, last)

    @property
    def has_damage(self) -> bool:
        """Return whether it is listed although one of its files is damaged."""
        return self.header is not None and bool(self.problem)

    @property
    def can_go_on(self) -> bool:
        """Return whether the run can be resumed: it ended before all of its episodes had."""
        return self.status in ("incomplete", "failed")

    @property
    def resume(self) -> str:
        """Return the command that lets it go on, "" where there is nothing to."""
        return resume_command(self.folder) if self.can_go_on else ""


def list_runs(root: Path) -> list[RunEntry]:
    """Return the runs in `root`, newest first; their headers come without episodes."""
    try:
        if not root.is_dir():
            return []
    except OSError as error:
        raise RunNotFoundError(f"{str(root)!r} is no folder of runs: {error.strerror}.") from error
    folders = sorted((p.parent for p in root.glob(f"*/{HEADER_FILE}")), reverse=True)
    return [_read_entry(folder) for folder in folders]


def _read_entry(folder: Path) -> RunEntry:
    try:
        header = read_header(folder, with_episodes=False)
        summary, problem = find_summary(folder)
        resumptions, lost = find_resumptions(folder)
        status, total, finished = _read_state(folder, summary)
    except StoreError as error:
        return RunEntry(run_id=folder.name, folder=folder, status="unreadable", problem=str(error))
    return RunEntry(
        run_id=header.run_id,
        folder=folder,
        status=status,
        header=header,
        summary=summary,
        resumptions=resumptions,
        total=total,
        finished=finished,
        problem=" ".join(filter(None, (problem, lost))),
    )


def _read_state(folder: Path, summary: RunSummary | None) -> tuple[Status, int | None, int | None]:
    """Return how a run stands, how many episodes it has and how many of them are finished."""
    if summary is not None:
        return summary.status, summary.episodes.total, summary.episodes.finished
    if is_locked(folder):
        return "running", None, None
    total = len(read_header(folder).episodes)
    finished = count_finished(folder, total)
    return ("done" if finished == total else "incomplete"), total, finished
