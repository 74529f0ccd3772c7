"""Turn a graph document into the Python text that builds it again.

Knows nothing of files, or of the shape that a single node is written in.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Sequence

from wayfare.graph.builtin import AFTER
from wayfare.graph.document import EdgeSpec, GraphDocument, NodeSpec
from wayfare.graph.draft import Draft
from wayfare.graph.fault import Fault, GraphError, suggest
from wayfare.graph.literal import INDENT, WIDTH, call, literal, text
from wayfare.graph.loopspan import LoopSpan, find_spans
from wayfare.graph.naming import default_id, free_id
from wayfare.graph.phrase import (
    Phrase,
    Style,
    loop_phrase,
    phrase,
    refer,
    refer_node,
    wire_phrase,
)
from wayfare.graph.precheck import Precheck

HEAD = '''"""A graph, built in Python; `graph.save(path)` writes its document."""

from wayfare import Graph
'''


def to_code(document: GraphDocument) -> str:
    """Return a script that builds exactly this document as the variable `graph`.

    Raises GraphError for a document that no builder would let through.
    """
    faults = list(_refusals(document))
    if faults:
        raise GraphError(faults)
    return "\n".join([HEAD, *_first_lines(document), "", *_Script(document).lines()]) + "\n"


def _refusals(document: GraphDocument) -> Iterator[Fault]:
    """Yield what a builder would refuse of the document; what it merely lacks is no matter."""
    yield from document.reading_faults
    draft = Draft(Precheck(None))
    for node in document.nodes:
        try:
            draft.add(node.type, node.id, node.config)
        except GraphError as error:
            yield from error.faults
    for number, edge in enumerate(document.edges):
        source, target = (edge.source, edge.source_handle), (edge.target, edge.target_handle)
        place = f"edges[{number}] {'.'.join(source)} -> {'.'.join(target)}"
        missing = [name for name in (edge.source, edge.target) if name not in draft.specs]
        for name in missing:
            rule = f"there is no node {name!r}, or it is refused"
            yield Fault("dangling-edge", place, rule, suggest(name, draft.specs))
        try:
            if not missing:
                draft.connect(source, target)
        except GraphError as error:
            yield from error.faults


def _first_lines(document: GraphDocument) -> Iterator[str]:
    given = {
        "": document.name,
        "description": document.description,
        "environment": document.environment,
        "step_budget": document.step_budget,
    }
    arguments = [(key, literal(value)) for key, value in given.items() if value is not None]
    yield f"graph = {call('Graph', arguments, WIDTH - 8)}"
    for name, spec in document.nodesets.items():
        arguments = [("", text(name))]
        if spec.use is not None:
            arguments.append(("use", text(spec.use)))
        if spec.config:
            arguments.append(("config", literal(spec.config)))
        yield call("graph.nodeset", arguments)


class _Script:
    """The lines that add nodes and edges; an edge is written where both its ends are known."""

    def __init__(self, document: GraphDocument) -> None:
        self._document = document
        self._position = {node.id: number for number, node in enumerate(document.nodes)}
        spans = find_spans(document)
        self._begins = {span.first: span for span in spans}
        self._ends = {span.last: span for span in spans}
        self._taken: set[str] = set()
        self._styles: dict[str, Style] = {}
        self._written: list[int] = []
        """The edges' positions in the document, in the order in which the script makes them."""
        self._variables = _name_variables(document.nodes)
        for span in spans:
            self._variables[span.end.id] = self._variables[span.begin.id]
        late = {edge.target for edge in document.edges if self._is_late(edge)}
        self._mentioned = late | {edge.source for edge in document.edges}

    def lines(self) -> Iterator[str]:
        """Return the script's lines."""
        depth = 0
        for number, node in enumerate(self._document.nodes):
            if number in self._begins:
                yield from _indent([self._begin_loop(self._begins[number], depth)], depth)
                depth += 1
            elif number in self._ends:
                yield from _indent(self._end_loop(self._ends[number], depth), depth)
                depth -= 1
            else:
                yield from _indent([self._add(node, depth)], depth)
            yield from _indent(self._wire_late(number, depth), depth)
        if self._written != sorted(self._written):
            order = [self._written.index(n) for n in range(len(self._written))]
            yield call("graph.sort_edges", [("", literal(order, WIDTH - 20))])
        if self._document.layout is not None:
            yield f"graph.layout = {literal(self._document.layout, WIDTH - 15)}"
        if self._document.editor_schema is not None:
            yield f"graph.editor_schema = {text(self._document.editor_schema)}"

    def _add(self, node: NodeSpec, depth: int) -> str:
        edges = self._early_edges(node.id)
        made = phrase(node, self._given_id(node), self._wiring(edges))
        self._styles[node.id] = made.style
        self._note(edges, made)
        prefix = f"{self._variables[node.id]} = " if node.id in self._mentioned else ""
        room = WIDTH - depth * len(INDENT) - len(prefix)
        return prefix + call(f"graph.{made.method}", made.arguments, room)

    def _begin_loop(self, span: LoopSpan, depth: int) -> str:
        edges = self._early_edges(span.begin.id)
        ids = self._given_id(span.begin), self._given_id(span.end)
        made = loop_phrase(span.begin, span.end, ids=ids, wiring=self._wiring(edges))
        self._styles |= {span.begin.id: "begin", span.end.id: "end"}
        self._note(edges, made)
        suffix = f" as {self._variables[span.begin.id]}:"
        room = WIDTH - depth * len(INDENT) - len("with ") - len(suffix)
        return f"with {call('graph.loop', made.arguments, room)}{suffix}"

    def _end_loop(self, span: LoopSpan, depth: int) -> Iterator[str]:
        """Yield the loop's last lines: what it carries, by what it stops."""
        edges = self._early_edges(span.end.id)
        methods = {"stop": "stop", AFTER.name: "end.connect"}
        groups: dict[str, list[int]] = {}
        for number in edges:
            port = self._document.edges[number].target_handle
            groups.setdefault(methods.get(port, "carry"), []).append(number)
        for method, group in groups.items():
            yield self._wire(f"{self._variables[span.begin.id]}.{method}", group, depth)
        if not edges and span.last == span.first + 1:
            yield "pass"

    def _wire_late(self, position: int, depth: int) -> Iterator[str]:
        """Yield the edges that had to wait for the node at this position."""
        groups: dict[str, list[int]] = {}
        for number, edge in enumerate(self._document.edges):
            ends = (self._position[edge.source], self._position[edge.target])
            if self._is_late(edge) and max(ends) == position:
                groups.setdefault(edge.target, []).append(number)
        for target, group in groups.items():
            node = refer_node(self._variables[target], self._styles[target])
            yield self._wire(f"{node}.connect", group, depth)

    def _wire(self, method: str, edges: Sequence[int], depth: int) -> str:
        wiring = self._wiring(edges)
        made = wire_phrase(wiring)
        self._note(edges, made)
        is_stop = method.endswith(".stop")
        arguments = [("", wiring["stop"][0])] if is_stop else made.arguments
        return call(method, arguments, WIDTH - depth * len(INDENT))

    def _is_late(self, edge: EdgeSpec) -> bool:
        return self._position[edge.source] >= self._position[edge.target]

    def _early_edges(self, target: str) -> list[int]:
        """Return the edges that can be written together with their target."""
        edges = enumerate(self._document.edges)
        return [n for n, edge in edges if edge.target == target and not self._is_late(edge)]

    def _wiring(self, edges: Iterable[int]) -> dict[str, list[str]]:
        wiring: dict[str, list[str]] = {}
        for number in edges:
            edge = self._document.edges[number]
            variable, style = self._variables[edge.source], self._styles[edge.source]
            expression = refer(variable, style, edge.source_handle)
            wiring.setdefault(edge.target_handle, []).append(expression)
        return wiring

    def _note(self, edges: Sequence[int], made: Phrase) -> None:
        for port in made.ports:
            self._written += [n for n in edges if self._document.edges[n].target_handle == port]

    def _given_id(self, node: NodeSpec) -> str | None:
        """Return the id if the script must say it, None where the builder comes to the same."""
        by_itself = free_id(default_id(node.type, node.config), self._taken)
        self._taken.add(node.id)
        return None if node.id == by_itself else node.id


def _name_variables(nodes: Iterable[NodeSpec]) -> dict[str, str]:
    names: dict[str, str] = {}
    taken = {"graph", "Graph"}
    for node in nodes:
        name = re.sub(r"[^0-9A-Za-z_]", "_", node.id)
        if not name.isidentifier() or keyword.iskeyword(name):
            name = f"node_{name}"
        names[node.id] = free_id(name, taken)
        taken.add(names[node.id])
    return names


def _indent(lines: Iterable[str], depth: int) -> Iterator[str]:
    for line in lines:
        yield "\n".join(INDENT * depth + part for part in line.split("\n"))
