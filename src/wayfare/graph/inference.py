"""Follow types and volatility through the built-ins, which pass on what they are given.

Knows nothing of what is allowed; a type that nothing tells is `ANY`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nodeset.ports import is_compatible, parse_wire_type
from wayfare.graph.anatomy import Edge, Node, Sketch
from wayfare.graph.builtin import (
    ITEM,
    ITEMS,
    MAP_IN,
    MAP_OUT,
    RELAY,
    GraphInConfig,
    GraphOutConfig,
    IterInConfig,
    IterOutConfig,
)
from wayfare.graph.flatten import MAP
from wayfare.graph.scope import Loop, Scopes, find_scopes, topological_order

ANY = "ANY"
FINAL = "final_"
INIT = "init_"

Port = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Flow:
    """What passes a port: its type, None while nothing tells it, and whether it is volatile."""

    type: str | None = None
    is_volatile: bool = False


NOTHING: Mapping[str, Flow] = MappingProxyType({})


class Inference:
    """Type and volatility of every output port, found by passing along the edges until it rests.

    Types only ever widen. If they do not come to rest after a bounded number of passes (a loop that
    carries a list of its own lists), all that is passed on is `ANY`. `given` is what comes to the
    graph of a map, by the names of its graphIns.
    """

    def __init__(
        self, sketch: Sketch, loops: Sequence[Loop], given: Mapping[str, Flow] = NOTHING
    ) -> None:
        self._nodes = sketch.nodes
        self._given = given
        self._maps: dict[int, tuple[Mapping[str, Flow], Inference]] = {}
        self._incoming: dict[Port, list[Port]] = {}
        for edge in sketch.edges:
            ends = self._incoming.setdefault((edge.target, edge.target_port), [])
            ends.append((edge.source, edge.source_port))
        self._exit_of = {loop.entry: loop.exit for loop in loops}
        self._entry_of = {loop.exit: loop.entry for loop in loops}
        self._types: dict[Port, str | None] = {}
        self._volatile: set[Port] = set()
        self._origins_of = self._declare(sketch)
        for _ in range(2 * len(loops) + 2):
            if not self._pass_along():
                break
        else:
            self._types |= dict.fromkeys(self._origins_of, ANY)

    def type_of(self, edge: Edge) -> str:
        """Return the wire type of the values that the edge carries."""
        return self._types.get((edge.source, edge.source_port)) or ANY

    def is_volatile(self, edge: Edge) -> bool:
        """Say whether the values of the edge may differ from one attempt to the next."""
        return (edge.source, edge.source_port) in self._volatile

    def within(self, index: int) -> Inference | None:
        """Return what is known within the graph of a map, by the map's index."""
        sketch, signature = self._nodes[index].inner, self._nodes[index].signature
        if sketch is None:
            return None
        names = signature.inputs if signature else ()
        given = {name: self._arriving(index, name) for name in names}
        known, inference = self._maps.get(index, (None, None))
        if inference is None or known != given:
            scopes = find_scopes(sketch)
            loops = scopes.loops if isinstance(scopes, Scopes) else ()
            inference = Inference(sketch, loops, given)
            self._maps[index] = given, inference
        return inference

    def result(self, name: str) -> Flow:
        """Return what comes out at a graphOut of the graph of a map."""
        for node in self._nodes:
            match node.config:
                case GraphOutConfig(port_name=own) if node.type == MAP_OUT and own == name:
                    return self._arriving(node.index, "value")
        return Flow(ANY)

    def _declare(self, sketch: Sketch) -> dict[Port, list[Port]]:
        """Note what ports declare; return those that pass values on, with where these come from."""
        passed: dict[Port, list[Port]] = {}
        for index in topological_order(len(sketch.nodes), sketch.edges):
            node = sketch.nodes[index]
            for port in node.signature.outputs.values() if node.signature else ():
                origins = self._origins(node, port.name)
                if origins is not None:
                    passed[index, port.name] = origins
                    continue
                flow = self._entering(node) or Flow(port.wire_type, port.volatile)
                self._types[index, port.name] = flow.type
                if flow.is_volatile:
                    self._volatile.add((index, port.name))
        return passed

    def _entering(self, node: Node) -> Flow | None:
        """Return what comes in at a graphIn of the graph of a map; a declared type is known."""
        if node.type != MAP_IN or not isinstance(node.config, GraphInConfig):
            return None
        name = node.config.port_name
        flow = self._given.get(ITEMS if name == ITEM else name, Flow(ANY))
        if node.config.type != ANY:
            return Flow(node.config.type, flow.is_volatile)
        return Flow(_element(flow.type), flow.is_volatile) if name == ITEM else flow

    def _pass_along(self) -> bool:
        has_changed = False
        for port, origins in self._origins_of.items():
            found = self._found(port, origins)
            if found.type != self._types.get(port):
                self._types[port] = found.type
                has_changed = True
            if port not in self._volatile and found.is_volatile:
                self._volatile.add(port)
                has_changed = True
        return has_changed

    def _found(self, port: Port, origins: list[Port]) -> Flow:
        kind = self._nodes[port[0]].type
        if kind == MAP:
            inner = self.within(port[0])
            return _listed(inner.result(port[1])) if inner else Flow(ANY)
        flow = self._joined(origins)
        return _listed(flow) if kind == "collect" else flow

    def _arriving(self, index: int, name: str) -> Flow:
        return self._joined(self._incoming.get((index, name), []))

    def _joined(self, origins: list[Port]) -> Flow:
        # An origin without a signature (a broken node) may give anything.
        kinds = {
            self._types.get(origin, None if origin in self._origins_of else ANY)
            for origin in origins
        }
        return Flow(_join(kinds), not self._volatile.isdisjoint(origins))

    def _origins(self, node: Node, output: str) -> list[Port] | None:
        """Return the output ports whose values this one passes on, None if it makes its own."""
        rule = _PASSED_ON.get(node.type)
        if rule is None or node.signature is None:
            return None
        inputs = rule(self, node, output)
        if inputs is None:
            return None
        return [origin for port in inputs for origin in self._incoming.get(port, [])]

    def carried(self, entry: int, name: str) -> list[Port]:
        """Return the input ports that feed a loop's port `name`: the first value and the next."""
        exit_index = self._exit_of.get(entry)
        ports: list[Port] = [(entry, INIT + name)]
        if exit_index is not None:
            ports.append((exit_index, name))
        return ports

    def of_entry(self, node: Node, output: str) -> list[Port] | None:
        if not isinstance(node.config, IterInConfig) or output not in node.config.ports:
            return None
        return self.carried(node.index, output)

    def of_exit(self, node: Node, output: str) -> list[Port] | None:
        name = output.removeprefix(FINAL)
        if not isinstance(node.config, IterOutConfig) or name not in node.config.ports:
            return None
        entry = self._entry_of.get(node.index)
        return [(node.index, name)] if entry is None else self.carried(entry, name)


def _all_inputs(_: Inference, node: Node, __: str) -> list[Port]:
    inputs = node.signature.inputs if node.signature else {}
    return [(node.index, name) for name in inputs]


def _value_input(_: Inference, node: Node, __: str) -> list[Port]:
    return [(node.index, "value")]


def _relayed(inference: Inference, node: Node, output: str) -> list[Port] | None:
    """An input of a subgraph that declares its type makes the type known."""
    if isinstance(node.config, GraphInConfig) and node.config.type != ANY:
        return None
    return _value_input(inference, node, output)


_PASSED_ON: dict[str, Callable[[Inference, Node, str], list[Port] | None]] = {
    "switch": _value_input,
    "merge": _all_inputs,
    "collect": _value_input,
    MAP: _all_inputs,
    RELAY: _relayed,
    "iterIn": Inference.of_entry,
    "iterOut": Inference.of_exit,
}


def _join(kinds: set[str | None]) -> str | None:
    """Return the one type that all of them are, `ANY` if there is none."""
    known = [kind for kind in kinds if kind is not None]
    if not known:
        return None
    if ANY in known:
        return ANY
    for candidate in sorted(known):
        if all(is_compatible(kind, candidate) for kind in known):
            return candidate
    return ANY


def _element(kind: str | None) -> str | None:
    """Return the type of a list's items; a list that says nothing of them holds `ANY`."""
    if kind is None:
        return None
    return parse_wire_type(kind)[1] or ANY


def _listed(flow: Flow) -> Flow:
    return Flow(f"LIST[{flow.type}]" if flow.type else None, flow.is_volatile)
