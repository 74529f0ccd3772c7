"""Take a node's type apart into nodeset and tool.

Knows nothing of which of them exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from wayfare.graph.document import GraphDocument, NodeSpec, read_graph
from wayfare.graph.fault import GraphError

SEPARATOR = "__"


def split_type(node_type: str) -> tuple[str, str] | None:
    """Return (nodeset, tool) of `<nodeset>__<tool>`, or None where that is not the form."""
    nodeset, separator, tool = node_type.partition(SEPARATOR)
    return (nodeset, tool) if separator and nodeset and tool else None


def nodesets_of(document: GraphDocument) -> list[str]:
    """Return the nodeset instances that the graph names, in the order in which it names them."""
    names = [parts[0] for kind in _types(document.nodes) if (parts := split_type(kind))]
    names.extend(document.nodesets)
    if document.environment is not None:
        names.append(document.environment)
    return list(dict.fromkeys(names))


def _types(nodes: Iterable[NodeSpec]) -> Iterable[str]:
    """Return the types of all nodes, those of embedded graphs included."""
    for node in nodes:
        yield node.type
        graph = node.config.get("graph")
        if isinstance(graph, dict):
            # One that cannot be read is reported by `validate`, with all other faults.
            with suppress(GraphError):
                yield from _types(read_graph(graph).nodes)
