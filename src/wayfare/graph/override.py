"""Lay `--set` overrides over a graph document.

Knows nothing of manifests: whether a key is one that a nodeset knows is checked by `validate`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wayfare.graph.document import GraphDocument, read_graph
from wayfare.graph.fault import Fault, GraphError, suggest
from wayfare.graph.tooltype import nodesets_of


def apply_overrides(document: GraphDocument, overrides: Sequence[str]) -> GraphDocument:
    """Return the document with every `TARGET.KEY=VALUE` set, later ones over earlier ones.

    `nodes.ID.KEY`, `nodesets.NAME.KEY`, or `NAME.KEY` for a nodeset; VALUE is JSON, else text. A
    node of a subgraph or map goes by its path, `nodes.sub/inner.KEY`; graphs that are only named
    must have been embedded.
    Raises `GraphError` with all overrides that name nothing.
    """
    if not overrides:
        return document
    data = document.model_dump(mode="json", by_alias=True)
    faults = [fault for text in overrides if (fault := _apply(data, nodesets_of(document), text))]
    if faults:
        raise GraphError(faults)
    changed = read_graph(data)
    changed._reading_faults = document.reading_faults
    changed._notes = document.notes
    return changed


def _apply(data: dict[str, Any], nodesets: Sequence[str], text: str) -> Fault | None:
    place = f"--set {text}"
    target, equals, raw = text.partition("=")
    parts = target.split(".")
    if parts[0] == "nodesets":
        parts = parts[1:]
    is_node = parts[0] == "nodes" if parts else False
    names = parts[1:] if is_node else parts
    if not equals or len(names) != 2 or not all(names):
        rule = "must read nodes.ID.KEY=VALUE, nodesets.NAME.KEY=VALUE or NAME.KEY=VALUE"
        return Fault("override", place, rule, "Write it in one of these forms.")
    name, key = names
    config = _node_config(data, name) if is_node else _nodeset_config(data, nodesets, name)
    if isinstance(config, str):
        known = list(_node_paths(data, "")) if is_node else list(nodesets)
        return Fault("override", place, config, suggest(name, known))
    config[key] = _parse(raw)
    return None


def _node_config(data: dict[str, Any], name: str) -> dict[str, Any] | str:
    """Return a node's configuration, or what is wrong; `sub/inner` is in the graph of `sub`."""
    *around, last = name.split("/")
    graph, path = data, ""
    for part in around:
        node = _nodes_of(graph).get(part, {})
        path = f"{path}/{part}".lstrip("/")
        inner = node.get("config", {}).get("graph")
        if isinstance(inner, str):
            return f"graph {inner!r} of node {path!r} is only named in the graph, not in it"
        if not isinstance(inner, dict):
            return f"the graph has no node {name!r}"
        graph = inner
    if last not in _nodes_of(graph):
        return f"the graph has no node {name!r}"
    config: dict[str, Any] = _nodes_of(graph)[last].setdefault("config", {})
    return config


def _nodes_of(graph: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the nodes of a graph by id; of what is no graph, nothing: `validate` says so."""
    nodes = graph.get("nodes")
    found = nodes if isinstance(nodes, list) else []
    return {node["id"]: node for node in found if isinstance(node, dict) and "id" in node}


def _node_paths(graph: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, node in _nodes_of(graph).items():
        yield prefix + name
        inner = node.get("config", {}).get("graph")
        if isinstance(inner, dict):
            yield from _node_paths(inner, f"{prefix}{name}/")


def _nodeset_config(
    data: dict[str, Any], nodesets: Sequence[str], name: str
) -> dict[str, Any] | str:
    if name not in nodesets:
        return f"the graph has no nodeset {name!r}"
    entry = data["nodesets"].setdefault(name, {"config": {}})
    config: dict[str, Any] = entry["config"]
    return config


def _parse(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw
