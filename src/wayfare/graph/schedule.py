"""Order the units of every scope: who waits for whom, and whose turn it is at a copy.

Knows nothing of slots or values. A unit is a node that fires or a whole loop, seen from the scope
around it and named by its `iterIn`.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wayfare.graph.anatomy import Sketch
from wayfare.graph.scope import ROOT, Scopes

Pair = tuple[int, int]

SETTLED_BY_TURN = ("iterOut", "collect")


@dataclass(frozen=True, slots=True)
class Schedule:
    """The fixed order within every scope and the pairs (earlier, later) that wait."""

    order: Mapping[int, tuple[int, ...]]
    pairs: frozenset[Pair]
    sequences: Mapping[tuple[str, int], tuple[int, ...]]
    position_pairs: tuple[Pair, ...]


def make_schedule(sketch: Sketch, scopes: Scopes, ordered: frozenset[str]) -> Schedule:
    """Order every scope topologically, ties by position, and chain the calls of each copy."""
    members = _members(sketch, scopes)
    needed = _needed_pairs(sketch, scopes)
    before_loops = _starters_before_loops(sketch, scopes, members[ROOT])
    order = {scope: _sort(units, needed | before_loops) for scope, units in members.items()}
    users = _users(sketch, scopes, ordered)
    sequences = {
        (nodeset, scope): tuple(unit for unit in units if unit in users[nodeset])
        for nodeset in sorted(users)
        for scope, units in order.items()
    }
    sequences = {key: units for key, units in sequences.items() if units}
    chained = {pair for units in sequences.values() for pair in _neighbours(units)}
    reach = _Reach(needed)
    free = tuple(sorted(pair for pair in chained if not reach.leads(*pair)))
    return Schedule(order, frozenset(needed | chained), sequences, free)


def _members(sketch: Sketch, scopes: Scopes) -> dict[int, list[int]]:
    members: dict[int, list[int]] = {ROOT: [], **{loop.entry: [] for loop in scopes.loops}}
    for node in sketch.nodes:
        if node.type not in SETTLED_BY_TURN:
            members[scopes.scope_of[node.index]].append(node.index)
    return members


def _needed_pairs(sketch: Sketch, scopes: Scopes) -> set[Pair]:
    pairs = set()
    for edge in sketch.edges:
        source = _unit_that_gives(sketch, scopes, edge.source)
        target = _unit_that_takes(sketch, scopes, edge.target, scopes.source_scope_of[edge.source])
        if source is not None and target is not None:
            pairs.add((source, target))
    return pairs


def _unit_that_gives(sketch: Sketch, scopes: Scopes, index: int) -> int | None:
    """Return the unit whose end makes a node's outputs known; an `iterIn`'s are from the start."""
    kind = sketch.nodes[index].type
    if kind == "iterIn":
        return None
    return scopes.scope_of[index] if kind in SETTLED_BY_TURN else index


def _unit_that_takes(sketch: Sketch, scopes: Scopes, index: int, scope: int) -> int | None:
    """Return the unit of `scope` that the node is or is in; what a turn's end reads is none."""
    own = scopes.scope_of[index]
    if own == scope:
        return None if sketch.nodes[index].type in SETTLED_BY_TURN else index
    for loop in scopes.chain(own):
        if scopes.parent_of[loop] == scope:
            return loop
    return None


def _starters_before_loops(sketch: Sketch, scopes: Scopes, root: list[int]) -> set[Pair]:
    """A node without inputs has its place before any loop, wherever it stands in the document."""
    fed = {edge.target for edge in sketch.edges}
    entries = [loop.entry for loop in scopes.loops if scopes.parent_of[loop.entry] == ROOT]
    starters = [unit for unit in root if unit not in fed and unit not in scopes.parent_of]
    return {(starter, entry) for starter in starters for entry in entries}


def _sort(units: Iterable[int], pairs: Iterable[Pair]) -> tuple[int, ...]:
    waiting = dict.fromkeys(units, 0)
    followers: dict[int, list[int]] = {unit: [] for unit in waiting}
    for earlier, later in pairs:
        if earlier in waiting and later in waiting:
            followers[earlier].append(later)
            waiting[later] += 1
    ready = [unit for unit, count in waiting.items() if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        unit = heapq.heappop(ready)
        order.append(unit)
        for follower in followers[unit]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, follower)
    return tuple(order)


def _users(sketch: Sketch, scopes: Scopes, ordered: frozenset[str]) -> dict[str, set[int]]:
    """Return for each ordered nodeset its tools, the maps that call it, and all loops around."""
    users: dict[str, set[int]] = {}
    for node in sketch.nodes:
        for nodeset in node.nodesets & ordered:
            own = users.setdefault(nodeset, set())
            own.add(node.index)
            own.update(scopes.chain(scopes.scope_of[node.index]))
    return users


def _neighbours(units: tuple[int, ...]) -> Iterable[Pair]:
    return itertools.pairwise(units)


class _Reach:
    """Answers whether one unit comes before another by the edges alone."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._followers: dict[int, list[int]] = {}
        for earlier, later in pairs:
            self._followers.setdefault(earlier, []).append(later)

    def leads(self, start: int, end: int) -> bool:
        seen, waiting = {start}, [start]
        while waiting:
            for follower in self._followers.get(waiting.pop(), ()):
                if follower == end:
                    return True
                if follower not in seen:
                    seen.add(follower)
                    waiting.append(follower)
        return False
