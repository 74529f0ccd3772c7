"""Say what each metric of a run is: the outputs that it comes from, and their code and settings.

Knows nothing of values. What a header can't tell, such as a threshold within a nodeset's code, is
in the hash of that code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wayfare.graph.anatomy import Node, Sketch
from wayfare.graph.builtin import STOP, ConstConfig, GraphOutConfig
from wayfare.graph.document import GraphDocument
from wayfare.graph.sketch import draw
from wayfare.store.records import RunHeader

METRIC_NODE = "graphOut"


def define_metrics(document: GraphDocument, header: RunHeader) -> dict[str, Any]:
    """Return the facts that the run's metrics rest on, by what a person calls them.

    Per metric they are the outputs that come to it through built-in nodes alone; then code and
    configuration of the nodeset that brings the episodes, and of the other tools that make a
    metric. A tool whose outputs lead back to the environment is none of these: it is the agent,
    which may differ, also where it reports on itself.
    """
    sketch = draw(document, None)
    flow = _Flow(sketch)
    environments = frozenset(planned.key.environment for planned in header.episodes)
    facts: dict[str, Any] = {}
    makers: dict[int, Node] = {}
    for node in sketch.nodes:
        if node.type == METRIC_NODE and isinstance(node.config, GraphOutConfig):
            found = list(flow.sources_of(node.index, "value"))
            facts[f"metric {node.config.port_name!r}"] = sorted({text for _, text in found})
            makers |= {maker.index: maker for maker, _ in found if maker.nodesets}
    measures = [
        makers[index]
        for index in sorted(makers)
        if makers[index].nodesets & environments or not flow.leads_to(index, environments)
    ]
    for node in measures:
        config = sorted(node.tool_config.items())
        facts |= {f"{key} of node {node.path!r}": value for key, value in config}
    for name in sorted(environments.union(*(node.nodesets for node in measures))):
        facts |= _nodeset_facts(name, header)
    return facts


def _nodeset_facts(name: str, header: RunHeader) -> Mapping[str, Any]:
    nodeset = header.nodesets.get(name)
    if nodeset is None:
        return {}
    of = f"of nodeset {name!r}"
    config = {f"{key} {of}": value for key, value in sorted(nodeset.config.items())}
    return {f"code {of}": nodeset.source_hash, **config}


class _Flow:
    """Follows values along the edges of a graph, also from one turn of a loop into the next."""

    def __init__(self, sketch: Sketch) -> None:
        self._nodes = sketch.nodes
        self._edges = sketch.edges
        self._incoming = sketch.edges_into()

    def leads_to(self, index: int, nodesets: frozenset[str]) -> bool:
        """Return whether a tool's outputs reach a call to one of the nodesets."""
        waiting: list[tuple[int, str | None]] = [(index, None)]
        seen = set(waiting)
        while waiting:
            giver, port = waiting.pop()
            for edge in self._edges:
                if edge.source != giver or port not in (None, edge.source_port):
                    continue
                taker = self._nodes[edge.target]
                if taker.nodesets & nodesets:
                    return True
                fresh = self._outputs_after(taker, edge.target_port)
                waiting += [end for end in fresh if end not in seen]
                seen.update(fresh)
        return False

    def _outputs_after(self, node: Node, port: str) -> list[tuple[int, str | None]]:
        """Return the outputs that an input may reach; a port of None stands for all of them."""
        match node.type:
            case "iterIn":
                return [(node.index, port.removeprefix("init_"))]
            case "iterOut" if port == STOP.name:
                return []
            case "iterOut":
                entries = [n.index for n in self._nodes if self._is_loop(n, node)]
                return [(node.index, f"final_{port}"), *((entry, port) for entry in entries)]
        return [(node.index, None)]

    @staticmethod
    def _is_loop(entry: Node, end: Node) -> bool:
        folder = end.path[: end.path.rfind("/") + 1]
        loop = getattr(end.config, "loop", "")
        return entry.type == "iterIn" and entry.path == f"{folder}{loop}"

    def sources_of(self, index: int, port: str) -> Iterator[tuple[Node, str]]:
        """Yield each node that gives what comes to this input, and the words for its output."""
        waiting, seen = [(index, port)], {(index, port)}
        while waiting:
            taker, wanted = waiting.pop()
            for edge in self._incoming[taker]:
                if edge.target_port != wanted:
                    continue
                giver = self._nodes[edge.source]
                before = self._inputs_behind(giver, edge.source_port)
                if not before:
                    yield giver, _describe(giver, edge.source_port)
                fresh = [end for end in before if end not in seen]
                seen.update(fresh)
                waiting += fresh

    def _inputs_behind(self, node: Node, port: str) -> list[tuple[int, str]]:
        """Return the inputs that a built-in's output is a copy of; none: it is made there."""
        ports: list[str] = []
        match node.type:
            case "relay" | "switch" | "collect":
                ports = ["value"]
            case "merge":
                ports = [edge.target_port for edge in self._incoming[node.index]]
            case "iterOut" if port.startswith("final_") and port != "final_step":
                ports = [port.removeprefix("final_")]
            case "iterIn" if port != "step":
                return [(node.index, f"init_{port}"), *self._carried(node, port)]
        return [(node.index, name) for name in ports]

    def _carried(self, entry: Node, port: str) -> list[tuple[int, str]]:
        ends = (node for node in self._nodes if node.type == "iterOut")
        return [(node.index, port) for node in ends if self._is_loop(entry, node)]


def _describe(node: Node, port: str) -> str:
    if isinstance(node.config, ConstConfig):
        return f"constant {node.config.value!r}"
    return f"{node.type}.{port}"
