"""Name the outputs of nodes and wire them to inputs: what a builder hands out.

Knows nothing of how nodes are made or of what an edge must fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from wayfare.graph.builtin import AFTER
from wayfare.graph.draft import Draft
from wayfare.graph.fault import Fault, GraphError, suggest


@dataclass(frozen=True, slots=True)
class Output:
    """One output port of one node; wiring it to an input makes an edge."""

    draft: Draft
    node_id: str
    port: str

    @property
    def node(self) -> Node:
        """Return the node that the port belongs to."""
        return Node(self.draft, self.node_id)

    @property
    def wire_type(self) -> str:
        """Return the type that the port declares; `ANY` where nothing tells it."""
        signature = self.draft.signature(self.node_id)
        port = signature.outputs.get(self.port) if signature else None
        return port.wire_type if port else "ANY"

    def __repr__(self) -> str:
        return f"<output {self.node_id}.{self.port} {self.wire_type}>"

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"output {self.node_id}.{self.port} has no value while the graph is built; to decide "
            f"by it when the graph runs, use graph.switch(value, condition)."
        )


class Node:
    """A node of a graph: its output ports are attributes, or items where the name is taken.

    `node.state` and `node["state"]` are the same output; `node["connect"]` is one whose name is
    taken by a method.
    """

    __slots__ = ("_draft", "_id")

    def __init__(self, draft: Draft, id: str) -> None:
        self._draft = draft
        self._id = id

    def connect(self, ports: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Wire inputs, by the port's name: an output, or a value that becomes a const.

        `after` takes a list of outputs too. `ports` is for names that can't be keywords.
        """
        wire_all(self._draft, self._id, {**(ports or {}), **more})

    def __getattr__(self, port: str) -> Output:
        if port.startswith("_"):  # what Python and editors probe for is never a port
            raise AttributeError(port)
        return self[port]

    def __getitem__(self, port: str) -> Output:
        self._draft.check_output(self._id, port)
        return Output(self._draft, self._id, port)

    def __dir__(self) -> Iterable[str]:
        signature = self._draft.signature(self._id)
        return [*super().__dir__(), *(signature.outputs if signature else ())]

    def __repr__(self) -> str:
        signature = self._draft.signature(self._id)
        known = f" outputs: {', '.join(signature.outputs)}" if signature else ""
        return f"<node {self._id}{known}>"


def wire_all(draft: Draft, target: str, ports: Mapping[str, Any]) -> None:
    """Wire each value to the input port of that name."""
    for port, value in ports.items():
        is_several = port == AFTER.name and isinstance(value, list | tuple)
        for single in value if is_several else [value]:
            source = as_output(draft, single, f"{target}.{port}")
            draft.connect((source.node_id, source.port), (target, port))


def as_output(draft: Draft, value: Any, where: str) -> Output:
    """Return an output as it is and a plain value as the output of a new const."""
    if isinstance(value, Node):
        raise GraphError([_whole_node(value, where)])
    if not isinstance(value, Output):
        return Output(draft, draft.add("const", None, {"value": value}), "value")
    if value.draft is not draft:
        rule = f"output {value.node_id}.{value.port} belongs to another graph"
        remedy = "Wire nodes of one graph; use the other graph as a subgraph."
        raise GraphError([Fault("dangling-edge", where, rule, remedy)])
    return value


def is_wiring(value: Any) -> bool:
    """Say whether a keyword's value means an edge, not configuration."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, Output | Node) for item in value)
    return isinstance(value, Output | Node)


def _whole_node(node: Node, where: str) -> Fault:
    signature = node._draft.signature(node._id)
    remedy = suggest(where.rpartition(".")[2], signature.outputs if signature else ())
    rule = f"got the whole node {node._id!r}; an input takes one of a node's outputs"
    return Fault("dangling-edge", where, rule, remedy)
