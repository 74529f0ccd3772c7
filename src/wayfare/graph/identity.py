"""Say when two graph documents are the same agent.

Knows nothing of files; what it hashes is the meaning, not the text.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import Any

from wayfare.graph.document import GraphDocument, read_graph
from wayfare.graph.fault import GraphError
from wayfare.graph.flatten import MAP, SUBGRAPH

FOR_PEOPLE = ("$schema", "layout", "name", "description")


def semantic_content(document: GraphDocument) -> dict[str, Any]:
    """Return what a run depends on: everything but what stands there for people and editors.

    Edges are sorted since their order means nothing; nodes are not, since their order decides
    which of two calls to one copy goes out first. The same holds for graphs within the graph.
    """
    data = document.model_dump(mode="json", by_alias=True)
    for key in FOR_PEOPLE:
        del data[key]
    for node in data["nodes"]:
        graph = node["config"].get("graph")
        if node["type"] in (SUBGRAPH, MAP) and isinstance(graph, dict):
            with suppress(GraphError):  # one that can't be read is a fault, and means its text
                node["config"]["graph"] = semantic_content(read_graph(graph))
    data["edges"] = sorted(data["edges"], key=lambda edge: json.dumps(edge, sort_keys=True))
    return data


def semantic_hash(document: GraphDocument) -> str:
    """Return 32 hex digits that are equal for documents that describe the same agent."""
    content = semantic_content(document)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
