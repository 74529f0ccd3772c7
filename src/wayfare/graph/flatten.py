"""Put the nodes of subgraphs into the graph around them, ids becoming paths (`sub/inner`).

Knows nothing of tools or scopes. A subgraph's inputs and outputs become relays, which pass on
what they are given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from wayfare.graph.bounds import MAX_NODES, check_size, too_large
from wayfare.graph.builtin import AFTER, FORBIDDEN_IN_NAMES
from wayfare.graph.document import EdgeSpec, GraphDocument, NodeSpec, read_graph
from wayfare.graph.fault import Fault, GraphError, suggest

SUBGRAPH = "subgraph"
MAP = "map"
RELAY_IN = "graphIn"
RELAY_OUT = "graphOut"
Home = Literal["top", "subgraph", "map"]
TOP_ONLY = ("nodesets", "environment", "step_budget")


@dataclass(frozen=True, slots=True)
class FlatNode:
    """A node with its path; `home` is the kind of graph that it stands in directly."""

    path: str
    place: str
    spec: NodeSpec
    home: Home


@dataclass(frozen=True, slots=True)
class FlatEdge:
    """An edge between paths."""

    place: str
    source: str
    source_port: str
    target: str
    target_port: str


@dataclass(frozen=True, slots=True)
class Flat:
    """The graph without subgraphs; `lost` are edges to or from what a subgraph has not."""

    nodes: list[FlatNode] = field(default_factory=list)
    edges: list[FlatEdge] = field(default_factory=list)
    lost: list[FlatEdge] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Inner:
    """A subgraph as its surroundings see it: its ports' relays and the nodes that start it."""

    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    starters: tuple[str, ...]
    is_broken: bool = False


BROKEN = _Inner({}, {}, (), is_broken=True)


def flatten(
    document: GraphDocument, *, prefix: str = "", place: str = "", home: Home = "top"
) -> Flat:
    """Return the nodes and edges of the document with all subgraphs laid open.

    A map stays one node: its graph runs once per item. For that graph `prefix` is the path and
    `place` the place of the map.
    """
    flat = Flat(faults=list(document.reading_faults))
    _add(flat, document, prefix=prefix, place=place, home=home)
    return flat


def embed_graphs(document: GraphDocument, find: Callable[[str], GraphDocument]) -> GraphDocument:
    """Return the document with the graphs that its subgraphs and maps name put in their place.

    `find` returns a graph by its name or raises `GraphError`. A graph that contains itself is
    refused. What is embedded is part of the agent and of its hash.
    """
    return _Embedding(find).embed(document, ())


class _Embedding:
    """Puts graphs in the place of their names; counts nodes: a few graphs can name millions."""

    def __init__(self, find: Callable[[str], GraphDocument]) -> None:
        self._find = find
        self._nodes = 0

    def embed(self, document: GraphDocument, names: tuple[str, ...]) -> GraphDocument:
        self._nodes += len(document.nodes)
        where = names[-1] if names else "graph"
        check_size(self._nodes, where, unit="nodes", most=MAX_NODES)
        notes: list[str] = []
        nodes = [self._embed_node(node, names, notes) for node in document.nodes]
        if nodes == document.nodes:
            return document
        embedded = document.model_copy(update={"nodes": nodes})
        embedded._reading_faults = document.reading_faults
        embedded._notes = (*document.notes, *notes)
        return embedded

    def _embed_node(self, node: NodeSpec, names: tuple[str, ...], notes: list[str]) -> NodeSpec:
        graph = node.config.get("graph")
        if node.type not in (SUBGRAPH, MAP) or not isinstance(graph, (str, dict)):
            return node
        if isinstance(graph, str):
            if graph in names:
                rule = f"graph {graph!r} contains itself: {' -> '.join([*names, graph])}"
                remedy = "Take one of these graphs out."
                raise GraphError([Fault("recursion", f"node {node.id!r}", rule, remedy)])
            inner, within = self._find(graph), (*names, graph)
        else:
            inner, within = read_graph(graph, f"node {node.id!r} config.graph"), names
        embedded = self.embed(inner, within)
        notes.extend(embedded.notes)
        config = {**node.config, "graph": embedded.to_json()}
        return node.model_copy(update={"config": config})


def _add(flat: Flat, document: GraphDocument, *, prefix: str, place: str, home: Home) -> _Inner:
    subgraphs: dict[str, _Inner] = {}
    counts = Counter(spec.id for spec in document.nodes)
    for index, spec in enumerate(document.nodes):
        own = f"{place}nodes[{index}] {spec.id!r}"
        if _is_full(flat, own):
            break
        _check_id(flat, spec.id, own)
        if spec.type == SUBGRAPH:
            if counts[spec.id] > 1:
                rule = f"id {spec.id!r} is that of {counts[spec.id]} nodes"
                remedy = "Every node needs an id of its own."
                flat.faults.append(Fault("duplicate-id", own, rule, remedy))
            subgraphs[spec.id] = _add_subgraph(flat, spec, prefix=prefix + spec.id, place=own)
        else:
            flat.nodes.append(FlatNode(prefix + spec.id, own, spec, home))
    for index, edge in enumerate(document.edges):
        text = f"{edge.source}.{edge.source_handle} -> {edge.target}.{edge.target_handle}"
        own = f"{place}edges[{index}] {text}"
        flat.edges.extend(_lay_open(flat, edge, subgraphs, prefix=prefix, place=own))
    return _seen_from_outside(document, subgraphs, prefix)


def _is_full(flat: Flat, place: str) -> bool:
    if len(flat.nodes) < MAX_NODES:
        return False
    if not any(fault.kind == "size" for fault in flat.faults):
        flat.faults.append(too_large(place, MAX_NODES + 1, "nodes", most=MAX_NODES))
    return True


def _check_id(flat: Flat, name: str, place: str) -> None:
    if not name or any(mark in name for mark in FORBIDDEN_IN_NAMES):
        rule = "a node's id must not be empty or contain '/' or '.', which separate paths"
        flat.faults.append(Fault("node-id", place, rule, "Rename it.", name))


def _add_subgraph(flat: Flat, spec: NodeSpec, *, prefix: str, place: str) -> _Inner:
    document = read_inner(spec, place, flat.faults)
    if document is None:
        return BROKEN
    flat.faults.extend(document.reading_faults)
    home: Home = "subgraph"
    return _add(flat, document, prefix=f"{prefix}/", place=f"{place} graph.", home=home)


def read_inner(spec: NodeSpec, place: str, faults: list[Fault]) -> GraphDocument | None:
    """Return the graph of a subgraph or map, or nothing and why."""
    for key in spec.config:
        if key != "graph":
            rule = f"built-in {spec.type!r} knows no config key {key!r}"
            faults.append(Fault("config-key", place, rule, suggest(key, ["graph"])))
    graph = spec.config.get("graph")
    if not isinstance(graph, dict):
        known = f"graph {graph!r} is not known here" if isinstance(graph, str) else "is missing"
        rule = f"a {spec.type}'s 'graph' must be a graph document or the name of one; {known}"
        faults.append(Fault("config", f"{place} config.graph", rule, "Give one of the two."))
        return None
    try:
        document = read_graph(graph, f"{place} config.graph")
    except GraphError as error:
        faults.extend(error.faults)
        return None
    for key in TOP_ONLY:
        if key in graph:
            rule = f"{key!r} stands only at the top of a graph"
            faults.append(Fault("top-only", f"{place} config.graph", rule, "Move it there."))
    return document


def _seen_from_outside(
    document: GraphDocument, subgraphs: Mapping[str, _Inner], prefix: str
) -> _Inner:
    fed = {edge.target for edge in document.edges}
    starters: list[str] = []
    for node in document.nodes:
        if node.id not in fed:
            inner = subgraphs.get(node.id)
            starters.extend(inner.starters if inner else [prefix + node.id])
    return _Inner(
        _relays(document, RELAY_IN, prefix), _relays(document, RELAY_OUT, prefix), tuple(starters)
    )


def _relays(document: GraphDocument, kind: str, prefix: str) -> dict[str, str]:
    return {
        str(node.config.get("portName")): prefix + node.id
        for node in reversed(document.nodes)
        if node.type == kind
    }


def _lay_open(
    flat: Flat, edge: EdgeSpec, subgraphs: Mapping[str, _Inner], *, prefix: str, place: str
) -> Iterable[FlatEdge]:
    """Return the edges that stand for one edge of the document."""
    source = (prefix + edge.source, edge.source_handle)
    targets = [(prefix + edge.target, edge.target_handle)]
    if edge.source in subgraphs:
        inner = subgraphs[edge.source]
        ends = _relay_of(flat, inner, source, place=place, side="output")
        if not ends:
            flat.lost.append(FlatEdge(place, *source, *targets[0]))
            return []
        source = ends[0]
    if edge.target in subgraphs:
        inner = subgraphs[edge.target]
        if edge.target_handle == AFTER.name:
            targets = [(starter, AFTER.name) for starter in inner.starters]
        else:
            targets = _relay_of(flat, inner, targets[0], place=place, side="input")
        if not targets:
            flat.lost.append(FlatEdge(place, *source, prefix + edge.target, edge.target_handle))
            return []
    return [FlatEdge(place, *source, *target) for target in targets]


def _relay_of(
    flat: Flat,
    inner: _Inner,
    port: tuple[str, str],
    *,
    place: str,
    side: Literal["input", "output"],
) -> list[tuple[str, str]]:
    """Return the relay's port that a subgraph's port is, or nothing and a fault."""
    path, name = port
    known = inner.inputs if side == "input" else inner.outputs
    if name in known:
        return [(known[name], "value")]
    if not inner.is_broken:
        rule = f"subgraph {path!r} has no {side} port {name!r}"
        flat.faults.append(Fault("unknown-port", place, rule, suggest(name, known)))
    return []
