"""The built-in nodes as methods of a builder.

Knows nothing of tools, of loops as blocks, or of files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from wayfare.graph.document import GraphDocument
from wayfare.graph.draft import Draft
from wayfare.graph.handle import Node, Output, as_output, wire_all

InnerGraph = str | GraphDocument | Mapping[str, Any]


class Palette(ABC):
    """Adds built-in nodes. Values that are no outputs become consts; `id` is the node's own."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    @property
    @abstractmethod
    def document(self) -> GraphDocument:
        """Return the document as it stands."""

    def episode(self, id: str | None = None) -> Node:
        """Add what tells of the episode: `episode_index`, `episode_id`, `scene_id`, `seed`, …"""
        return self._add("episode", id, {}, {})

    def const(self, value: Any, id: str | None = None) -> Output:
        """Add a constant and return its output."""
        return self._add("const", id, {"value": value}, {}).value

    def switch(self, value: Any, condition: Any, id: str | None = None) -> Node:
        """Let the value out at `true` or at `false`; what hangs on the other one is off."""
        return self._add("switch", id, {}, {"value": value, "condition": condition})

    def merge(
        self, /, id: str | None = None, *, inputs: Mapping[str, Any] | None = None, **ports: Any
    ) -> Output:
        """Join alternatives, of which one comes, under port names of your choice."""
        wired = {**(inputs or {}), **ports}
        return self._add("merge", id, {"ports": list(wired)}, wired).value

    def collect(self, value: Any, id: str | None = None) -> Output:
        """Return the list of a value over the turns of its loop, there when the loop ends."""
        return self._add("collect", id, {}, {"value": value}).values

    def input(
        self, name: str, wire_type: str = "ANY", id: str | None = None, *, optional: bool = False
    ) -> Output:
        """Add an input of the graph, for one that is used as a subgraph."""
        config: dict[str, Any] = {"portName": name}
        if wire_type != "ANY":
            config["type"] = wire_type
        if optional:
            config["optional"] = True
        return self._add("graphIn", id, config, {}).value

    def output(self, name: str, value: Any, id: str | None = None) -> Node:
        """Add a result: a metric, METRICS for several, or an output of a subgraph."""
        return self._add("graphOut", id, {"portName": name}, {"value": value})

    def subgraph(
        self,
        graph: InnerGraph | Palette,
        /,
        id: str | None = None,
        *,
        inputs: Mapping[str, Any] | None = None,
        **ports: Any,
    ) -> Node:
        """Add another graph as one node; its inputs and outputs are the node's ports."""
        return self._add("subgraph", id, {"graph": inner(graph)}, {**(inputs or {}), **ports})

    def map(
        self,
        graph: InnerGraph | Palette,
        /,
        id: str | None = None,
        *,
        inputs: Mapping[str, Any] | None = None,
        **ports: Any,
    ) -> Node:
        """Add another graph that runs once per item of the list at `items`, at the same time."""
        return self._add("map", id, {"graph": inner(graph)}, {**(inputs or {}), **ports})

    def _add(
        self, node_type: str, id: str | None, config: Mapping[str, Any], wired: Mapping[str, Any]
    ) -> Node:
        draft = self._draft
        with draft.all_or_nothing():
            sources = {
                port: _sources(draft, value, f"{id or node_type}.{port}")
                for port, value in wired.items()
            }
            name = draft.add(node_type, id, config)
            wire_all(draft, name, sources)
        return Node(draft, name)


def inner(graph: InnerGraph | Palette) -> str | dict[str, Any]:
    """Return a graph as a node's configuration has it: a name, or a document."""
    if isinstance(graph, Palette):
        graph = graph.document
    if isinstance(graph, GraphDocument):
        return graph.to_json()
    return graph if isinstance(graph, str) else dict(graph)


def _sources(draft: Draft, value: Any, where: str) -> Output | list[Output]:
    """Make the consts of a node before the node, so that they stand before it."""
    if where.endswith(".after") and isinstance(value, list | tuple):
        return [as_output(draft, single, where) for single in value]
    return as_output(draft, value, where)
