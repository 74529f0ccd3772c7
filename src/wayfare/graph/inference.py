"""Follow types and volatility through the built-ins, which pass on what they are given.

Knows nothing of what is allowed; a type that nothing tells is `ANY`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nodeset.ports import is_compatible
from wayfare.graph.builtin import RELAY, GraphInConfig, IterInConfig, IterOutConfig
from wayfare.graph.scope import Loop, topological_order
from wayfare.graph.sketch import Edge, Node, Sketch

ANY = "ANY"
FINAL = "final_"
INIT = "init_"

Port = tuple[int, str]


class Inference:
    """Type and volatility of every output port, found by passing along the edges until it rests.

    Types only ever widen. If they do not come to rest after a bounded number of passes (a loop that
    carries a list of its own lists), all that is passed on is `ANY`.
    """

    def __init__(self, sketch: Sketch, loops: Sequence[Loop]) -> None:
        self._nodes = sketch.nodes
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
                self._types[index, port.name] = port.wire_type
                if port.volatile:
                    self._volatile.add((index, port.name))
        return passed

    def _pass_along(self) -> bool:
        has_changed = False
        for port, origins in self._origins_of.items():
            found = self._joined(port, origins)
            if found != self._types.get(port):
                self._types[port] = found
                has_changed = True
            if port not in self._volatile and not self._volatile.isdisjoint(origins):
                self._volatile.add(port)
                has_changed = True
        return has_changed

    def _joined(self, port: Port, origins: list[Port]) -> str | None:
        # An origin without a signature (a broken node) may give anything.
        kinds = {
            self._types.get(origin, None if origin in self._origins_of else ANY)
            for origin in origins
        }
        found = _join(kinds)
        return f"LIST[{found}]" if found and self._nodes[port[0]].type == "collect" else found

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
