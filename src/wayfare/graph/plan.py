"""Compile a valid graph once per run into numbered nodes, slots and a fixed order.

Knows nothing of episodes or calls in flight: what stands here is the same for all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from wayfare.graph.anatomy import Manifest, Node, Sketch
from wayfare.graph.builtin import (
    ITEM,
    ITEMS,
    MAP_IN,
    MAP_OUT,
    RELAY,
    STOP,
    ConstConfig,
    GraphInConfig,
    GraphOutConfig,
    IterOutConfig,
    Signature,
)
from wayfare.graph.document import GraphDocument
from wayfare.graph.fault import GraphError
from wayfare.graph.flatten import MAP
from wayfare.graph.schedule import make_schedule
from wayfare.graph.scope import ROOT, Loop, Scopes, find_scopes
from wayfare.graph.sketch import draw
from wayfare.graph.unit import (
    NEVER,
    Carry,
    Input,
    Kind,
    LoopPlan,
    MapPlan,
    Output,
    Plan,
    ScopePlan,
    Unit,
)
from wayfare.graph.validate import validate

__all__ = ["Plan", "compile_plan"]


def compile_plan(
    document: GraphDocument, manifests: Mapping[str, Manifest], ordered: frozenset[str]
) -> Plan:
    """Compile a graph; `ordered` are the nodesets whose calls go out one after another.

    Raises `GraphError` with all faults of a document that is not valid.
    """
    faults = validate(document, manifests)
    if faults:
        raise GraphError(faults)
    return _Compiler(draw(document, manifests), ordered).compile()


class _Compiler:
    def __init__(self, sketch: Sketch, ordered: frozenset[str], *, is_top: bool = True) -> None:
        scopes = find_scopes(sketch)
        if not isinstance(scopes, Scopes):
            raise GraphError(scopes)
        self.sketch = sketch
        self.ordered = ordered
        self.is_top = is_top
        self.scopes = scopes
        self.schedule = schedule = make_schedule(sketch, scopes, ordered)
        self.incoming = sketch.edges_into()
        self.slots: dict[tuple[int, str], int] = {}
        for node in sketch.nodes:
            for port in node.signature.outputs if node.signature else ():
                self.slots[node.index, port] = len(self.slots) + 1
        self.followers: dict[int, list[int]] = {node.index: [] for node in sketch.nodes}
        self.waits = dict.fromkeys(self.followers, 0)
        for earlier, later in sorted(schedule.pairs):
            self.followers[earlier].append(later)
            self.waits[later] += 1

    def compile(self) -> Plan:
        ranks = {unit: rank for rank, unit in enumerate(self._in_order(ROOT))}
        units = {
            node.index: self._unit(node, ranks[node.index])
            for node in self.sketch.nodes
            if node.index in ranks
        }
        scopes = {scope: self._scope(scope, units) for scope, units in self.schedule.order.items()}
        paths = [node.path for node in self.sketch.nodes]
        pairs = tuple((paths[a], paths[b]) for a, b in self.schedule.position_pairs)
        inner = (unit.map.plan.position_pairs for unit in units.values() if unit.map)
        pairs = tuple(itertools.chain(pairs, *inner))
        return Plan(units, scopes, len(self.slots) + 1, self.schedule.sequences, pairs)

    def _scope(self, scope: int, units: tuple[int, ...]) -> ScopePlan:
        waits = {unit: self.waits[unit] for unit in units}
        return ScopePlan(scope, units, waits, tuple(u for u in units if not waits[u]))

    def _in_order(self, scope: int) -> list[int]:
        """Return all units in the order of their calls, a loop's at the loop's place."""
        order = []
        for unit in self.schedule.order[scope]:
            order.append(unit)
            if unit in self.schedule.order:
                order.extend(self._in_order(unit))
        return order

    def _unit(self, node: Node, rank: int) -> Unit:
        is_loop = node.index in self.scopes.parent_of
        signature = node.signature or Signature({}, {})
        outputs = signature.outputs.values()
        return Unit(
            index=node.index,
            path=node.path,
            kind=Kind.LOOP if is_loop else _KINDS.get(node.type, Kind.TOOL),
            scope=self.scopes.scope_of[node.index],
            inputs=tuple(self._inputs(node, signature)),
            reads=tuple(
                self.slots[edge.source, edge.source_port] for edge in self.incoming[node.index]
            ),
            outputs=tuple(
                Output(port.name, self.slots[node.index, port.name], port.optional)
                for port in outputs
            ),
            followers=tuple(self.followers[node.index]),
            rank=rank,
            nodeset=node.nodeset,
            tool=node.tool,
            config=node.tool_config,
            value=_value_of(node),
            loop=self._loop(node) if is_loop else None,
            map=self._map(node, node.inner) if node.inner else None,
        )

    def _map(self, node: Node, inner: Sketch) -> MapPlan:
        compiler = _Compiler(inner, self.ordered, is_top=False)
        plan = compiler.compile()
        around = self.wired(node.index)
        ends: dict[str, int] = {}
        results = []
        for end in inner.nodes:
            match end.config:
                case GraphInConfig(port_name=name) if end.type == MAP_IN:
                    ends[name] = compiler.slots[end.index, "value"]
                case GraphOutConfig(port_name=name) if end.type == MAP_OUT:
                    within = compiler.wired(end.index)["value"]
                    results.append((within, self.slots[node.index, name]))
        return MapPlan(
            plan=plan,
            items=around[ITEMS],
            item=ends.pop(ITEM),
            latched=tuple((around[name], ends[name]) for name in ends if name in around),
            results=tuple(results),
            chains=tuple(
                (units[0], units[-1])
                for (_, scope), units in plan.sequences.items()
                if scope == ROOT
            ),
        )

    def _inputs(self, node: Node, signature: Signature) -> list[Input]:
        slots = self.wired(node.index)
        # A merge must be wired but lives on inputs that are off.
        survives = node.type == "merge"
        return [
            Input(port.name, slots[port.name], port.optional or survives)
            for port in signature.inputs.values()
            if port.name in slots
        ]

    def wired(self, index: int) -> dict[str, int]:
        """Return the slots that a node's wired inputs read, by port."""
        return {
            edge.target_port: self.slots[edge.source, edge.source_port]
            for edge in self.incoming[index]
        }

    def _loop(self, entry: Node) -> LoopPlan:
        loop = next(loop for loop in self.scopes.loops if loop.entry == entry.index)
        exit_node = self.sketch.nodes[loop.exit]
        config = exit_node.config
        ends = self.wired(loop.exit)
        collects = self._collects(loop.entry)
        ports = exit_node.signature.outputs if exit_node.signature else ()
        return LoopPlan(
            scope=loop.entry,
            exit=loop.exit,
            exit_path=exit_node.path,
            is_outermost=self.is_top and self.scopes.parent_of[loop.entry] == ROOT,
            max_turns=config.max_turns if isinstance(config, IterOutConfig) else None,
            carries=self._carries(loop, ends),
            collects=collects,
            step=self.slots[loop.entry, "step"],
            stop=ends[STOP.name],
            final_step=self.slots[loop.exit, "final_step"],
            truncated=self.slots[loop.exit, "truncated"],
            entering=self._entering(loop.entry),
            end_slots=(
                *(self.slots[loop.exit, port] for port in ports),
                *(target for _, target in collects),
            ),
        )

    def _carries(self, loop: Loop, ends: Mapping[str, int]) -> tuple[Carry, ...]:
        """Return the ports of both ends; one that only one of them has is never or only carried."""
        starts = self.wired(loop.entry)
        names = dict.fromkeys(
            name
            for index in (loop.entry, loop.exit)
            for name in getattr(self.sketch.nodes[index].config, "ports", ())
        )
        return tuple(
            Carry(
                first=starts.get(f"init_{name}", NEVER),
                current=self.slots.get((loop.entry, name), NEVER),
                next=ends.get(name, NEVER),
                final=self.slots.get((loop.exit, f"final_{name}"), NEVER),
            )
            for name in names
        )

    def _collects(self, entry: int) -> tuple[tuple[int, int], ...]:
        return tuple(
            (self.wired(node.index)["value"], self.slots[node.index, "values"])
            for node in self.sketch.nodes
            if node.type == "collect" and self.scopes.scope_of[node.index] == entry
        )

    def _entering(self, entry: int) -> tuple[int, ...]:
        """Return the slots outside the loop that something in it reads."""
        slots = {
            self.slots[edge.source, edge.source_port]
            for edge in self.sketch.edges
            if (edge.target == entry or self._is_within(self.scopes.scope_of[edge.target], entry))
            and not self._is_within(self.scopes.source_scope_of[edge.source], entry)
        }
        return tuple(sorted(slots))

    def _is_within(self, scope: int, loop: int) -> bool:
        return loop in self.scopes.chain(scope)


_KINDS = {
    "episode": Kind.EPISODE,
    "const": Kind.CONST,
    "switch": Kind.SWITCH,
    "merge": Kind.MERGE,
    "graphOut": Kind.RESULT,
    RELAY: Kind.RELAY,
    MAP: Kind.MAP,
    MAP_IN: Kind.INPUT,
    MAP_OUT: Kind.RESULT,
}


def _value_of(node: Node) -> Any:
    match node.config:
        case ConstConfig(value=value):
            return value
        case GraphOutConfig(port_name=name):
            return name
    return None
