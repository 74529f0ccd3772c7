"""Run many episodes of which some lose their processes, and hold the run to one without faults.

Knows nothing of blows from outside.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.campaign import find_folder, start, table_of

from wayfare.evals.run import Run

FAULT_RATE = 0.01
SHARED_FAULT_RATE = 0.00005
"""Of batches: each takes down every episode that is under way."""
WORKERS = 4
MAX_RESUMPTIONS = 5
DEADLINE_SECONDS = 3600.0


@dataclass
class Soak:
    """What a long run with faults came to."""

    faulty: Run
    clean: Run
    seconds: float
    resumptions: int
    failures: list[str] = field(default_factory=list)

    def describe(self) -> str:
        counts, clean = self.faulty.summary.episodes, self.clean.summary.episodes
        restarts = sum(
            copy.restarts
            for nodeset in self.faulty.summary.nodesets.values()
            for copy in nodeset.copies
        )
        lines = [
            f"{counts.total} episodes in {self.seconds:.0f} s: {counts.completed} completed",
            f"  {counts.error} error, {clean.error} without faults",
            f"  {counts.attempts} attempts, {restarts} restarts, {self.resumptions} resumptions",
            f"  digest {self.faulty.digest}, without faults {self.clean.digest}",
        ]
        return "\n".join([*lines, *(f"  FAILED: {failure}" for failure in self.failures)])


def soak(folder: Path, count: int, fault_rate: float = FAULT_RATE) -> Soak:
    """Run `count` episodes with and without faults; resume what ran out of attempts."""
    began = time.monotonic()
    rates = {"env_fragile": fault_rate, "policy_fragile": SHARED_FAULT_RATE}
    faults = [
        text for name, rate in rates.items() for text in ("--set", f"{name}.fault_rate={rate}")
    ]
    faulty, resumptions = _run(folder / "faulty", count, faults), 0
    while _has_lost_copies(faulty) and resumptions < MAX_RESUMPTIONS:
        resumptions += 1
        _wait(["--resume", str(faulty.folder)], folder)
        faulty = Run.open(faulty.folder)
    seconds = time.monotonic() - began
    report = Soak(faulty, _run(folder / "clean", count, []), seconds, resumptions)
    if report.faulty.digest != report.clean.digest:
        report.failures.append("the digests differ")
    if table_of(report.faulty) != table_of(report.clean):
        report.failures.append("the tables differ")
    if report.faulty.status != "done":
        report.failures.append(f"the run is {report.faulty.status}")
    return report


def _run(out: Path, count: int, more: list[str]) -> Run:
    settings = ["--set", f"env_fragile.count={count}", "--set", "env_fragile.raise_every=1013"]
    arguments = ["fragile", *settings, *more, "--workers", str(WORKERS), "--out", str(out)]
    _wait(arguments, out.parent)
    return Run.open(find_folder(out))


def _wait(arguments: list[str], folder: Path) -> None:
    with (folder / "log.txt").open("w") as log:
        start(arguments, log).wait(DEADLINE_SECONDS)


def _has_lost_copies(run: Run) -> bool:
    return any(row.error is not None and not row.error.is_final for row in run.episodes)
