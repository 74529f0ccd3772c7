"""Say in which order the firings of a graph come, and where their inputs come from.

Knows nothing of runs or values.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from wayfare.graph.anatomy import Sketch
from wayfare.graph.document import GraphDocument
from wayfare.graph.schedule import make_schedule
from wayfare.graph.scope import Scopes, find_scopes
from wayfare.graph.sketch import draw

Turns = tuple[int, ...]
_LAST = sys.maxsize


class FiringOrder:
    """The order of one or several graphs' firings: turn by turn, and as the values flow in each.

    What a loop leads to comes after its last turn. Ties go by position in the document, and what
    only a later graph has stands where it has it.
    """

    def __init__(self, documents: Iterable[GraphDocument]) -> None:
        self._ranks: dict[str, tuple[int, ...]] = {}
        self._sources: dict[tuple[str, str], str] = {}
        for document in documents:
            self._add(draw(document, None), ())

    def key(self, path: str, turns: Turns) -> tuple[Any, ...]:
        """Return what sorts firings; those of nodes that no graph has come last."""
        ranks = self._ranks.get(path, ())
        if len(ranks) != len(turns) + 1:
            return (_LAST, turns, path)
        steps = [part for pair in zip(ranks, turns, strict=False) for part in pair]
        return (*steps, ranks[-1])

    def source_of(self, path: str, port: str) -> str:
        """Return the output that an input is wired to, as `node.port`; "" where it is not known."""
        return self._sources.get((path, port), "")

    def _add(self, sketch: Sketch, before: tuple[int, ...]) -> None:
        scopes = find_scopes(sketch)
        if not isinstance(scopes, Scopes):
            return
        order = make_schedule(sketch, scopes, frozenset()).order
        rank = {unit: number for units in order.values() for number, unit in enumerate(units)}
        for node in sketch.nodes:
            if node.index not in rank:
                continue
            around = [rank[loop] for loop in reversed(scopes.chain(scopes.scope_of[node.index]))]
            ranks = (*before, *around, rank[node.index])
            self._ranks.setdefault(node.path, ranks)
            if node.inner is not None:
                self._add(node.inner, ranks)
        for edge in sketch.edges:
            source, target = sketch.nodes[edge.source], sketch.nodes[edge.target]
            text = f"{source.path}.{edge.source_port}"
            self._sources.setdefault((target.path, edge.target_port), text)
