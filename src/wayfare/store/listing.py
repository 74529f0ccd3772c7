"""List the runs in a folder and say how each stands.

Knows nothing of their episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wayfare.store.errors import RunNotFoundError, StoreError
from wayfare.store.folder import HEADER_FILE, is_locked, read_header, read_summary
from wayfare.store.records import RunHeader
from wayfare.store.summary import RunStatus, RunSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """One line of a list of runs; `problem` says why a folder can't be read."""

    run_id: str
    folder: Path
    status: RunStatus | Literal["running", "unreadable"]
    header: RunHeader | None = None
    summary: RunSummary | None = None
    problem: str = ""


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
        summary = read_summary(folder)
    except StoreError as error:
        return RunEntry(run_id=folder.name, folder=folder, status="unreadable", problem=str(error))
    status: RunStatus | Literal["running"] = "running" if is_locked(folder) else "incomplete"
    return RunEntry(
        run_id=header.run_id,
        folder=folder,
        status=summary.status if summary else status,
        header=header,
        summary=summary,
    )
