"""Count what was done to runs and what came of them.

Knows nothing of how either is made.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.chaos.strike import Strike


@dataclass
class Tally:
    """`failures` are what must never happen."""

    seed: int
    runs: int = 0
    episodes: int = 0
    kills: int = 0
    lost: int = 0
    twice: int = 0
    equal: int = 0
    attempts: int = 0
    seconds: float = 0.0
    strikes: Counter[str] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    workers: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def struck(self, blow: Strike) -> None:
        self.strikes[str(blow)] += 1
        self.kills += blow.is_kill
        if blow.target == "main" and blow.is_kill:
            self.phases[blow.phase] += 1

    def describe(self) -> str:
        lines = [
            f"seed {self.seed}: {self.runs} runs, {self.episodes} episodes",
            f"  {self.kills} kills, {self.strikes.total()} blows in {self.seconds:.0f} s",
            f"  episodes lost {self.lost}, counted twice {self.twice}, attempts {self.attempts}",
            f"  digest and table equal to the undisturbed run's: {self.equal} of {self.runs}",
            f"  blows: {_list(self.strikes)}",
            f"  the main process was killed: {_list(self.phases)}",
            f"  starts by workers: {_list(self.workers)}",
            f"  exit statuses: {_list(self.statuses)}",
        ]
        return "\n".join([*lines, *(f"  FAILED: {failure}" for failure in self.failures)])


def _list(counts: Counter[str] | Counter[int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"
