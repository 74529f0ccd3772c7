"""Say of graphs whether all their nodesets can run here, or which lacks what.

Knows nothing of how that is found out, or of what data a run will look for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wayfare.fleet.errors import UnknownNameError, UnreadableError, WorkspaceError
from wayfare.fleet.registry import GraphEntry, NodeSetEntry, WorkspaceComponentRegistry
from wayfare.graph.document import GraphDocument, load_graph
from wayfare.graph.fault import GraphError
from wayfare.graph.flatten import embed_graphs


@dataclass(frozen=True, slots=True)
class GraphState:
    """What a graph needs, and what of it is not here."""

    entry: GraphEntry
    nodesets: tuple[str, ...] = ()
    lacks: Mapping[str, str] = field(default_factory=dict)
    """By nodeset, in a few words, what it lacks; those that can run here are not in it."""
    fault: str = ""
    """Why the document itself can't be read."""

    @property
    def can_run(self) -> bool:
        """Return whether the document can be read and lacks no nodeset."""
        return not self.lacks and not self.fault


def inspect_graphs(
    registry: WorkspaceComponentRegistry, needs: Iterable[tuple[NodeSetEntry, str]]
) -> list[GraphState]:
    """Return the state of each of the registry's graphs, in its order.

    `needs` has of each nodeset what it lacks, empty where it can run.
    """
    known = {(entry.path, entry.name): need for entry, need in needs}
    return [_inspect(entry, registry, known) for entry in registry.graphs]


def _inspect(
    entry: GraphEntry, registry: WorkspaceComponentRegistry, known: Mapping[tuple[Path, str], str]
) -> GraphState:
    def find(name: str) -> GraphDocument:
        return load_graph(registry.find_graph(name).path)

    try:
        found = registry.find_nodesets(embed_graphs(load_graph(entry.path), find))
    except (GraphError, WorkspaceError) as error:
        return GraphState(entry, fault=str(error))
    lacks: dict[str, str] = {}
    for instance, nodeset in found.items():
        if isinstance(nodeset, WorkspaceError):
            lacks[instance] = _describe(nodeset)
        elif need := known[nodeset.path, nodeset.name]:
            lacks[nodeset.name] = need
    names = (n.name if isinstance(n, NodeSetEntry) else name for name, n in found.items())
    return GraphState(entry, tuple(dict.fromkeys(names)), lacks)


def _describe(error: WorkspaceError) -> str:
    match error:
        case UnreadableError():
            return "a file that can be read"
        case UnknownNameError():
            return "it is in no workspace"
    return str(error)
