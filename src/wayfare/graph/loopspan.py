"""Find the loops of a document that can be written as `with` blocks.

Knows nothing of which nodes are in a loop: a block is about the order of nodes alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wayfare.graph.document import GraphDocument, NodeSpec

MAX_DEPTH = 15  # Python nests 20 blocks at most


@dataclass(frozen=True, slots=True)
class LoopSpan:
    """A loop from its iterIn to its iterOut, by their positions among the nodes."""

    first: int
    last: int
    begin: NodeSpec
    end: NodeSpec


def find_spans(document: GraphDocument) -> list[LoopSpan]:
    """Return the loops that nest as blocks do; those that cross others are left out."""
    found: list[LoopSpan] = []
    for span in sorted(_candidates(document), key=lambda span: span.first):
        around = [other for other in found if other.first < span.first < other.last]
        if len(around) < MAX_DEPTH and all(span.last < other.last for other in around):
            found.append(span)
    return found


def _candidates(document: GraphDocument) -> Iterator[LoopSpan]:
    entries = {node.id: number for number, node in enumerate(document.nodes)}
    ended: set[str] = set()
    for last, end in enumerate(document.nodes):
        loop = end.config.get("loop")
        if end.type != "iterOut" or not isinstance(loop, str) or loop in ended:
            continue
        first = entries.get(loop, last)
        if first < last and _is_plain(document.nodes[first], end):
            ended.add(loop)
            yield LoopSpan(first, last, document.nodes[first], end)


def _is_plain(begin: NodeSpec, end: NodeSpec) -> bool:
    """Say whether a builder's loop gives exactly these two configurations."""
    expected: Mapping[str, object] = {"loop": begin.id, "ports": begin.config.get("ports")}
    given = dict(end.config)
    if given.pop("max_turns", 0) is None:
        return False
    return begin.type == "iterIn" and set(begin.config) == {"ports"} and given == expected
