"""Say what a run records, and of which episodes more than their actions.

Knows nothing of how anything is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Self

from wayfare.evals.errors import SetupError
from wayfare.evals.video import check_installed
from wayfare.store.recording import RecordMode
from wayfare.store.records import EpisodeRecord

SUCCESS_METRICS = ("success", "SR")
"""The names of the metric that says whether an episode was a success, the first one found."""

Which = Literal["all", "failures", "successes", "errors", "every"]
_RULE = "it must be failures, successes, errors or every:K with a whole K above 0, as in every:10"


class RecordChoiceError(SetupError):
    """What is to be recorded of which episodes can't be told."""


@dataclass(frozen=True, slots=True)
class EpisodeChoice:
    """Of which episodes videos and calls are kept; `every` is K of `every:K`."""

    which: Which = "all"
    every: int = 1

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the choice that `--record-only` names; "" is all. Raises RecordChoiceError."""
        match text.partition(":"):
            case "", "", "":
                return cls()
            case ("failures" | "successes" | "errors") as which, "", "":
                return cls(which)
            case "every", ":", number if number.isascii() and number.isdigit() and int(number):
                return cls("every", int(number))
        raise RecordChoiceError(f"--record-only is {text!r}; {_RULE}.")

    def __str__(self) -> str:
        match self.which:
            case "all":
                return ""
            case "every":
                return f"every:{self.every}"
        return self.which

    def may_want(self, position: int) -> bool:
        """Return whether the episode at this place of the list may be wanted once it has ended."""
        return self.which != "every" or position % self.every == 0

    def wants(self, record: EpisodeRecord) -> bool:
        """Return whether an ended episode, which may have been wanted, is."""
        match self.which:
            case "all" | "every":
                return True
            case "errors":
                return record.outcome == "error"
        is_success = _is_success(record)
        return is_success is not None and is_success == (self.which == "successes")

    def check(self, metrics: Iterable[str]) -> None:
        """Raise RecordChoiceError where the run's metrics can't tell success from failure."""
        if self.which not in ("failures", "successes"):
            return
        names = sorted(set(metrics))
        if not set(SUCCESS_METRICS) & set(names):
            raise RecordChoiceError(
                f"--record-only {self} asks whether episodes succeed, which the metric "
                f"{' or '.join(map(repr, SUCCESS_METRICS))} says; this run measures "
                f"{', '.join(names) or 'nothing'}. Choose errors or every:K, or record all."
            )


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """What a run is asked to record."""

    mode: RecordMode = "actions"
    only: EpisodeChoice = field(default_factory=EpisodeChoice)

    def check(self) -> None:
        """Raise RecordChoiceError where there is nothing to choose, MissingVideoError for videos
        that can't be made.
        """
        if self.only.which != "all" and self.mode not in ("frames", "full"):
            raise RecordChoiceError(
                f"--record-only {self.only} chooses among videos or calls, which --record "
                f"{self.mode} does not keep; add --record frames or --record full."
            )
        if self.mode == "frames":
            check_installed()


def _is_success(record: EpisodeRecord) -> bool | None:
    """Return whether the episode succeeded; None: nothing says so."""
    if record.outcome == "error":
        return None
    for name in SUCCESS_METRICS:
        if name in record.metrics:
            return record.metrics[name] >= 1
    return None
