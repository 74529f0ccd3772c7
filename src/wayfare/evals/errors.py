"""What can be wrong with a run before its first episode. Knows nothing of exit statuses."""

from __future__ import annotations


class SetupError(Exception):
    """The run cannot start: the message says what is wrong and how to mend it."""


class SelectionError(SetupError):
    """The wanted episodes are not among those that the environment lists."""


class EnvironmentChoiceError(SetupError):
    """No nodeset of the graph brings episodes, or several could."""


class ResumeRefusedError(SetupError):
    """A run can't go on as it is asked to: what it runs is not what it ran."""


class RunInterruptedError(Exception):
    """The run was asked to end before its first episode began; there is nothing to keep."""


class RunFailedError(Exception):
    """The run began but can't go on; what had finished is kept."""
