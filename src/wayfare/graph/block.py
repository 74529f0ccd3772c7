"""A loop as a `with` block: what is carried, when it stops, what it ends with.

Knows nothing of the nodes inside it; edges alone say which these are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from wayfare.graph.draft import Draft
from wayfare.graph.handle import Node, Output, as_output, wire_all
from wayfare.graph.inference import FINAL


class FinalPorts:
    """The values that a loop's carried ports end with, by the port's name."""

    __slots__ = ("_end", "_ports")

    def __init__(self, end: Node, ports: tuple[str, ...]) -> None:
        self._end = end
        self._ports = ports

    def __getattr__(self, port: str) -> Output:
        if port.startswith("_"):
            raise AttributeError(port)
        return self[port]

    def __getitem__(self, port: str) -> Output:
        return self._end[FINAL + port]

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._ports]


class Loop:
    """A loop of a graph, for a `with` statement; the end of the block is the end of the loop.

    `loop.state` is the carried port's value in the turn, `loop.step` the number of the turn;
    `loop["carry"]` is a port whose name is taken by something else here.
    """

    def __init__(self, draft: Draft, begin: str, end: str, *, ports: tuple[str, ...]) -> None:
        self._draft = draft
        self._ports = ports
        self.begin = Node(draft, begin)
        """The iterIn."""
        self.end = Node(draft, end)
        """The iterOut, for wiring after the block; inside it, use `carry` and `stop`."""
        self.final = FinalPorts(self.end, ports)
        self._end_id = end

    def carry(self, ports: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Say what each carried port is in the next turn; one left out keeps its value."""
        wire_all(self._draft, self._end_id, {**(ports or {}), **more})

    def stop(self, condition: Output | bool) -> None:
        """Say by which BOOL the loop ends after a turn."""
        source = as_output(self._draft, condition, f"{self._end_id}.stop")
        self._draft.connect((source.node_id, source.port), (self._end_id, "stop"))

    @property
    def final_step(self) -> Output:
        """Return the number of turns that ran."""
        return self.end["final_step"]

    @property
    def truncated(self) -> Output:
        """Return whether the loop ended by its budget."""
        return self.end["truncated"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if kind is None:
            self._draft.place(self._end_id)

    def __getattr__(self, port: str) -> Output:
        if port.startswith("_"):
            raise AttributeError(port)
        return self[port]

    def __getitem__(self, port: str) -> Output:
        return self.begin[port]

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._ports, "step"]
