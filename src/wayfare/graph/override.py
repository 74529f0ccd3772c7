"""Lay `--set` overrides over a graph document.

Knows nothing of manifests: whether a key is one that a nodeset knows is checked by `validate`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from wayfare.graph.document import GraphDocument, read_graph
from wayfare.graph.fault import Fault, GraphError, suggest
from wayfare.graph.tooltype import nodesets_of


def apply_overrides(document: GraphDocument, overrides: Sequence[str]) -> GraphDocument:
    """Return the document with every `TARGET.KEY=VALUE` set, later ones over earlier ones.

    `nodes.ID.KEY`, `nodesets.NAME.KEY`, or `NAME.KEY` for a nodeset; VALUE is JSON, else text.
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
    if config is None:
        known = [node["id"] for node in data["nodes"]] if is_node else list(nodesets)
        kind = "node" if is_node else "nodeset"
        return Fault("override", place, f"the graph has no {kind} {name!r}", suggest(name, known))
    config[key] = _parse(raw)
    return None


def _node_config(data: dict[str, Any], name: str) -> dict[str, Any] | None:
    for node in data["nodes"]:
        if node["id"] == name:
            config: dict[str, Any] = node["config"]
            return config
    return None


def _nodeset_config(
    data: dict[str, Any], nodesets: Sequence[str], name: str
) -> dict[str, Any] | None:
    if name not in nodesets:
        return None
    entry = data["nodesets"].setdefault(name, {"config": {}})
    config: dict[str, Any] = entry["config"]
    return config


def _parse(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw
