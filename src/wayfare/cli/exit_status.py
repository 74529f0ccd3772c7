"""Name the exit statuses of the commands. Knows nothing of when they apply."""

from __future__ import annotations

from enum import IntEnum

from wayfare.store.summary import RunSummary


class ExitStatus(IntEnum):
    """What a command's end tells the one who started it."""

    DONE = 0
    DONE_WITH_ERRORS = 1
    """All episodes ended, some of them in `error`."""
    DIFFERENT = DONE_WITH_ERRORS
    """Two runs were compared and are not equal."""
    CHECK_FAILED = DONE_WITH_ERRORS
    """A check found a property that does not hold."""
    SETUP = 2
    """Wrong usage or set-up; nothing ran."""
    FAILED = 3
    """The run could not go on, or its records don't prove that each episode counts once."""
    INCOMPLETE = 75
    """Ended before all episodes had; what is finished is kept."""


def status_of(summary: RunSummary) -> ExitStatus:
    """Return the exit status that a run's summary stands for."""
    if summary.status in ("failed", "uncertified"):
        return ExitStatus.FAILED
    if summary.status == "incomplete":
        return ExitStatus.INCOMPLETE
    return ExitStatus.DONE_WITH_ERRORS if summary.episodes.error else ExitStatus.DONE
