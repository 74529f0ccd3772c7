"""Shut copies down, and say of which the author's `shutdown` failed.

Knows nothing of what copies were for, nor of where their logs are kept.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nodeset.errors import AuthorError, NodeSetError
from wayfare.fleet.errors import BudgetExceededError, CopyFailedError, describe_status
from wayfare.fleet.member import RunningCopy


@dataclass(frozen=True, slots=True)
class ShutdownFault:
    """A copy that did not shut down as it should: why, in one line, and where in its code."""

    tag: str
    reason: str
    traceback_text: str = ""
    is_overdue: bool = False
    """Whether it was killed, having had too little time."""


async def shut_down(copies: Sequence[RunningCopy], seconds: float) -> list[ShutdownFault]:
    """Ask copies to shut down, end those that have not within `seconds`, return what failed."""
    deadline = time.monotonic() + seconds
    asked = [running for running in copies if not _has_ended(running)]
    answers = await asyncio.gather(
        *(running.control.request("shutdown", budget_seconds=seconds) for running in asked),
        return_exceptions=True,
    )
    endings = [running.copy.exited for running in copies]
    if endings:
        await asyncio.wait(endings, timeout=max(0.0, deadline - time.monotonic()))
    for running in copies:
        running.copy.kill()
        await running.control.close()
    pairs = zip(asked, answers, strict=True)
    found = [_find_fault(running.tag, answer, seconds) for running, answer in pairs]
    return [fault for fault in found if fault is not None]


def describe_shutdown_faults(faults: Sequence[ShutdownFault]) -> str:
    """Return the first of them in one sentence, and how many more there are."""
    first, *rest = faults
    more = f" (and {len(rest)} more {'copy' if len(rest) == 1 else 'copies'})" if rest else ""
    return f"copy {first.tag!r}{more} did not shut down as it should: {first.reason}."


def tell_shutdown_faults(faults: Sequence[ShutdownFault], tell: Callable[[str], None]) -> None:
    """Tell, where no log is kept, which copies did not shut down as they should."""
    if faults:
        tell(f"{describe_shutdown_faults(faults)}\n{faults[0].traceback_text}".rstrip())


def _has_ended(running: RunningCopy) -> bool:
    return running.control.is_lost or running.copy.death() is not None


def _find_fault(tag: str, answer: object, seconds: float) -> ShutdownFault | None:
    """Return what an answer says against the author's `shutdown`; None if nothing does."""
    match answer:
        case AuthorError():
            return ShutdownFault(tag, _in_one_line(answer.message), answer.traceback_text)
        case NodeSetError():
            return ShutdownFault(tag, _in_one_line(str(answer)))
        case BudgetExceededError():
            reason = f"it had not ended after {seconds:g} s and was killed"
            return ShutdownFault(tag, reason, is_overdue=True)
        case CopyFailedError(death=death) if death is not None and not _was_killed(death.status):
            return ShutdownFault(tag, f"it ended with {describe_status(death.status)} meanwhile")
    return None


def _was_killed(status: int) -> bool:
    return status == -signal.SIGKILL


def _in_one_line(message: str) -> str:
    return " ".join(message.split()).rstrip(".")
