"""Find records that stand in a run's files once more than the run wrote them.

Knows nothing of what the records hold or of how that is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wayfare.store.errors import CorruptFileError
from wayfare.store.firings import peek_position
from wayfare.store.frames import FRAME_BYTES, read_frames
from wayfare.store.truth import Committed


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a file, from `start` up to `end`, which is not among them."""

    start: int
    end: int

    @classmethod
    def of_record(cls, offset: int, payload: bytes) -> Span:
        """Return where a record of a framed file stands."""
        return cls(offset, offset + FRAME_BYTES + len(payload))


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the spans, in their order, those that touch each other as one."""
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].end == span.start:
            merged[-1] = Span(merged[-1].start, span.end)
        else:
            merged.append(span)
    return merged


@dataclass(frozen=True, slots=True)
class Surplus:
    """Records that the run did not write, and the positions of the episodes that they name.

    They `must_stay` where what was written after them is found with them only; where the file
    `is_shifted`, what stands behind them is found without them only.
    """

    spans: tuple[Span, ...] = ()
    positions: frozenset[int] = frozenset()
    must_stay: bool = False
    is_shifted: bool = False


def find_surplus_firings(path: Path, entries: Sequence[Committed], *, is_settled: bool) -> Surplus:
    """Return the firings that the run did not write.

    `entries` are all that was committed. Firings that no record points to may be a killed attempt's
    as long as the episode is tried again later, or may be: never in a run that `is_settled`, which
    went to its end in one go. Nothing is found unless all firings of the records stand where they
    were written, either as the file is or without these. Raises CorruptFileError,
    FormatVersionError.
    """
    due = {entry.firings_offset: entry.position for entry in entries}
    ends = _find_ends(entries, is_settled=is_settled)
    for is_shifted in (False, True):
        walk = _Walk(due, ends, is_shifting=is_shifted)
        for offset, payload in read_frames(path):
            walk.add(_peek(path, offset, payload), Span.of_record(offset, payload))
        if walk.in_place == len(due):
            return walk.end()
    return Surplus()


class _Walk:
    """Goes over a file of firings; what it takes for surplus may shift what follows."""

    def __init__(
        self, due: Mapping[int, int], ends: Mapping[int, int], *, is_shifting: bool
    ) -> None:
        self._due = due
        """By offset, the position of the episode whose firings stand there."""
        self._ends = ends
        self._is_shifting = is_shifting
        self._shift = 0
        self._spans: list[Span] = []
        self._positions: set[int] = set()
        self.in_place = 0

    def add(self, position: int, span: Span) -> None:
        """Take firings for those that are due there, for a killed attempt's or for surplus."""
        at = span.start - self._shift
        if self._due.get(at) == position:
            self.in_place += 1
        elif at in self._due or at > self._ends.get(position, at):
            self._spans.append(span)
            self._positions.add(position)
            self._shift += (span.end - span.start) * self._is_shifting

    def end(self) -> Surplus:
        """Return what was taken for surplus."""
        is_followed = bool(self._spans) and self._spans[0].start < max(self._due, default=0)
        return Surplus(
            tuple(self._spans),
            frozenset(self._positions),
            must_stay=is_followed and not self._is_shifting,
            is_shifted=self._is_shifting,
        )


def _find_ends(entries: Sequence[Committed], *, is_settled: bool) -> dict[int, int]:
    """Return where the last firings of each episode stand that is not tried again any more."""
    latest = {entry.position: entry for entry in entries}
    return {
        position: entry.firings_offset
        for position, entry in latest.items()
        if is_settled or entry.record.outcome != "error"
    }


def _peek(path: Path, offset: int, payload: bytes) -> int:
    try:
        return peek_position(payload)
    except (ValueError, TypeError) as error:
        raise CorruptFileError(f"{path}: byte {offset}: no firings: {error!r}") from error
