"""Find the processes of a run: the main one, the keeper, the copies by what they are.

Knows nothing of what is done to them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.processes import children_of, command_of, is_alive

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


def tell(pid: int, number: signal.Signals) -> bool:
    """Send a signal; return whether the process was still there."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def wait_until(is_true: Callable[[], bool], seconds: float, look: float = LOOK_SECONDS) -> bool:
    """Wait for at most so long; return whether it came true."""
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
