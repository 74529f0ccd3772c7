"""Name the ways in which a fleet fails. Knows nothing of how copies are started or called."""

from __future__ import annotations

from dataclasses import dataclass

from wayfare.graph.calls import InfrastructureError


@dataclass(frozen=True, slots=True)
class CopyDeath:
    """How a copy ended: its status in words and the last lines it printed."""

    tag: str
    pid: int
    status: int
    """Exit status; below 0: the number of the signal that ended it."""
    status_text: str
    log_tail: str

    def describe(self) -> str:
        """Return the death in one sentence, with the copy's last lines below it."""
        text = f"copy {self.tag!r} (pid {self.pid}) ended with {self.status_text}."
        if not self.log_tail:
            return text + " It printed nothing."
        indented = "\n".join("    " + line for line in self.log_tail.splitlines())
        return f"{text} Its last lines:\n{indented}"


class CopyFailedError(InfrastructureError):
    """A copy that had been ready is gone, hung or unreachable."""

    def __init__(self, message: str, death: CopyDeath | None = None) -> None:
        super().__init__(message)
        self.death = death


class FleetSetupError(Exception):
    """What the user set up can't be started: a mistake to correct, not a fault to retry."""


class CopyStartError(FleetSetupError):
    """A copy ended or hung before it was ready."""

    def __init__(self, message: str, death: CopyDeath | None = None) -> None:
        super().__init__(message)
        self.death = death


class InterpreterError(FleetSetupError):
    """The interpreter that a nodeset asks for is missing or lacks a package."""


class WorkspaceError(FleetSetupError):
    """A workspace does not hold what was asked for, or holds it twice."""
