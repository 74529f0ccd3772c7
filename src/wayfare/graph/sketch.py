"""Resolve a document: every node to its configuration and ports, every edge to two nodes.

Knows nothing of scopes, types along edges or execution; what cannot be resolved becomes a fault.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from nodeset.ports import PortDef
from wayfare.graph.anatomy import Edge, Manifest, Node, Sketch
from wayfare.graph.builtin import (
    AFTER,
    ITEM,
    ITEMS,
    MAP_IN,
    GraphInConfig,
    GraphOutConfig,
    Signature,
)
from wayfare.graph.document import GraphDocument
from wayfare.graph.fault import Fault, suggest
from wayfare.graph.flatten import (
    MAP,
    RELAY_IN,
    RELAY_OUT,
    Flat,
    FlatEdge,
    FlatNode,
    flatten,
    read_inner,
)
from wayfare.graph.resolution import resolve_node

__all__ = ["Edge", "Manifest", "Node", "Sketch", "draw"]


def draw(document: GraphDocument, manifests: Mapping[str, Manifest] | None) -> Sketch:
    """Resolve the document's nodes and edges; without manifests tools have no known ports."""
    return _draw(flatten(document), manifests)


def _draw(flat: Flat, manifests: Mapping[str, Manifest] | None) -> Sketch:
    faults = flat.faults
    nodes = [
        resolve_node(index, item, manifests=manifests, faults=faults)
        for index, item in enumerate(flat.nodes)
    ]
    for node, item in zip(nodes, flat.nodes, strict=True):
        if node.type == MAP:
            nodes[node.index] = _draw_map(node, item, manifests, faults)
    faults.extend(_duplicate_ids(nodes))
    by_id = {node.path: node for node in reversed(nodes)}
    edges: list[Edge] = []
    broken = list(flat.lost)
    for spec in flat.edges:
        edge = _resolve_edge(spec, by_id, faults)
        if edge is None:
            broken.append(spec)
        else:
            edges.append(edge)
    claimed = frozenset(claim for spec in broken for claim in _claims(spec, by_id))
    ends = {name for spec in broken for name in (spec.source, spec.target)}
    touched = frozenset(by_id[name].index for name in ends if name in by_id)
    targets = (spec.target for spec in broken)
    cut_off = frozenset(by_id[name].index for name in targets if name in by_id)
    return Sketch(tuple(nodes), tuple(edges), tuple(faults), claimed, touched, cut_off)


def _draw_map(
    node: Node, item: FlatNode, manifests: Mapping[str, Manifest] | None, faults: list[Fault]
) -> Node:
    document = read_inner(item.spec, item.place, faults)
    if document is None:
        return node
    place = f"{item.place} graph."
    inner = _draw(flatten(document, prefix=f"{item.path}/", place=place, home="map"), manifests)
    faults.extend(inner.faults)
    faults.extend(_item_faults(node, inner))
    return replace(node, inner=inner, signature=_map_signature(inner))


def _item_faults(node: Node, inner: Sketch) -> Iterable[Fault]:
    configs = [other.config for other in inner.nodes if other.type == MAP_IN]
    names = {config.port_name for config in configs if isinstance(config, GraphInConfig)}
    is_sure = all(other.signature for other in inner.nodes if other.type == RELAY_IN)
    place = f"{node.place} config.graph"
    if ITEM not in names and is_sure:
        rule = f"the graph of map {node.path!r} has no graphIn {ITEM!r}, to which each item comes"
        yield Fault("config", place, rule, f"Give it a graphIn with portName {ITEM!r}.")
    if ITEMS in names:
        rule = f"the graph of map {node.path!r} has a graphIn {ITEMS!r}, the name of the whole list"
        yield Fault("config", place, rule, f"Name it {ITEM!r}, or differently.")


def _map_signature(inner: Sketch) -> Signature | None:
    """Return a map's ports, or None if an end of its graph is broken and may be any of them."""
    inputs: dict[str, PortDef] = {}
    outputs: dict[str, PortDef] = {}
    for node in inner.nodes:
        match node.type, node.config:
            case (kind, None) if kind in (RELAY_IN, RELAY_OUT):
                return None
            case ("mapIn", GraphInConfig(port_name="item", type=kind)):
                inputs[ITEMS] = PortDef(ITEMS, f"LIST[{kind}]")
            case ("mapIn", GraphInConfig(port_name=name, type=kind, optional=is_optional)):
                inputs.setdefault(name, PortDef(name, kind, optional=is_optional))
            case ("mapOut", GraphOutConfig(port_name=name)):
                outputs[name] = PortDef(name, "LIST[ANY]")
    return Signature(inputs, outputs)


def _duplicate_ids(nodes: list[Node]) -> Iterable[Fault]:
    counts = Counter(node.path for node in nodes)
    seen: dict[str, str] = {}
    for node in nodes:
        if counts[node.path] > 1 and node.path in seen:
            rule = f"id {node.path!r} is already that of {seen[node.path]}"
            yield Fault("duplicate-id", node.place, rule, "Every node needs an id of its own.")
        seen.setdefault(node.path, f"nodes[{node.index}]")


def _resolve_edge(spec: FlatEdge, by_id: Mapping[str, Node], faults: list[Fault]) -> Edge | None:
    missing = [name for name in (spec.source, spec.target) if name not in by_id]
    for name in dict.fromkeys(missing):
        rule = f"there is no node {name!r}"
        faults.append(Fault("dangling-edge", spec.place, rule, suggest(name, by_id)))
    if missing:
        return None
    source, target = by_id[spec.source], by_id[spec.target]
    known_source = _check_port(spec.place, source, spec.source_port, "output", faults)
    known_target = _check_port(spec.place, target, spec.target_port, "input", faults)
    if not (known_source and known_target):
        return None
    return Edge(spec.place, source.index, spec.source_port, target.index, spec.target_port)


def _claims(spec: FlatEdge, by_id: Mapping[str, Node]) -> Iterable[tuple[int, str]]:
    node = by_id.get(spec.target)
    if node is None or node.signature is None:
        return
    ports = node.signature.inputs
    close = difflib.get_close_matches(spec.target_port, ports, n=1)
    for port in [spec.target_port] if spec.target_port in ports else close:
        yield node.index, port


def _check_port(place: str, node: Node, port: str, side: str, faults: list[Fault]) -> bool:
    if node.signature is None:
        return True
    ports = node.signature.inputs if side == "input" else node.signature.outputs
    if port in ports or (side == "input" and port == AFTER.name):
        return True
    rule = f"node {node.path!r} ({node.type}) has no {side} port {port!r}"
    known = [*ports, AFTER.name] if side == "input" else list(ports)
    faults.append(Fault("unknown-port", place, rule, suggest(port, known)))
    return False
