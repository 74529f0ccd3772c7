"""Keep a graph that is being built: its nodes and edges, each checked as soon as it comes.

Knows nothing of handles, of loops as blocks, or of what a whole graph must have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from wayfare.graph.builtin import AFTER, Signature
from wayfare.graph.document import EdgeSpec, GraphDocument, NodeSpec
from wayfare.graph.fault import Fault, GraphError, suggest
from wayfare.graph.naming import default_id, free_id
from wayfare.graph.precheck import Precheck, as_json


class PortNameError(GraphError, AttributeError):
    """A node has no port of that name."""


class Draft:
    """Nodes in their order, edges in theirs; a node may be known before it is placed.

    What is added is refused with GraphError if it can't be right, whatever comes later.
    """

    def __init__(self, precheck: Precheck) -> None:
        self.precheck = precheck
        self.specs: dict[str, NodeSpec] = {}
        """All known nodes by id."""
        self.edges: list[EdgeSpec] = []
        self._order: list[str] = []
        self._wired: dict[tuple[str, str], EdgeSpec] = {}
        self._signatures: dict[str, Signature | None] = {}

    @property
    def nodes(self) -> list[NodeSpec]:
        """Return the nodes in their order. Raises GraphError while a loop is open."""
        for name in self.specs.keys() - set(self._order):
            place = f"loop {self.specs[name].config['loop']!r}"
            raise GraphError([Fault("loop", place, "is still open", "Leave its with block first.")])
        return [self.specs[name] for name in self._order]

    def load(self, document: GraphDocument) -> None:
        """Take over a document as it is; only `validate` says whether it is right."""
        self.specs = {spec.id: spec for spec in document.nodes}
        self.edges = list(document.edges)
        self._order = list(self.specs)
        self._wired = {(edge.target, edge.target_handle): edge for edge in document.edges}

    def add(
        self, node_type: str, id: str | None, config: Mapping[str, Any], *, placed: bool = True
    ) -> str:
        """Add a node and return its id; without one it gets the type's own, with a number."""
        name = free_id(default_id(node_type, config), self.specs) if id is None else id
        position = f"nodes[{len(self._order)}]"
        place = f"{position} {name!r}"
        if name in self.specs:
            rule = f"id {name!r} is already that of a {self.specs[name].type}"
            raise GraphError([Fault("duplicate-id", place, rule, "Give it another id.")])
        plain = {key: as_json(value, f"{place} config.{key}") for key, value in config.items()}
        spec = NodeSpec(id=name, type=node_type, config=plain)
        faults = self.precheck.node_faults(spec, position)
        if faults:
            raise GraphError(faults)
        self.specs[name] = spec
        if placed:
            self._order.append(name)
        return name

    def place(self, id: str) -> None:
        """Give a known node the next position."""
        self._order.append(id)

    def connect(self, source: tuple[str, str], target: tuple[str, str]) -> None:
        """Add an edge from an output port to an input port, each a node's id and a port."""
        edge = EdgeSpec(
            source=source[0], source_handle=source[1], target=target[0], target_handle=target[1]
        )
        place = f"edges[{len(self.edges)}] {'.'.join(source)} -> {'.'.join(target)}"
        ends = (self.specs[edge.source], self.specs[edge.target])
        faults = [
            *self._double_edge(target, place),
            *self.precheck.edge_faults(edge, ends, place),
        ]
        if faults:
            raise GraphError(faults)
        self.edges.append(edge)
        self._wired.setdefault(target, edge)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Take back what the block added if it raises, so that it may be tried again."""
        before = (self.specs.copy(), self.edges.copy(), self._order.copy(), self._wired.copy())
        try:
            yield
        except BaseException:
            self.specs, self.edges, self._order, self._wired = before
            self._signatures.clear()
            raise

    def signature(self, id: str) -> Signature | None:
        """Return the node's ports, None where nothing tells them."""
        if id not in self._signatures:
            spec = self.specs[id]
            is_sound = not self.precheck.node_faults(spec, id)
            self._signatures[id] = self.precheck.signature(spec) if is_sound else None
        return self._signatures[id]

    def check_output(self, id: str, port: str) -> None:
        """Raise PortNameError if the node is known not to have this output."""
        signature = self.signature(id)
        if signature is None or port in signature.outputs:
            return
        rule = f"a {self.specs[id].type} has no output port {port!r}"
        remedy = suggest(port, signature.outputs)
        raise PortNameError([Fault("unknown-port", f"node {id!r}", rule, remedy)])

    def _double_edge(self, target: tuple[str, str], place: str) -> Iterable[Fault]:
        known = self._wired.get(target)
        if known is None or target[1] == AFTER.name:
            return
        rule = (
            f"input {'.'.join(target)!r} already has an edge, from "
            f"'{known.source}.{known.source_handle}'"
        )
        remedy = "Join alternatives with a merge; only 'after' takes several edges."
        yield Fault("double-edge", place, rule, remedy)
