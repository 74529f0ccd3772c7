"""What is next in one episode, in all of its graphs: work that is ready, calls that are due.

Knows nothing of nodes: it is told of work and calls, and puts them in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeset.errors import NodeSetError
from wayfare.graph.calls import ToolCall
from wayfare.graph.unit import Unit

TURNS_PER_SLICE = 256
"""Turns in a row without a call before others get the event loop."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a graph runs: at the top, or as the graph of a map, for one item in one turn."""

    turns: tuple[int, ...] = ()
    step: int | None = None
    rank: tuple[int, ...] = ()
    place: tuple[int, ...] = ()
    """Orders what runs in maps as their failures are: by document order, then by item."""

    def step_at(self, turns: tuple[int, ...]) -> int:
        """Return the turn of the outermost loop; an item of a map is none, nor a loop in it."""
        if self.step is not None:
            return self.step
        return turns[0] if turns else 0

    def of_item(self, turns: tuple[int, ...], unit: Unit, number: int) -> Position:
        """Return the position of an item of a map that fires in these turns."""
        rank, place = (*self.rank, unit.rank, number), (*self.place, unit.index, number)
        return Position((*turns, number), self.step_at(turns), rank, place)


class Due(NamedTuple):
    """A unit's call that is to be made, how to make it and who is told how it ended."""

    unit: Unit
    position: Position
    make_call: Callable[[Unit], ToolCall]
    complete: Callable[[Unit, Mapping[str, Any]], None]
    fail: Callable[[Unit, NodeSetError], None]

    @property
    def place(self) -> tuple[int, ...]:
        """Return what orders failures: the first in document order stands for the rest."""
        return (*self.position.place, self.unit.index)


class Agenda:
    """The work of one episode; `firings` are the calls so far, in the order of calling."""

    def __init__(self) -> None:
        self.firings: list[tuple[str, tuple[int, ...]]] = []
        self._work: list[Callable[[], bool]] = []
        self._due: list[Due] = []

    @property
    def has_work(self) -> bool:
        """Say whether `advance` stopped before all was done that needs no call."""
        return bool(self._work)

    def add_work(self, work: Callable[[], bool]) -> None:
        """Have `work` called, again for as long as it returns that it ended a turn."""
        self._work.append(work)

    def add_call(self, due: Due) -> None:
        """Have a call handed out by the next `advance` that comes to its end."""
        self._due.append(due)

    def advance(self) -> list[tuple[Due, ToolCall]]:
        """Do all work that is ready; return the calls that became due, in their fixed order."""
        turns = 0
        while self._work and turns < TURNS_PER_SLICE:
            work = self._work.pop()
            if work():
                self._work.append(work)
                turns += 1
        due, self._due = self._due, []
        if len(due) > 1:
            due.sort(key=_rank)
        calls = [(item, item.make_call(item.unit)) for item in due]
        self.firings.extend([(call.path, call.turns) for _, call in calls])
        return calls


def _rank(due: Due) -> tuple[int, ...]:
    return (*due.position.rank, due.unit.rank)
