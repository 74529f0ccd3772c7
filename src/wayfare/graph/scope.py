"""Find the loops of a graph and which loop every node is in.

Knows nothing of types or execution. A node is in a loop if a path leads to it from the outputs of
the loop's `iterIn`; `iterOut` and `collect` take their inputs inside and give outputs outside.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wayfare.graph.anatomy import Edge, Node, Sketch
from wayfare.graph.builtin import IterOutConfig
from wayfare.graph.fault import Fault, suggest

ROOT = -1
CARRY = "carry it into the next turn through iterIn and iterOut"


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop by the indices of its two ends; loops go by the index of their `iterIn`."""

    entry: int
    exit: int


@dataclass(frozen=True, slots=True)
class Scopes:
    """Which loop every node stands in.

    `scope_of` is where a node takes its inputs and fires: for an `iterIn` the loop around its own
    loop, for an `iterOut` or `collect` the loop that it belongs to. `source_scope_of` is where
    its outputs are. Both hold an `iterIn`'s index or `ROOT`. `parent_of` nests the loops.
    """

    loops: tuple[Loop, ...]
    scope_of: tuple[int, ...]
    source_scope_of: tuple[int, ...]
    parent_of: Mapping[int, int]
    faults: tuple[Fault, ...]

    def chain(self, scope: int) -> tuple[int, ...]:
        """Return the scope and all around it, innermost first, without the root."""
        result = []
        while scope != ROOT:
            result.append(scope)
            scope = self.parent_of[scope]
        return tuple(result)


def find_scopes(sketch: Sketch) -> Scopes | list[Fault]:
    """Return the scopes, or the faults that leave them undefined (a cycle, loops that cross)."""
    cycles = _cycle_faults(sketch)
    loops, pairing = _pair_loops(sketch.nodes)
    if cycles:
        return [*pairing, *cycles]
    order = topological_order(len(sketch.nodes), sketch.edges)
    membership = _Membership(sketch, loops, order)
    membership.settle()
    crossing = membership.crossings()
    if crossing:
        return pairing if membership.is_unsure() else [*pairing, *crossing]
    return membership.scopes(pairing)


def topological_order(count: int, edges: Iterable[Edge]) -> list[int]:
    """Return the nodes so that sources precede targets; those on a cycle are left out."""
    followers: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for edge in edges:
        followers[edge.source].append(edge.target)
        waiting[edge.target] += 1
    ready = deque(index for index in range(count) if not waiting[index])
    order = []
    while ready:
        index = ready.popleft()
        order.append(index)
        for follower in followers[index]:
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    return order


def _cycle_faults(sketch: Sketch) -> list[Fault]:
    """Name each cycle by one path around it."""
    followers: dict[int, list[int]] = {node.index: [] for node in sketch.nodes}
    for edge in sketch.edges:
        followers[edge.source].append(edge.target)
    ordered = set(topological_order(len(sketch.nodes), sketch.edges))
    left = {index for index in followers if index not in ordered}
    faults = []
    for start in sorted(left):
        cycle = _path_back(start, followers, left)
        if cycle:
            names = " -> ".join(sketch.nodes[index].path for index in [*cycle, start])
            rule = f"the edges go round in a cycle outside a loop: {names}"
            remedy = f"Remove an edge, or {CARRY}."
            faults.append(Fault("cycle", sketch.nodes[start].place, rule, remedy))
            left -= set(cycle)
    return faults


def _path_back(start: int, followers: Mapping[int, list[int]], within: set[int]) -> list[int]:
    """Return a shortest path from `start` back to it, or nothing."""
    came_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        index = queue.popleft()
        for follower in followers[index]:
            if follower == start:
                path = [index]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1]
            if follower in within and follower not in came_from:
                came_from[follower] = index
                queue.append(follower)
    return []


def _pair_loops(nodes: tuple[Node, ...]) -> tuple[list[Loop], list[Fault]]:
    faults: list[Fault] = []
    entries = {node.path: node for node in nodes if node.type == "iterIn"}
    exits: dict[int, Node] = {}
    for node in nodes:
        if not isinstance(node.config, IterOutConfig):
            continue
        folder = node.path[: node.path.rfind("/") + 1]
        entry = entries.get(folder + node.config.loop)
        if entry is None:
            rule = f"iterOut names the loop {node.config.loop!r}, but no iterIn has that id"
            remedy = suggest(folder + node.config.loop, entries)
            faults.append(Fault("loop", f"{node.place} config.loop", rule, remedy))
        elif entry.index in exits:
            rule = f"loop {entry.path!r} is already ended by {exits[entry.index].path!r}"
            faults.append(Fault("loop", node.place, rule, "A loop has one iterOut."))
        else:
            exits[entry.index] = node
    # An iterOut whose configuration is broken may be the missing one: its own fault says so.
    has_broken_exit = any(node.type == "iterOut" and node.config is None for node in nodes)
    for entry in entries.values():
        if entry.index not in exits and not has_broken_exit:
            rule = f"no iterOut ends the loop {entry.path!r}"
            remedy = f"Add an iterOut with config loop={entry.path!r}."
            faults.append(Fault("loop", entry.place, rule, remedy))
    return [Loop(entry, exits[entry].index) for entry in sorted(exits)], faults


class _Membership:
    """The set of loops around each node, found by passing along the edges once per nesting."""

    def __init__(self, sketch: Sketch, loops: list[Loop], order: list[int]) -> None:
        self.sketch = sketch
        self.loops = loops
        self.order = order
        self.incoming = sketch.edges_into()
        self.ended_by = {loop.exit: loop.entry for loop in loops}
        self.around: dict[int, frozenset[int]] = {loop.entry: frozenset() for loop in loops}
        self.inside: list[frozenset[int]] = []
        self.outside: list[frozenset[int]] = []

    def settle(self) -> None:
        """Repeat until loops that start without an input from around them are in their place."""
        for _ in range(2 * len(self.loops) + 2):
            self._pass_along()
            around = {
                loop.entry: (self.inside[loop.entry] | self.inside[loop.exit]) - {loop.entry}
                for loop in self.loops
            }
            if around == self.around:
                return
            self.around = around

    def _pass_along(self) -> None:
        count = len(self.sketch.nodes)
        self.inside = [frozenset()] * count
        self.outside = [frozenset()] * count
        for index in self.order:
            inside = frozenset[int]().union(
                *(self.outside[edge.source] for edge in self.incoming[index]),
            )
            inside = inside.union(*(self.around.get(loop, ()) for loop in inside))
            if index in self.around:
                inside |= self.around[index]
            if index in self.ended_by:
                inside |= {self.ended_by[index]}
            self.inside[index] = inside
            self.outside[index] = self._leave(index, inside)

    def _leave(self, index: int, inside: frozenset[int]) -> frozenset[int]:
        node = self.sketch.nodes[index]
        if index in self.around:
            return inside | {index}
        if index in self.ended_by:
            return inside - {self.ended_by[index]}
        if node.type == "collect" and inside:
            # While it is not known yet how the loops nest, nothing is passed on that may be wrong.
            loop = self.innermost(inside)
            return inside - {loop} if self._is_innermost(loop, inside) else frozenset()
        return inside

    def innermost(self, inside: frozenset[int]) -> int:
        return max(inside, key=lambda loop: (len(self.around.get(loop, ())), loop), default=ROOT)

    def _is_innermost(self, loop: int, inside: frozenset[int]) -> bool:
        return inside - {loop} <= self.around.get(loop, frozenset())

    def crossings(self) -> list[Fault]:
        """Report nodes that stand in two loops of which neither is inside the other."""
        for index, inside in enumerate(self.inside):
            loop = self.innermost(inside)
            others = inside - {loop}
            if loop != ROOT and not self._is_innermost(loop, inside):
                other = min(others - self.around.get(loop, frozenset()))
                names = sorted((self.sketch.nodes[loop].path, self.sketch.nodes[other].path))
                rule = f"stands in loops {names[0]!r} and {names[1]!r}, but neither is in the other"
                remedy = "Take values out of a loop by final_* or collect only."
                return [Fault("loop", self.sketch.nodes[index].place, rule, remedy)]
        return []

    def is_unsure(self) -> bool:
        """Say whether a broken edge may be what puts one loop into another."""
        unsure = self.sketch.find_unsure()
        return any(unsure.intersection((loop.entry, loop.exit)) for loop in self.loops)

    def scopes(self, faults: list[Fault]) -> Scopes:
        parent = {entry: self.innermost(around) for entry, around in self.around.items()}
        return Scopes(
            tuple(self.loops),
            tuple(self.innermost(inside) for inside in self.inside),
            tuple(self.innermost(outside) for outside in self.outside),
            parent,
            (*faults, *self._escapes()),
        )

    def _escapes(self) -> list[Fault]:
        """Report edges by which a value leaves a loop for a node that needs the loop's end."""
        after = self._needs_the_end()
        faults = []
        for edge in self.sketch.edges:
            for loop in self.outside[edge.source] & after[edge.target]:
                if loop in after[edge.source]:
                    continue
                name = self.sketch.nodes[loop].path
                target = self.sketch.nodes[edge.target].path
                rule = f"a value leads out of loop {name!r} to {target!r}, which needs its end"
                remedy = "Take it out by a final_* port of the iterOut or by a collect."
                faults.append(Fault("loop-escape", edge.place, rule, remedy))
        return faults

    def _needs_the_end(self) -> list[frozenset[int]]:
        """Return for every node the loops that must have ended before it can fire."""
        after: list[frozenset[int]] = [frozenset()] * len(self.sketch.nodes)
        for index in self.order:
            sources = [edge.source for edge in self.incoming[index]]
            ended = [self.inside[s] - self.outside[s] for s in sources]
            after[index] = frozenset[int]().union(*ended, *(after[s] for s in sources))
        return after
