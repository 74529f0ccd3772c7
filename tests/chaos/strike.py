"""Strike a run's processes at random instants: kill, stop, starve.

Knows nothing of what the run comes to.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.family import Family, tell, wait_until
from tests.chaos.ledger import is_committing

from wayfare.store.truth import EPISODES_FILE, FIRINGS_FILE

FATAL = (signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT)
POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR2)
WAIT_SECONDS = 0.4
POLL_SECONDS = 0.0005

TARGETS = ("main",) * 3 + ("copy",) * 10 + ("shared",) * 4 + ("keeper",)
ACTS = {
    "main": ("kill", "kill", "kill", "kill", "stop", "starve", "ask"),
    "copy": ("kill", "kill", "kill", "stop", "stop for good", "starve"),
    "shared": ("kill", "kill", "kill", "stop", "stop for good", "starve"),
    "keeper": ("kill", "kill", "stop"),
}
INSTANTS = ("any", "before a commit", "during a commit", "after a commit")
COMMITS = ("any", *("during a commit",) * 3, "after a commit")
COMMIT_SECONDS = 15.0
"""How long a kill of the main process is put off for a commit: a run that has just been resumed
has to start its copies first."""


@dataclass(frozen=True)
class Strike:
    """What was done to whom, and when: `phase` is what the files showed at that instant."""

    target: str
    act: str
    phase: str
    ends_main: bool = False

    @property
    def is_kill(self) -> bool:
        return self.act == "kill"

    def __str__(self) -> str:
        return f"{self.act} {self.target}"


def strike(
    rng: random.Random, main: int, folder: Path, *, target: str | None = None
) -> Strike | None:
    """Wait for an instant and do something to one of the run's processes, that of `target`.

    None: the one that was chosen is not there, now or any more.
    """
    target = target or rng.choice(TARGETS)
    act = rng.choice(ACTS[target])
    is_murder = (target, act) == ("main", "kill")
    instant = rng.choice(COMMITS if is_murder else INSTANTS)
    _wait_for(instant, rng, folder, COMMIT_SECONDS if is_murder else WAIT_SECONDS)
    pid = _choose(rng, Family.of(main), target)
    if pid is None:
        return None
    if target == "main" and act == "kill":
        return _kill_main(pid, folder)
    if not _act(rng, pid, act):
        return None
    return Strike(target, act, instant, ends_main=act == "ask")


def _choose(rng: random.Random, family: Family, target: str) -> int | None:
    groups: dict[str, Sequence[int]] = {
        "main": (family.main,),
        "copy": family.replicated,
        "shared": family.shared,
        "keeper": (family.keeper,) if family.keeper else (),
    }
    return rng.choice(groups[target]) if groups[target] else None


def _wait_for(instant: str, rng: random.Random, folder: Path, seconds: float) -> None:
    """Return about when the instant is there; what really was is seen once the process stands."""
    episodes, firings = folder / EPISODES_FILE, folder / FIRINGS_FILE
    match instant:
        case "any" | "before a commit":
            time.sleep(rng.uniform(0.0, WAIT_SECONDS))
        case "during a commit":
            size = firings.stat().st_size
            wait_until(lambda: firings.stat().st_size > size, seconds, POLL_SECONDS)
        case "after a commit":
            size = episodes.stat().st_size
            wait_until(lambda: episodes.stat().st_size > size, seconds, POLL_SECONDS)


def _kill_main(pid: int, folder: Path) -> Strike | None:
    """Stop the process, see how far its files are, and kill it there."""
    before = (folder / EPISODES_FILE).stat().st_mtime_ns
    if not tell(pid, signal.SIGSTOP):
        return None
    now = time.time_ns()
    phase = "before a commit"
    if is_committing(folder):
        phase = "during a commit"
    elif now - max(before, (folder / EPISODES_FILE).stat().st_mtime_ns) < 20_000_000:
        phase = "after a commit"
    tell(pid, signal.SIGKILL)
    return Strike("main", "kill", phase, ends_main=True)


def _act(rng: random.Random, pid: int, act: str) -> bool:
    match act:
        case "kill":
            return tell(pid, rng.choice(FATAL))
        case "ask":
            return tell(pid, rng.choice(POLITE))
        case "stop for good":
            return tell(pid, signal.SIGSTOP)
        case "stop":
            return _hold(pid, rng.uniform(0.05, 1.0), 0.0)
        case "starve":
            return all(_hold(pid, 0.05, 0.005) for _ in range(rng.randint(5, 20)))
    raise ValueError(f"there is no act {act!r}")


def _hold(pid: int, stopped_seconds: float, running_seconds: float) -> bool:
    is_there = tell(pid, signal.SIGSTOP)
    time.sleep(stopped_seconds)
    tell(pid, signal.SIGCONT)
    time.sleep(running_seconds)
    return is_there
