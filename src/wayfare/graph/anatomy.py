"""A graph whose nodes are resolved to their configuration and ports, and edges to two nodes.

Knows nothing of documents, of how it was resolved or of whether it is valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodeset.ports import PortDef
from wayfare.graph.builtin import AFTER, BuiltinConfig, Signature
from wayfare.graph.fault import Fault

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Node:
    """A node, resolved as far as possible; `index` counts with subgraphs laid open.

    `config` is set for a built-in, `nodeset` and `tool` for a tool, `inner` for a map: the graph
    that runs per item, with a count of its own. `signature` is None where the node is broken or
    no manifest is at hand: its ports are then not checked.
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
    inner: Sketch | None = None

    @property
    def is_tool(self) -> bool:
        return bool(self.tool)

    @property
    def nodesets(self) -> frozenset[str]:
        """Return the nodesets that a firing of the node may call."""
        if self.inner is not None:
            return self.inner.nodesets
        return frozenset({self.nodeset} if self.is_tool else ())

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

    `claimed` holds the input ports that broken edges mean to wire, `touched` the nodes that they
    name and `cut_off` those that they lead to, so that one mistake does not show up as two faults.
    `faults` include those of maps.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    faults: tuple[Fault, ...]
    claimed: frozenset[tuple[int, str]] = frozenset()
    touched: frozenset[int] = frozenset()
    cut_off: frozenset[int] = frozenset()

    def edges_into(self) -> list[list[Edge]]:
        incoming: list[list[Edge]] = [[] for _ in self.nodes]
        for edge in self.edges:
            incoming[edge.target].append(edge)
        return incoming

    def find_unsure(self) -> frozenset[int]:
        """Return the nodes to which a broken edge may lead: what loops they stand in is not known.

        An edge is broken too if it leads out of a subgraph whose graph is not known.
        """
        followers: dict[int, list[int]] = {}
        for edge in self.edges:
            followers.setdefault(edge.source, []).append(edge.target)
        unsure = set(self.cut_off)
        waiting = list(self.cut_off)
        while waiting:
            new = [index for index in followers.get(waiting.pop(), ()) if index not in unsure]
            unsure.update(new)
            waiting.extend(new)
        return frozenset(unsure)

    @property
    def nodesets(self) -> frozenset[str]:
        """Return the nodesets that the graph calls, those in maps included."""
        return frozenset[str]().union(*(node.nodesets for node in self.nodes))
