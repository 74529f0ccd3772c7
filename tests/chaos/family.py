"""Find the processes of a run: the main one, the keeper, the copies by what they are.

Knows nothing of what is done to them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

LOOK_SECONDS = 0.02


@dataclass(frozen=True)
class Family:
    """The processes of one run as they were at one instant."""

    main: int
    keeper: int | None
    replicated: tuple[int, ...]
    shared: tuple[int, ...]

    @classmethod
    def of(cls, main: int) -> Family:
        keepers = [pid for pid in children_of(main) if "keeper.py" in command_of(pid)]
        copies = [pid for keeper in keepers for pid in children_of(keeper)]
        commands = {pid: command_of(pid) for pid in copies}
        return cls(
            main,
            keepers[0] if keepers else None,
            tuple(pid for pid, text in commands.items() if "env_fragile" in text),
            tuple(pid for pid, text in commands.items() if "policy_fragile" in text),
        )


def descendants_of(pid: int) -> set[int]:
    found: set[int] = set()
    for child in children_of(pid):
        found |= {child} | descendants_of(child)
    return found


def children_of(pid: int) -> list[int]:
    """Return a process's children, those that other threads than its first started too."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(text) for text in task.read_text().split()]
        except OSError:
            continue
    return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def tell(pid: int, number: signal.Signals) -> bool:
    """Send a signal; return whether the process was still there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def wait_until(is_true: Callable[[], bool], seconds: float, look: float = LOOK_SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            return False
        time.sleep(look)
    return True


def find_left(pids: Iterable[int], seconds: float) -> list[int]:
    """Return which processes are still there after `seconds`."""
    pids = list(pids)
    wait_until(lambda: not any(map(is_alive, pids)), seconds)
    return [pid for pid in pids if is_alive(pid)]
