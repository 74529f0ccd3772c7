"""Name the ways in which a fleet fails. Knows nothing of how copies are started or called."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Literal

from nodeset.host import ExitStatus
from wayfare.graph.calls import InfrastructureError

HOST_PREFIX = "nodeset host: "
"""What the host of a copy begins its own lines with."""
_REFUSALS = (
    ExitStatus.CONTRACT_REFUSED,
    ExitStatus.IMPORT_FAILED,
    ExitStatus.INITIALIZE_FAILED,
)
LAST_LINES = "Its last lines:"
Cause = Literal["", "budget", "silence", "memory"]
"""Why a copy was killed on purpose; "": it was not."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a copy had to be killed, as a sentence about it."""

    cause: Cause
    text: str


@dataclass(frozen=True, slots=True)
class CopyDeath:
    """How a copy ended: its status in words and the last lines it printed."""

    tag: str
    pid: int
    status: int
    """Exit status; below 0: minus the number of the signal that ended it."""
    log_tail: str
    verdict: Verdict | None = None
    """Why it was killed on purpose."""

    @property
    def refusal(self) -> str:
        """Return what the host said when the author's file, class or `initialize` was at fault.

        What was printed before stands below, but where the class breaks the contract: it may say
        what was missing.
        """
        if self.status not in _REFUSALS:
            return ""
        before, _, said = self.log_tail.rpartition(HOST_PREFIX)
        if not before.strip() or self.status == ExitStatus.CONTRACT_REFUSED:
            return said.strip()
        return f"{said.strip()}\nIt had printed:\n{_indent(before)}"

    def describe(self) -> str:
        """Return the death in one sentence, with the copy's last lines below it."""
        text = f"copy {self.tag!r} (pid {self.pid}) {self._describe_end()}"
        if not self.log_tail:
            return text + " It printed nothing."
        return f"{text} {LAST_LINES}\n{_indent(self.log_tail)}"

    def _describe_end(self) -> str:
        if self.verdict is not None:
            return f"was killed: {self.verdict.text}"
        return f"ended with {describe_status(self.status)}{_explain(self.status)}."


def _explain(status: int) -> str:
    """Return what most often is behind a signal that says it to few; nothing for all others."""
    if status == -signal.SIGBUS:
        return ", as when a memory-mapped file was cut short while it was read"
    return ""


def _indent(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def describe_status(status: int) -> str:
    """Return an exit status in words: `SIGKILL` or `exit status 4`."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


@dataclass(frozen=True, slots=True)
class CallInFlight:
    """What a copy was asked when it failed: a tool's call at a node, or an operation."""

    text: str
    path: str = ""
    turns: tuple[int, ...] = ()


class CopyFailedError(InfrastructureError):
    """A copy that had been ready is gone, hung or unreachable.

    `is_spent`: what the copy was asked has been tried as often as it may be.
    """

    def __init__(
        self,
        message: str,
        death: CopyDeath | None = None,
        *,
        call: CallInFlight | None = None,
        is_spent: bool = False,
    ) -> None:
        super().__init__(message)
        self.death = death
        self.call = call
        self.is_spent = is_spent


class BudgetExceededError(CopyFailedError):
    """A copy did not answer within the budget of what it was asked."""


class SilentCopyError(CopyFailedError):
    """A copy lives but does nothing and answers nothing."""


class MemoryExceededError(CopyFailedError):
    """A copy grew far beyond its memory limit."""


class EpisodeOverdueError(InfrastructureError):
    """An attempt did not come to its end within the budget of an episode."""


class StrayCancellationError(InfrastructureError):
    """Something that an attempt waited for was cancelled, and nobody had asked the attempt to end.

    What waits for calls and copies is cancelled only when the run is told to end at once.
    """


_FAILURES: dict[Cause, type[CopyFailedError]] = {
    "": CopyFailedError,
    "budget": BudgetExceededError,
    "silence": SilentCopyError,
    "memory": MemoryExceededError,
}


def failure_of(
    death: CopyDeath, call: CallInFlight | None = None, *, note: str = "", is_spent: bool = False
) -> CopyFailedError:
    """Return the error for what a death cut short: its class says why the copy died."""
    kind = _FAILURES[death.verdict.cause if death.verdict else ""]
    text = death.describe() if call is None else f"{call.text}: {death.describe()}"
    return kind(f"{note}{text}", death, call=call, is_spent=is_spent)


class FleetSetupError(Exception):
    """What the user set up can't be started: a mistake to correct, not a fault to retry."""


class CopyStartError(FleetSetupError):
    """A copy ended or hung before it was ready."""

    def __init__(self, message: str, death: CopyDeath | None = None) -> None:
        super().__init__(message)
        self.death = death

    @property
    def was_killed(self) -> bool:
        """Return whether a signal ended the copy: no word about what the user set up."""
        return self.death is not None and self.death.status < 0


class InterpreterError(FleetSetupError):
    """The interpreter that a nodeset asks for is missing or lacks a package.

    `need` names what there should be, in a few words.
    """

    def __init__(self, message: str, *, need: str = "an interpreter that answers") -> None:
        super().__init__(message)
        self.need = need


class WorkspaceError(FleetSetupError):
    """A workspace does not hold what was asked for, or holds it twice."""


class UnknownNameError(WorkspaceError):
    """No workspace holds a nodeset or graph of that name."""


class UnreadableError(WorkspaceError):
    """The file that would hold what was asked for can't be read; `reason` says why."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason
