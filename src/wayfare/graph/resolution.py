"""Resolve the nodes of a document one by one: configuration, ports, what is wrong with each.

Knows nothing of edges or of the graph inside a map.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from nodeset.ports import PortDef
from wayfare.graph.anatomy import Manifest, Node
from wayfare.graph.builtin import (
    CONFIGS,
    MAP_IN,
    MAP_OUT,
    RELAY,
    BuiltinConfig,
    Signature,
    signature_of,
)
from wayfare.graph.document import NodeSpec, describe_rule
from wayfare.graph.fault import Fault, suggest
from wayfare.graph.flatten import MAP, RELAY_IN, RELAY_OUT, SUBGRAPH, FlatNode, Home
from wayfare.graph.setting import value_faults
from wayfare.graph.tooltype import SEPARATOR, split_type


def resolve_node(
    index: int, item: FlatNode, *, manifests: Mapping[str, Manifest] | None, faults: list[Fault]
) -> Node:
    """Return the node with all that is known of it; a map without its graph and ports."""
    spec = item.spec
    node = Node(index, item.path, item.place, spec.type)
    if spec.type in CONFIGS:
        return _resolve_builtin(node, item, faults)
    if spec.type == MAP:
        return node
    return _resolve_tool(node, spec, manifests, faults)


def _resolve_builtin(node: Node, item: FlatNode, faults: list[Fault]) -> Node:
    model = CONFIGS[node.type]
    if node.type == RELAY_IN and item.home == "top":
        rule = "graphIn is an input of a subgraph; at the top nothing would come to it"
        faults.append(Fault("top-level", node.place, rule, "Use an episode or const node."))
        return node
    try:
        config = model.model_validate(item.spec.config, by_alias=True, by_name=False)
    except ValidationError as error:
        faults.extend(_config_faults(node, model, error))
        return node
    kind = _BOUNDARIES.get((item.home, node.type), node.type)
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
            yield Fault("config", place, describe_rule(detail), "Mend the value.", detail["input"])


def _resolve_tool(
    node: Node, spec: NodeSpec, manifests: Mapping[str, Manifest] | None, faults: list[Fault]
) -> Node:
    parts = split_type(spec.type)
    if parts is None:
        rule = f"node type {spec.type!r} is neither a built-in nor <nodeset>{SEPARATOR}<tool>"
        known = [*CONFIGS, SUBGRAPH, MAP, *_tool_types(manifests or {})]
        faults.append(Fault("node-type", node.place, rule, suggest(spec.type, known)))
        return node
    nodeset, tool = parts
    base = replace(node, nodeset=nodeset, tool=tool, tool_config=spec.config)
    if manifests is None:
        return base
    found = _find_tool(base, manifests, faults)
    if found is None:
        return base
    faults.extend(_setting_faults(base, found, manifests[nodeset]))
    return replace(base, signature=Signature(_ports(found["inputs"]), _ports(found["outputs"])))


def _find_tool(
    node: Node, manifests: Mapping[str, Manifest], faults: list[Fault]
) -> Manifest | None:
    manifest = manifests.get(node.nodeset)
    if manifest is None:
        rule = f"node type {node.type!r} is unknown: there is no nodeset {node.nodeset!r}"
        remedy = suggest(node.type, _tool_types(manifests))
        fault = Fault("node-type", node.place, rule, remedy, missing_nodeset=node.nodeset)
        faults.append(fault)
        return None
    for tool in manifest["tools"]:
        if tool["name"] == node.tool:
            found: Manifest = tool
            return found
    rule = f"node type {node.type!r} is unknown: nodeset {node.nodeset!r} has no tool {node.tool!r}"
    known = [f"{node.nodeset}{SEPARATOR}{tool['name']}" for tool in manifest["tools"]]
    faults.append(Fault("node-type", node.place, rule, suggest(node.type, known)))
    return None


def _setting_faults(node: Node, tool: Manifest, nodeset: Manifest) -> Iterable[Fault]:
    known = tool.get("default_config") or {}
    around = nodeset.get("default_config") or {}
    for key, value in node.tool_config.items():
        if key in known:
            continue
        rule = f"tool {node.type!r} knows no config key {key!r}"
        remedy = suggest(key, known) if known else "It has none: leave the key out."
        if key in around:
            place = f"nodesets.{node.nodeset}"
            remedy = f"Nodeset {node.nodeset!r} does: --set {place}.{key}=VALUE sets it."
        yield Fault("config-key", node.place, rule, remedy, value)
    place, option = f"{node.place} config.", f"--set nodes.{node.path}."
    yield from value_faults(node.type, node.tool_config, known, place=place, option=option)


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


_BOUNDARIES: Mapping[tuple[Home, str], str] = {
    ("subgraph", RELAY_IN): RELAY,
    ("subgraph", RELAY_OUT): RELAY,
    ("map", RELAY_IN): MAP_IN,
    ("map", RELAY_OUT): MAP_OUT,
}
