"""Small graphs and an invoker in memory whose calls end when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Set
from typing import Any

import pytest
from tests.deadline import HANG_SECONDS

from nodeset.context import EpisodeContext
from wayfare.engine.executor import Executor
from wayfare.graph.calls import ToolCall
from wayfare.graph.document import GraphDocument, read_graph
from wayfare.graph.plan import compile_plan


def port(text: str) -> dict[str, Any]:
    """Read `name:TYPE`, with `?` after the name of an optional port."""
    name, _, wire_type = text.partition(":")
    return {
        "name": name.rstrip("?"),
        "wire_type": wire_type or "ANY",
        "description": "",
        "optional": name.endswith("?"),
        "volatile": False,
    }


def tool(name: str, inputs: str, outputs: str) -> dict[str, Any]:
    return {
        "name": name,
        "inputs": [port(text) for text in inputs.split()],
        "outputs": [port(text) for text in outputs.split()],
        "default_config": {"gain": 1},
    }


def edge(text: str) -> dict[str, str]:
    source, target = text.split(" -> ")
    return {
        "source": source.split(".")[0],
        "sourceHandle": source.split(".")[1],
        "target": target.split(".")[0],
        "targetHandle": target.split(".")[1],
    }


TOOLS = [
    tool("go", "x?:ANY", "y:ANY"),
    tool("need", "x:ANY", "y:ANY"),
    tool("step", "state:ANY", "state:ANY done:BOOL"),
    tool("maybe", "x?:ANY", "y?:ANY"),
    tool("is_done", "x:INT", "done:BOOL"),
]
MANIFESTS = {
    name: {"name": name, "default_config": {}, "tools": TOOLS} for name in ("env", "arm", "policy")
}


def build(nodes: dict[str, Any], edges: list[str]) -> GraphDocument:
    """Build a document of `id: type` or `id: (type, config)` and `a.out -> b.in`."""
    described = [
        {"id": name, "type": kind if isinstance(kind, str) else kind[0]}
        | ({} if isinstance(kind, str) else {"config": kind[1]})
        for name, kind in nodes.items()
    ]
    data = {"version": 1, "nodes": described, "edges": [edge(text) for text in edges]}
    return read_graph(data)


class FakeInvoker:
    """Answers calls by functions of the call; `held` paths wait until they are released."""

    def __init__(self, answers: dict[str, Callable[[ToolCall], Any]], held: set[str]) -> None:
        self.answers = answers
        self.held = held
        self.calls: list[ToolCall] = []
        self.running: set[str] = set()
        self.most_running = 0
        self.cancelled: list[str] = []
        self._gates: dict[str, asyncio.Event] = {}
        self._arrivals: dict[str, asyncio.Event] = {}
        self._ends: dict[str, asyncio.Event] = {}

    @property
    def paths(self) -> list[str]:
        return [call.path for call in self.calls]

    async def invoke(self, call: ToolCall) -> dict[str, Any]:
        self.calls.append(call)
        self.running.add(call.path)
        self.most_running = max(self.most_running, len(self.running))
        self._event(self._arrivals, call.path).set()
        try:
            if call.path in self.held:
                await self._event(self._gates, call.path).wait()
            else:
                await asyncio.sleep(0)
            answer = self.answers[call.path](call)
        except asyncio.CancelledError:
            self.cancelled.append(call.path)
            raise
        finally:
            self.running.discard(call.path)
            self._event(self._ends, call.path).set()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def release(self, path: str) -> None:
        self._event(self._gates, path).set()

    async def wait_for(self, path: str) -> None:
        await asyncio.wait_for(self._event(self._arrivals, path).wait(), HANG_SECONDS)

    async def wait_for_end(self, path: str) -> None:
        await asyncio.wait_for(self._event(self._ends, path).wait(), HANG_SECONDS)

    def _event(self, events: dict[str, asyncio.Event], path: str) -> asyncio.Event:
        return events.setdefault(path, asyncio.Event())


class Bench:
    """Builds graphs and runs them."""

    build = staticmethod(build)
    read = staticmethod(read_graph)
    manifests = MANIFESTS

    def invoker(self, answers: dict[str, Any], held: Set[str] = frozenset()) -> FakeInvoker:
        return FakeInvoker(answers, set(held))

    def executor(
        self,
        document: GraphDocument,
        invoker: FakeInvoker,
        *,
        ordered: Set[str] = frozenset(),
        step_budget: int | None = None,
        seed: int = 7,
    ) -> Executor:
        plan = compile_plan(document, MANIFESTS, frozenset(ordered))
        episode = EpisodeContext(index=3, id="e3", scene_id="s", split="val", seed=seed)
        return Executor(plan, invoker, episode, step_budget=step_budget)

    async def run(self, document: GraphDocument, answers: dict[str, Any], **options: Any) -> Any:
        executor = self.executor(document, self.invoker(answers), **options)
        return await asyncio.wait_for(executor.run(), HANG_SECONDS)


@pytest.fixture
def bench() -> Bench:
    return Bench()
