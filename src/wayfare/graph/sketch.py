"""Resolve a document: every node to its configuration and ports, every edge to two nodes.

Knows nothing of scopes, types along edges or execution; what cannot be resolved becomes a fault.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from nodeset.ports import PortDef
from wayfare.graph.builtin import (
    AFTER,
    CONFIGS,
    RELAY,
    BuiltinConfig,
    Signature,
    signature_of,
)
from wayfare.graph.document import GraphDocument, NodeSpec
from wayfare.graph.fault import Fault, suggest
from wayfare.graph.flatten import RELAY_IN, RELAY_OUT, SUBGRAPH, FlatEdge, FlatNode, flatten
from wayfare.graph.tooltype import SEPARATOR, split_type

Manifest = Mapping[str, Any]

PLANNED = ("map",)
"""Words of the graph language that nothing runs yet."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node, resolved as far as possible; `index` counts with subgraphs laid open.

    `config` is set for a built-in, `nodeset` and `tool` for a tool; `signature` is None where the
    node is broken or no manifest is at hand: its ports are then not checked.
    """

    index: int
    path: str
    place: str
    type: str
    signature: Signature | None = None
    config: BuiltinConfig | None = None
    nodeset: str = ""
    tool: str = ""
    tool_config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_tool(self) -> bool:
        return bool(self.tool)

    def input(self, name: str) -> PortDef | None:
        if name == AFTER.name:
            return AFTER
        return self.signature.inputs.get(name) if self.signature else None

    def output(self, name: str) -> PortDef | None:
        return self.signature.outputs.get(name) if self.signature else None


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge between two nodes that exist, by their indices."""

    place: str
    source: int
    source_port: str
    target: int
    target_port: str

    def __str__(self) -> str:
        return self.place


@dataclass(frozen=True, slots=True)
class Sketch:
    """The resolved graph and what could not be resolved.

    `claimed` holds the input ports that broken edges mean to wire and `touched` the nodes that
    they name, so that one mistake does not show up as two faults.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    faults: tuple[Fault, ...]
    claimed: frozenset[tuple[int, str]] = frozenset()
    touched: frozenset[int] = frozenset()

    def edges_into(self) -> list[list[Edge]]:
        incoming: list[list[Edge]] = [[] for _ in self.nodes]
        for edge in self.edges:
            incoming[edge.target].append(edge)
        return incoming


def draw(document: GraphDocument, manifests: Mapping[str, Manifest] | None) -> Sketch:
    """Resolve the document's nodes and edges; without manifests tools have no known ports."""
    flat = flatten(document)
    faults = flat.faults
    nodes = [_resolve_node(index, item, manifests, faults) for index, item in enumerate(flat.nodes)]
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
    return Sketch(tuple(nodes), tuple(edges), tuple(faults), claimed, touched)


def _resolve_node(
    index: int, item: FlatNode, manifests: Mapping[str, Manifest] | None, faults: list[Fault]
) -> Node:
    spec = item.spec
    node = Node(index, item.path, item.place, spec.type)
    if spec.type in CONFIGS:
        return _resolve_builtin(node, item, faults)
    return _resolve_tool(node, spec, manifests, faults)


def _resolve_builtin(node: Node, item: FlatNode, faults: list[Fault]) -> Node:
    model = CONFIGS[node.type]
    if node.type == RELAY_IN and not item.is_inner:
        rule = "graphIn is an input of a subgraph; at the top nothing would come to it"
        faults.append(Fault("top-level", node.place, rule, "Use an episode or const node."))
        return node
    try:
        config = model.model_validate(item.spec.config)
    except ValidationError as error:
        faults.extend(_config_faults(node, model, error))
        return node
    is_relay = item.is_inner and node.type in (RELAY_IN, RELAY_OUT)
    kind = RELAY if is_relay else node.type
    return replace(node, type=kind, signature=signature_of(kind, config), config=config)


def _config_faults(
    node: Node, model: type[BuiltinConfig], error: ValidationError
) -> Iterable[Fault]:
    known = [item.alias or name for name, item in model.model_fields.items()]
    for detail in error.errors(include_url=False):
        key = str(detail["loc"][0]) if detail["loc"] else ""
        place = f"{node.place} config.{key}"
        if detail["type"] == "extra_forbidden":
            rule = f"built-in {node.type!r} knows no config key {key!r}"
            yield Fault("config-key", node.place, rule, suggest(key, known))
        elif detail["type"] == "missing":
            rule = f"built-in {node.type!r} must have it"
            yield Fault("config", place, rule, f"Add {key!r} to the node's config.")
        else:
            text = detail["msg"].removeprefix("Value error, ")
            rule = text[0].lower() + text[1:]
            yield Fault("config", place, rule, "Mend the value.", detail["input"])


def _resolve_tool(
    node: Node, spec: NodeSpec, manifests: Mapping[str, Manifest] | None, faults: list[Fault]
) -> Node:
    parts = split_type(spec.type)
    if node.type in PLANNED:
        rule = f"built-in {node.type!r} is not available in this version of Wayfare"
        faults.append(Fault("node-type", node.place, rule, "Use a loop and a collect."))
        return node
    if parts is None:
        rule = f"node type {spec.type!r} is neither a built-in nor <nodeset>{SEPARATOR}<tool>"
        known = [*CONFIGS, SUBGRAPH, *_tool_types(manifests or {})]
        faults.append(Fault("node-type", node.place, rule, suggest(spec.type, known)))
        return node
    nodeset, tool = parts
    base = replace(node, nodeset=nodeset, tool=tool, tool_config=spec.config)
    if manifests is None:
        return base
    found = _find_tool(base, manifests, faults)
    if found is None:
        return base
    faults.extend(_tool_config_faults(base, found))
    return replace(base, signature=Signature(_ports(found["inputs"]), _ports(found["outputs"])))


def _find_tool(
    node: Node, manifests: Mapping[str, Manifest], faults: list[Fault]
) -> Manifest | None:
    manifest = manifests.get(node.nodeset)
    if manifest is None:
        rule = f"node type {node.type!r} is unknown: there is no nodeset {node.nodeset!r}"
        remedy = suggest(node.type, _tool_types(manifests))
        faults.append(Fault("node-type", node.place, rule, remedy))
        return None
    for tool in manifest["tools"]:
        if tool["name"] == node.tool:
            found: Manifest = tool
            return found
    rule = f"node type {node.type!r} is unknown: nodeset {node.nodeset!r} has no tool {node.tool!r}"
    known = [f"{node.nodeset}{SEPARATOR}{tool['name']}" for tool in manifest["tools"]]
    faults.append(Fault("node-type", node.place, rule, suggest(node.type, known)))
    return None


def _tool_config_faults(node: Node, tool: Manifest) -> Iterable[Fault]:
    known = tool.get("default_config") or {}
    for key in node.tool_config:
        if key not in known:
            rule = f"tool {node.type!r} knows no config key {key!r}"
            yield Fault("config-key", node.place, rule, suggest(key, known))


def _tool_types(manifests: Mapping[str, Manifest]) -> list[str]:
    return [
        f"{name}{SEPARATOR}{tool['name']}"
        for name, manifest in manifests.items()
        for tool in manifest["tools"]
    ]


def _ports(described: Iterable[Mapping[str, Any]]) -> dict[str, PortDef]:
    return {
        port["name"]: PortDef(
            port["name"],
            port["wire_type"],
            port.get("description", ""),
            bool(port.get("optional", False)),
            bool(port.get("volatile", False)),
        )
        for port in described
    }


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
