"""Keep a graph that is being built: its nodes and edges, each checked as soon as it comes.

Knows nothing of handles, of loops as blocks, or of what a whole graph must have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from wayfare.graph.builtin import AFTER, FORBIDDEN_IN_NAMES, Signature
from wayfare.graph.document import FORMAT_VERSION, EdgeSpec, GraphDocument, NodeSpec
from wayfare.graph.edgefit import edge_faults
from wayfare.graph.fault import Fault, GraphError, suggest
from wayfare.graph.inference import Inference
from wayfare.graph.sketch import Manifest, Sketch, draw
from wayfare.graph.tooltype import split_type

PASSING_ON = frozenset({"iterIn", "iterOut", "switch", "merge", "collect", "map", "subgraph"})
"""Built-ins whose types come from edges that may not be there yet; `validate` checks these."""


class PortNameError(GraphError, AttributeError):
    """A node has no port of that name."""


class Draft:
    """Nodes in their order, edges in theirs; a node may be known before it is placed.

    What is added is refused with GraphError if it can't be right, whatever comes later.
    """

    def __init__(self, manifests: Mapping[str, Manifest] | None) -> None:
        self.manifests = None if manifests is None else dict(manifests)
        """By the nodeset's name in the graph; None: tools have no known ports."""
        self._specs: dict[str, NodeSpec] = {}
        self._order: list[str] = []
        self._edges: list[EdgeSpec] = []
        self._wired: dict[tuple[str, str], EdgeSpec] = {}
        self._signatures: dict[str, Signature | None] = {}

    @property
    def nodes(self) -> list[NodeSpec]:
        """Return the nodes in their order. Raises GraphError while a loop is open."""
        for name in self._specs:
            if name not in self._order:
                rule = f"the loop that {name!r} ends is still open"
                remedy = "Leave its with block first."
                raise GraphError([Fault("loop", f"loop {name!r}", rule, remedy)])
        return [self._specs[name] for name in self._order]

    @property
    def edges(self) -> list[EdgeSpec]:
        """Return the edges in their order."""
        return list(self._edges)

    @property
    def ids(self) -> list[str]:
        """Return the ids of all nodes, those that are not placed yet too."""
        return list(self._specs)

    def load(self, document: GraphDocument) -> None:
        """Take over a document as it is; only `validate` says whether it is right."""
        self._specs = {spec.id: spec for spec in document.nodes}
        self._order = list(self._specs)
        self._edges = list(document.edges)
        self._wired = {(edge.target, edge.target_handle): edge for edge in document.edges}

    def add(
        self, node_type: str, id: str | None, config: Mapping[str, Any], *, placed: bool = True
    ) -> str:
        """Add a node and return its id; without one it gets the type's own, with a number."""
        name = free_id(default_id(node_type, config), self._specs) if id is None else id
        spec = self._check_node(name, node_type, config)
        self._specs[name] = spec
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
        faults = [*self._double_edge(edge), *self._misfits(edge)]
        if faults:
            raise GraphError(faults)
        self._edges.append(edge)
        self._wired.setdefault(target, edge)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Take back what the block added if it raises, so that it may be tried again."""
        before = (self._specs.copy(), self._order.copy(), self._edges.copy(), self._wired.copy())
        try:
            yield
        except BaseException:
            self._specs, self._order, self._edges, self._wired = before
            raise

    def sort_edges(self, order: Iterable[int]) -> None:
        """Put the edges in this order of their present positions."""
        order = list(order)
        if sorted(order) != list(range(len(self._edges))):
            count = len(self._edges)
            raise ValueError(f"the order {order!r} must name each of the {count} edges once.")
        self._edges = [self._edges[position] for position in order]

    def signature(self, id: str) -> Signature | None:
        """Return the node's ports, None where nothing tells them."""
        if id not in self._signatures:
            spec = self._specs[id]
            self._signatures[id] = self._sketch([spec]).nodes[0].signature
        return self._signatures[id]

    def check_output(self, id: str, port: str) -> None:
        """Raise PortNameError if the node is known not to have this output."""
        signature = self.signature(id)
        if signature is None or port in signature.outputs:
            return
        spec = self._specs[id]
        rule = f"node {id!r} ({spec.type}) has no output port {port!r}"
        place = f"nodes[{self._position(id)}] {id!r}"
        raise PortNameError([Fault("unknown-port", place, rule, suggest(port, signature.outputs))])

    def ambiguous_names(self, node_type: str) -> frozenset[str]:
        """Return the names that are both an input and a configuration key of a tool."""
        tool = self._find_tool(node_type)
        inputs = frozenset(port["name"] for port in tool.get("inputs", ()))
        return inputs.intersection(tool.get("default_config") or {})

    def _check_node(self, name: str, node_type: str, config: Mapping[str, Any]) -> NodeSpec:
        place = f"nodes[{len(self._order)}] {name!r}"
        if name in self._specs:
            rule = f"id {name!r} is already that of a {self._specs[name].type}"
            raise GraphError([Fault("duplicate-id", place, rule, "Give it another id.")])
        plain = {key: as_json(value, f"{place} config.{key}") for key, value in config.items()}
        spec = NodeSpec(id=name, type=node_type, config=plain)
        sketch = self._sketch([spec])
        faults = [
            _moved(fault, "nodes[0]", f"nodes[{len(self._order)}]") for fault in sketch.faults
        ]
        if faults:
            raise GraphError([self._explain(fault, spec) for fault in faults])
        self._signatures[name] = sketch.nodes[0].signature
        return spec

    def _explain(self, fault: Fault, spec: NodeSpec) -> Fault:
        """Say of an unknown config key that is an input port how a value gets there."""
        if fault.kind != "config-key":
            return fault
        inputs = [port["name"] for port in self._find_tool(spec.type).get("inputs", ())]
        key = next((key for key in spec.config if key in inputs and repr(key) in fault.rule), None)
        if key is None:
            return fault
        remedy = f"{key!r} is an input: wire an output, or a value as inputs={{{key!r}: …}}."
        return replace(fault, remedy=remedy)

    def _find_tool(self, node_type: str) -> Manifest:
        """Return what the manifests say of a tool, nothing where they don't know it."""
        nodeset, tool = split_type(node_type) or ("", "")
        tools: Iterable[Manifest] = (self.manifests or {}).get(nodeset, {}).get("tools", ())
        return next((found for found in tools if found["name"] == tool), {})

    def _double_edge(self, edge: EdgeSpec) -> Iterable[Fault]:
        known = self._wired.get((edge.target, edge.target_handle))
        if known is None or edge.target_handle == AFTER.name:
            return
        rule = (
            f"input {edge.target}.{edge.target_handle} already has an edge, from "
            f"{known.source}.{known.source_handle}"
        )
        remedy = "Join alternatives with a merge; only 'after' takes several edges."
        yield Fault("double-edge", self._edge_place(edge), rule, remedy)

    def _misfits(self, edge: EdgeSpec) -> Iterable[Fault]:
        """Check the edge with its two nodes alone, by the rules that hold for whole graphs."""
        ends = dict.fromkeys((edge.source, edge.target))
        sketch = self._sketch([self._specs[name] for name in ends], [edge])
        faults = list(sketch.faults)
        if self._specs[edge.source].type not in PASSING_ON:
            faults += edge_faults(sketch, Inference(sketch, ()))
        here = [fault for fault in faults if fault.place.startswith("edges[0]")]
        return [replace(fault, place=self._edge_place(edge)) for fault in here]

    def _sketch(self, specs: list[NodeSpec], edges: Iterable[EdgeSpec] = ()) -> Sketch:
        part = GraphDocument(version=FORMAT_VERSION, nodes=specs, edges=list(edges))
        return draw(part, self.manifests)

    def _position(self, id: str) -> int:
        return self._order.index(id) if id in self._order else len(self._order)

    def _edge_place(self, edge: EdgeSpec) -> str:
        source = f"{edge.source}.{edge.source_handle}"
        return f"edges[{len(self._edges)}] {source} -> {edge.target}.{edge.target_handle}"


def default_id(node_type: str, config: Mapping[str, Any]) -> str:
    """Return the id that a node has if nobody names it: what it is, in one word."""
    match node_type:
        case "graphIn" | "graphOut":
            name = config.get("portName")
        case "iterIn":
            name = "loop"
        case "iterOut":
            name = f"{config.get('loop')}_end"
        case "subgraph" | "map":
            graph = config.get("graph")
            name = graph.get("name") if isinstance(graph, Mapping) else graph
        case _:
            parts = split_type(node_type)
            name = parts[1] if parts else node_type
    marks = "".join(map(re.escape, FORBIDDEN_IN_NAMES))
    return re.sub(f"[{marks}]", "_", str(name or node_type))


def free_id(wanted: str, taken: Container[str]) -> str:
    """Return the wanted id, or the first of it with `_2`, `_3`, … that is not taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def as_json(value: Any, place: str) -> JsonValue:
    """Return a configuration value as JSON has it, tuples as lists. Raises GraphError."""
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [as_json(item, f"{place}[{index}]") for index, item in enumerate(value)]
        case Mapping() if all(isinstance(key, str) for key in value):
            return {key: as_json(item, f"{place}.{key}") for key, item in value.items()}
    remedy = "Give numbers, text, booleans, None, lists or dicts of these; wire outputs as inputs."
    raise GraphError([Fault("config", place, "is no JSON value", remedy, value)])


def _moved(fault: Fault, before: str, after: str) -> Fault:
    return replace(fault, place=fault.place.replace(before, after, 1))
