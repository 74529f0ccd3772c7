"""Follow types and volatility through the built-ins, which pass on what they are given.

Knows nothing of what is allowed; a type that nothing tells is `ANY`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nodeset.ports import is_compatible
from wayfare.graph.builtin import IterInConfig, IterOutConfig
from wayfare.graph.scope import Loop
from wayfare.graph.sketch import Edge, Node, Sketch

ANY = "ANY"
FINAL = "final_"
INIT = "init_"

Port = tuple[int, str]


class Inference:
    """Type and volatility of every output port."""

    def __init__(self, sketch: Sketch, loops: Iterable[Loop]) -> None:
        self._nodes = sketch.nodes
        self._incoming: dict[Port, list[Edge]] = {}
        for edge in sketch.edges:
            self._incoming.setdefault((edge.target, edge.target_port), []).append(edge)
        self._exit_of = {loop.entry: loop.exit for loop in loops}
        self._entry_of = {loop.exit: loop.entry for loop in loops}
        self._types: dict[Port, str | None] = {}
        self._volatile: dict[Port, bool] = {}

    def type_of(self, edge: Edge) -> str:
        """Return the wire type of the values that the edge carries."""
        return self._type((edge.source, edge.source_port), frozenset()) or ANY

    def is_volatile(self, edge: Edge) -> bool:
        """Say whether the values of the edge may differ from one attempt to the next."""
        return self._is_volatile((edge.source, edge.source_port), frozenset())

    def _type(self, port: Port, visiting: frozenset[Port]) -> str | None:
        if port in self._types:
            return self._types[port]
        if port in visiting:
            return None
        node = self._nodes[port[0]]
        declared = node.output(port[1])
        origins = self._origins(node, port[1])
        if origins is None:
            found: str | None = declared.wire_type if declared else ANY
        else:
            kinds = {self._type(origin, visiting | {port}) for origin in origins}
            found = _join(kinds)
            if found and node.type == "collect":
                found = f"LIST[{found}]"
        if not visiting:
            self._types[port] = found
        return found

    def _is_volatile(self, port: Port, visiting: frozenset[Port]) -> bool:
        if port in self._volatile:
            return self._volatile[port]
        if port in visiting:
            return False
        node = self._nodes[port[0]]
        origins = self._origins(node, port[1])
        if origins is None:
            declared = node.output(port[1])
            found = bool(declared and declared.volatile)
        else:
            found = any(self._is_volatile(origin, visiting | {port}) for origin in origins)
        if not visiting:
            self._volatile[port] = found
        return found

    def _origins(self, node: Node, output: str) -> list[Port] | None:
        """Return the output ports whose values this one passes on, None if it makes its own."""
        rule = _PASSED_ON.get(node.type)
        if rule is None or node.signature is None:
            return None
        inputs = rule(self, node, output)
        if inputs is None:
            return None
        edges = [edge for port in inputs for edge in self._incoming.get(port, [])]
        return [(edge.source, edge.source_port) for edge in edges]

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


_PASSED_ON: dict[str, Callable[[Inference, Node, str], list[Port] | None]] = {
    "switch": _value_input,
    "merge": _all_inputs,
    "collect": _value_input,
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
