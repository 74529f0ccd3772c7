"""Take a node's type apart into nodeset and tool.

Knows nothing of which of them exist.
"""

from __future__ import annotations

from wayfare.graph.document import GraphDocument

SEPARATOR = "__"


def split_type(node_type: str) -> tuple[str, str] | None:
    """Return (nodeset, tool) of `<nodeset>__<tool>`, or None where that is not the form."""
    nodeset, separator, tool = node_type.partition(SEPARATOR)
    return (nodeset, tool) if separator and nodeset and tool else None


def nodesets_of(document: GraphDocument) -> list[str]:
    """Return the nodeset instances that the graph names, in the order in which it names them."""
    names = [parts[0] for node in document.nodes if (parts := split_type(node.type))]
    names.extend(document.nodesets)
    if document.environment is not None:
        names.append(document.environment)
    return list(dict.fromkeys(names))
