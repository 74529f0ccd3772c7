"""Run evaluations under blows, resume them until they are done, and hold them to undisturbed ones.

Knows nothing of which blows there are.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.family import find_left, tell, wait_until
from tests.chaos.ledger import Ledger
from tests.chaos.strike import strike
from tests.chaos.tally import Tally
from tests.deadline import HANG_SECONDS
from tests.processes import descendants_of

from wayfare.evals.run import Run

WORKSPACE = Path(__file__).resolve().parents[1] / "workspace"
END_SECONDS = 600.0
"""A copy that is stopped while it starts is given up after 120 s, and a loaded machine is slow."""
MAX_STARTS = 60
"""How often one run is started before it counts as one that never ends."""
SIZES = (100, 200, 300)
MAX_BLOWS = 10
"""From one start of a run to the next."""
MURDEROUS = 0.8
"""How often the main process gets the last one."""
MAX_WORKERS = 5


@dataclass(frozen=True)
class Case:
    """One run: how many episodes it has."""

    count: int

    @property
    def settings(self) -> list[str]:
        pairs = {"count": self.count, "max_delay_s": 0.02, "raise_every": 13}
        return [text for key, value in pairs.items() for text in _set(key, value)]


class Campaign:
    """Runs under blows, drawn from one seed, in one folder."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        *,
        sizes: Sequence[int] = SIZES,
        tell: Callable[[str], None] = print,
    ) -> None:
        self._folder = folder
        self._sizes = sizes
        self._tell = tell
        self._rng = random.Random(seed)
        self._references: dict[Case, Run] = {}
        self.tally = Tally(seed)

    def go(self, kills: int) -> Tally:
        """Strike until so many processes were killed, and see every run to its end."""
        began = time.monotonic()
        while self.tally.kills < kills and len(self.tally.failures) < 3:
            self._run(Case(self._rng.choice(self._sizes)), kills)
            self.tally.seconds = time.monotonic() - began
            self._tell(f"{self.tally.kills} kills in {self.tally.runs} runs")
        return self.tally

    def _run(self, case: Case, kills: int) -> None:
        tally, ledger = self.tally, Ledger()
        reference = self._reference(case)
        out = self._folder / f"run{tally.runs}"
        arguments = ["fragile", *case.settings, "--out", str(out)]
        for _ in range(MAX_STARTS):
            workers = self._rng.randint(1, MAX_WORKERS)
            folder = self._start_and_strike(arguments, workers, out, kills)
            if folder is not None:
                ledger.read(folder)
                arguments = ["--resume", str(folder)]
                if ledger.is_complete:
                    break
        else:
            tally.failures.append(f"{out} was not done after {MAX_STARTS} starts")
        tally.runs += 1
        tally.lost += ledger.lost
        tally.twice += ledger.twice
        if folder is not None:
            self._compare(Run.open(folder), reference)

    def _start_and_strike(
        self, arguments: Sequence[str], workers: int, out: Path, kills: int
    ) -> Path | None:
        """Start or resume a run, strike it some times, wait for its end; return its folder."""
        log = self._folder / "log.txt"
        with log.open("w") as file:
            process = start([*arguments, "--workers", str(workers)], file)
        self.tally.workers[workers] += 1
        begun = wait_until(lambda: has_begun(out) or process.poll() is not None, HANG_SECONDS)
        family = descendants_of(process.pid)
        if begun and has_begun(out):
            family |= self._strike(process, find_folder(out), kills)
        try:
            self.tally.statuses[process.wait(END_SECONDS)] += 1
        except subprocess.TimeoutExpired:
            self.tally.failures.append(f"{arguments} hangs:\n{log.read_text()[-2000:]}")
            process.kill()
            process.wait()
        self._look_after(family, log, arguments)
        return find_folder(out) if has_begun(out) else None

    def _strike(self, process: subprocess.Popen[bytes], folder: Path, kills: int) -> set[int]:
        family: set[int] = set()
        blows = [None] * self._rng.randint(0, MAX_BLOWS)
        last = ["main"] if self._rng.random() < MURDEROUS else []
        for target in [*blows, *last]:
            family |= descendants_of(process.pid)
            if process.poll() is not None or self.tally.kills >= kills:
                break
            blow = strike(self._rng, process.pid, folder, target=target)
            if blow is not None:
                self.tally.struck(blow)
                if blow.ends_main:
                    break
        return family | descendants_of(process.pid)

    def _look_after(self, family: set[int], log: Path, arguments: Sequence[str]) -> None:
        left = find_left(family, HANG_SECONDS)
        if left:
            self.tally.failures.append(f"{arguments} left processes {left}")
            for pid in left:
                tell(pid, 9)
        text = log.read_text()
        if "Traceback" in text:
            self.tally.failures.append(f"{arguments} ended in a traceback:\n{text[-3000:]}")

    def _compare(self, run: Run, reference: Run) -> None:
        self.tally.episodes += run.summary.episodes.total
        self.tally.attempts += run.summary.episodes.attempts
        is_equal = run.digest == reference.digest and table_of(run) == table_of(reference)
        self.tally.equal += is_equal
        if not is_equal:
            self.tally.failures.append(f"{run.folder} differs from {reference.folder}")

    def _reference(self, case: Case) -> Run:
        """Return the same run as it goes undisturbed."""
        if case not in self._references:
            out = self._folder / f"reference{case.count}"
            with (self._folder / "log.txt").open("w") as file:
                start(["fragile", *case.settings, "--out", str(out)], file).wait(END_SECONDS)
            self._references[case] = Run.open(find_folder(out))
        return self._references[case]


def start(arguments: Sequence[str], log: Any) -> subprocess.Popen[bytes]:
    """Start `wayfare eval`."""
    environment = {**os.environ, "WAYFARE_WORKSPACE": str(WORKSPACE)}
    command = [sys.executable, "-m", "wayfare", "eval", *arguments, "--json"]
    return subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def find_folder(out: Path) -> Path:
    """Return the only run in `out`."""
    (folder,) = out.iterdir()
    return folder


def has_begun(out: Path) -> bool:
    return out.is_dir() and any(out.glob("*/run.json"))


def table_of(run: Run) -> list[tuple[Any, ...]]:
    """Return what a run's table says of its episodes, without who ran them and when."""
    return [
        (row.key, row.outcome, row.steps, dict(row.metrics), row.digest) for row in run.episodes
    ]


def _set(key: str, value: object) -> tuple[str, str]:
    return "--set", f"env_fragile.{key}={value}"
