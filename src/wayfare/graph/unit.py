"""The parts of a compiled graph: numbered units, the slots they read and write, their scopes.

Knows nothing of documents or of how it was compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

NEVER = 0
"""The slot of inputs that are not wired: always off."""


class Kind(IntEnum):
    """What a unit does when it is ready; a whole loop is one unit of the scope around it."""

    TOOL = 0
    EPISODE = 1
    CONST = 2
    SWITCH = 3
    MERGE = 4
    RESULT = 5
    LOOP = 6
    RELAY = 7
    MAP = 8
    INPUT = 9


@dataclass(frozen=True, slots=True)
class Input:
    """Where a unit reads one of its wired inputs."""

    port: str
    slot: int
    is_optional: bool


@dataclass(frozen=True, slots=True)
class Output:
    """Where a unit writes one of its outputs."""

    port: str
    slot: int
    is_optional: bool


@dataclass(frozen=True, slots=True)
class Carry:
    """One port of a loop: its first value, where a turn reads it and leaves the next, its last."""

    first: int
    current: int
    next: int
    final: int


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """What a loop needs beside the units in it; `entering` are the slots from outside
    it, `end_slots` those that are written when it ends.
    """

    scope: int
    exit: int
    exit_path: str
    is_outermost: bool
    max_turns: int | None
    carries: tuple[Carry, ...]
    collects: tuple[tuple[int, int], ...]
    step: int
    stop: int
    final_step: int
    truncated: int
    entering: tuple[int, ...]
    end_slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MapPlan:
    """What a map needs to run its graph per item.

    `items` is the slot of the list and `item` where each item reads its own. `latched` leads from
    slots around the map to slots within, `results` from slots within to slots around. `chains` are
    the first and the last call of an item to each ordered nodeset: the next item's wait for them.
    """

    plan: Plan
    items: int
    item: int
    latched: tuple[tuple[int, int], ...]
    results: tuple[tuple[int, int], ...]
    chains: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that fires: a tool, a built-in, a map or a whole loop.

    `index` is its place in the document. `followers` are the units of its scope that
    wait for it, for a value or for their turn at a copy. `reads` are the slots that it depends on,
    those of `after` included.
    """

    index: int
    path: str
    kind: Kind
    scope: int
    inputs: tuple[Input, ...]
    reads: tuple[int, ...]
    outputs: tuple[Output, ...]
    followers: tuple[int, ...]
    rank: int
    nodeset: str = ""
    tool: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None
    loop: LoopPlan | None = None
    map: MapPlan | None = None


@dataclass(frozen=True, slots=True)
class ScopePlan:
    """The units of the root or of one loop, in their fixed order.

    `waits` says for how many others each waits in a turn; `starters` are those that wait for none.
    """

    index: int
    units: tuple[int, ...]
    waits: Mapping[int, int]
    starters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled graph, or the graph of a map: units by their place in it, scopes by `iterIn`'s.

    `sequences` are the calls to each ordered nodeset, by nodeset and scope; `position_pairs`
    are neighbours in them, those in maps too, that nothing but their position orders.
    """

    units: Mapping[int, Unit]
    scopes: Mapping[int, ScopePlan]
    slot_count: int
    sequences: Mapping[tuple[str, int], tuple[int, ...]]
    position_pairs: tuple[tuple[str, str], ...]
