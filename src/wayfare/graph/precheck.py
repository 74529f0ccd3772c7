"""Check one node or one edge by the rules for whole graphs, before the rest of the graph is there.

Knows nothing of the order in which a graph is built.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from nodeset.ports import PortDef
from wayfare.graph.builtin import GraphInConfig, Signature, signature_of
from wayfare.graph.document import FORMAT_VERSION, EdgeSpec, GraphDocument, NodeSpec
from wayfare.graph.edgefit import edge_faults
from wayfare.graph.fault import Fault, GraphError
from wayfare.graph.flatten import RELAY_IN, RELAY_OUT, SUBGRAPH
from wayfare.graph.inference import Inference
from wayfare.graph.sketch import Manifest, Sketch, draw
from wayfare.graph.tooltype import split_type

PASSING_ON = frozenset({"iterIn", "iterOut", "switch", "merge", "collect", "map", "subgraph"})
"""Built-ins whose types come from edges that may not be there yet; `validate` checks these."""


class Precheck:
    """What can be said of a part of a graph; without manifests, nothing of tools' ports."""

    def __init__(self, manifests: Mapping[str, Manifest] | None) -> None:
        self.manifests = None if manifests is None else dict(manifests)
        """By the nodeset's name in the graph."""

    def node_faults(self, spec: NodeSpec, place: str) -> list[Fault]:
        """Return what is wrong with a node whatever is around it; `place` names it."""
        found = (f for f in self._sketch([spec]).faults if not depends_on_surroundings(f))
        moved = (replace(f, place=f.place.replace("nodes[0]", place, 1)) for f in found)
        return [self._explain(fault, spec) for fault in moved]

    def signature(self, spec: NodeSpec) -> Signature | None:
        """Return a faultless node's ports, None where nothing tells them."""
        if spec.type == SUBGRAPH:
            return _seen_from_outside(spec.config.get("graph"))
        if spec.type == RELAY_IN:
            return signature_of(RELAY_IN, GraphInConfig.model_validate(spec.config))
        return self._sketch([spec]).nodes[0].signature

    def edge_faults(self, edge: EdgeSpec, ends: Sequence[NodeSpec], place: str) -> list[Fault]:
        """Return what is wrong with an edge between two nodes, its source first."""
        sketch = self._sketch(list({spec.id: spec for spec in ends}.values()), [edge])
        faults = list(sketch.faults)
        # What a result may be depends on whether the graph becomes a subgraph.
        if ends[0].type not in PASSING_ON and ends[1].type != RELAY_OUT:
            faults += edge_faults(sketch, Inference(sketch, ()))
        here = [fault for fault in faults if fault.place.startswith("edges[0]")]
        return [replace(fault, place=place) for fault in here]

    def ambiguous_names(self, node_type: str) -> frozenset[str]:
        """Return the names that are both an input and a configuration key of a tool."""
        keys = self._find_tool(node_type).get("default_config") or {}
        return frozenset(self._input_names(node_type)).intersection(keys)

    def _explain(self, fault: Fault, spec: NodeSpec) -> Fault:
        """Say of an unknown config key that is an input how a value gets there."""
        if fault.kind != "config-key":
            return fault
        inputs = set(self._input_names(spec.type)).intersection(spec.config)
        key = next((key for key in inputs if repr(key) in fault.rule), None)
        if key is None:
            return fault
        remedy = f"{key!r} is an input: wire an output, or a value by inputs={{{key!r}: …}}."
        return replace(fault, remedy=remedy)

    def _input_names(self, node_type: str) -> Iterable[str]:
        return (port["name"] for port in self._find_tool(node_type).get("inputs", ()))

    def _find_tool(self, node_type: str) -> Manifest:
        """Return what the manifests say of a tool, nothing where they don't know it."""
        nodeset, tool = split_type(node_type) or ("", "")
        tools: Iterable[Manifest] = (self.manifests or {}).get(nodeset, {}).get("tools", ())
        return next((found for found in tools if found["name"] == tool), {})

    def _sketch(self, specs: list[NodeSpec], edges: Iterable[EdgeSpec] = ()) -> Sketch:
        part = GraphDocument(version=FORMAT_VERSION, nodes=specs, edges=list(edges))
        return draw(part, self.manifests)


def depends_on_surroundings(fault: Fault) -> bool:
    """Say whether a fault is none where the document is a subgraph or finds graphs by name."""
    return fault.kind == "top-level" or "is not known here" in fault.rule


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


def _seen_from_outside(graph: JsonValue) -> Signature | None:
    """Return the ports of a subgraph node, None if it names a graph that is elsewhere."""
    if not isinstance(graph, Mapping):
        return None
    nodes = GraphDocument.model_validate(graph).nodes
    inner = [GraphInConfig.model_validate(n.config) for n in nodes if n.type == RELAY_IN]
    inputs = [PortDef(c.port_name, c.type, optional=c.optional) for c in inner]
    results = [str(n.config.get("portName")) for n in nodes if n.type == RELAY_OUT]
    return Signature(
        {port.name: port for port in inputs}, {name: PortDef(name, "ANY") for name in results}
    )
