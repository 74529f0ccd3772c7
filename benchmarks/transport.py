"""What one call costs beside the hardware: a small one, and one that brings an RGB-D observation.

Everything of Wayfare is the shipped client, host and engine, digests on; peers run beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import itertools
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import transport_peer
from measure import (
    Figure,
    Measure,
    alternate,
    describe_machine,
    format_table,
    publish,
    quantile,
    read_options,
)

from nodeset.context import EpisodeContext
from wayfare.engine.executor import Executor
from wayfare.fleet import event_loop
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.pool import EnvWorkerPool, WorkerHandle
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.calls import ToolCall
from wayfare.graph.document import read_graph
from wayfare.graph.plan import compile_plan

WORKSPACE = Path(__file__).parent / "workspace"
INPUTS: dict[str, dict[str, Any]] = {"scalars": {"a": 1, "b": 2.0, "c": True}, "rgbd": {"a": 1}}
KEPT = {"scalars": "a", "rgbd": "rgb"}
"""The output that goes from turn to turn."""
MEMCPY, CALL, TURN = (
    "one memcpy of the payload",
    "Wayfare, one call",
    "Wayfare, one turn of a graph",
)
EPISODE = EpisodeContext(0, "0")


@dataclass(frozen=True)
class Size:
    """How much is measured per repetition."""

    calls: dict[str, int]
    workers: tuple[int, ...]
    calls_per_worker: int


FULL = Size({"scalars": 2000, "rgbd": 500}, (1, 8, 64), 400)
TINY = Size({"scalars": 20, "rgbd": 5}, (1, 2), 10)


def graph_of(tool: str, turns: int) -> dict[str, Any]:
    """Return a loop that calls one tool in every turn."""
    inputs = INPUTS[tool]
    edges = [(f"c_{name}", "value", "call", name) for name in inputs]
    edges += [("turns", "step", "call", "after"), ("stop", "value", "end", "stop")]
    edges.append(("call", KEPT[tool], "end", "kept"))
    nodes = [
        {"id": "turns", "type": "iterIn", "config": {"ports": ["kept"]}},
        *(
            {"id": f"c_{name}", "type": "const", "config": {"value": v}}
            for name, v in inputs.items()
        ),
        {"id": "stop", "type": "const", "config": {"value": False}},
        {"id": "call", "type": f"echo__{tool}"},
        {"id": "end", "type": "iterOut", "config": {"loop": "turns", "ports": ["kept"]}},
        {"id": "steps", "type": "graphOut", "config": {"portName": "steps"}},
    ]
    edges.append(("end", "final_step", "steps", "value"))
    keys = ("source", "sourceHandle", "target", "targetHandle")
    return {
        "version": 1,
        "step_budget": turns,
        "nodes": nodes,
        "edges": [dict(zip(keys, edge, strict=True)) for edge in edges],
    }


@contextlib.asynccontextmanager
async def started(workers: int) -> AsyncIterator[tuple[Any, EnvWorkerPool]]:
    """Give a fleet of one copy per worker, ready, with an episode open on each."""
    registry = WorkspaceComponentRegistry([WORKSPACE])
    graph = read_graph(graph_of("scalars", 1))
    settings = LocalSettings.from_environment(dict(os.environ))
    async with LocalLauncher(settings) as launcher, contextlib.AsyncExitStack() as stack:
        fleet = await registry.ensure_nodesets_for_graph(graph, workers, launcher)
        await stack.enter_async_context(fleet)
        await fleet.initialize_all()
        pool = await stack.enter_async_context(EnvWorkerPool(fleet))
        for worker in pool.workers:
            await worker.open_episode(EPISODE)
        yield fleet, pool


async def play(worker: WorkerHandle, tool: str, count: int) -> list[float]:
    """Return the seconds of each of `count` calls, one after the other."""
    seconds = []
    for step in range(count):
        call = ToolCall("n", "echo", tool, {}, INPUTS[tool], step, (step,), step)
        begin = time.perf_counter()
        await worker.invoke(call)
        seconds.append(time.perf_counter() - begin)
    return seconds


async def time_call(worker: WorkerHandle, tool: str, count: int) -> float:
    """Return the median microseconds of a call."""
    await play(worker, tool, max(2, count // 20))
    found = quantile(await play(worker, tool, count), 0.5) * 1e6
    await worker.open_episode(EPISODE)
    return found


class Stopwatch:
    """Invokes as a worker does, and notes when."""

    def __init__(self, worker: WorkerHandle) -> None:
        self._worker = worker
        self.moments: list[float] = []

    def invoke(self, call: ToolCall) -> Awaitable[dict[str, Any]]:
        self.moments.append(time.perf_counter())
        return self._worker.invoke(call)


async def time_turn(worker: WorkerHandle, fleet: Any, tool: str, *, count: int) -> float:
    """Return the median microseconds of a turn of a graph that calls once per turn."""
    plan = compile_plan(read_graph(graph_of(tool, count)), fleet.manifests, frozenset({"echo"}))
    await worker.open_episode(EPISODE)
    watch = Stopwatch(worker)
    result = await Executor(plan, watch, EPISODE, step_budget=count).run()
    assert result.steps == count
    return quantile([b - a for a, b in itertools.pairwise(watch.moments)], 0.5) * 1e6


def time_memcpy(count: int) -> float:
    """Return the median microseconds of copying an observation once."""
    payload = np.ones(transport_peer.RGB.nbytes + transport_peer.DEPTH.nbytes, np.uint8)
    target = np.empty_like(payload)
    return time_function(lambda: np.copyto(target, payload), count)


def time_function(function: Callable[[], object], count: int) -> float:
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - begin)
    return quantile(seconds, 0.5) * 1e6


async def measure_tool(
    tool: str, size: Size, repetitions: int, *, folder: Path
) -> dict[str, Figure]:
    """Measure one tool through Wayfare and its peers, in alternation."""
    count = size.calls[tool]
    kinds = [kind for kind in transport_peer.KINDS if kind != "http-msgpack" or has_uvicorn()]
    async with started(1) as (fleet, pool):
        with contextlib.ExitStack() as stack:
            worker = pool.workers[0]
            candidates: dict[str, Measure] = {
                MEMCPY: lambda: time_memcpy(count),
                CALL: lambda: time_call(worker, tool, count),
                TURN: lambda: time_turn(worker, fleet, tool, count=count),
            }
            for kind in kinds:
                client = stack.enter_context(transport_peer.running(kind, folder))
                candidates[transport_peer.KINDS[kind]] = lambda client=client: time_function(
                    lambda: client.call(tool, INPUTS[tool]), count
                )
            return await alternate(candidates, repetitions)


async def measure_main(size: Size, repetitions: int) -> dict[str, Figure]:
    """Measure what the main process spends on a small call, by the number of workers."""
    found = {}
    for workers in size.workers:
        async with started(workers) as (_, pool):

            async def spend(pool: EnvWorkerPool = pool) -> float:
                begin = time.process_time()
                calls = size.calls_per_worker
                await asyncio.gather(*(play(w, "scalars", calls) for w in pool.workers))
                return (time.process_time() - begin) / (calls * len(pool.workers)) * 1e6

            await spend()
            found[str(workers)] = (await alternate({"": spend}, repetitions))[""]
    return found


def has_uvicorn() -> bool:
    return all(importlib.util.find_spec(name) for name in ("uvicorn", "starlette"))


def tabulate(title: str, figures: dict[str, Figure]) -> str:
    base = figures[MEMCPY]
    rows = [
        (name, figure.describe(), figure.per(base).describe()) for name, figure in figures.items()
    ]
    return format_table([title, "µs, median (least to greatest)", "per memcpy"], rows)


def tabulate_main(figures: dict[str, Figure]) -> str:
    rows = [
        (workers, figure.describe(), f"{1e6 / figure.median:,.0f}")
        for workers, figure in figures.items()
    ]
    header = ["workers", "µs of the main process per call", "calls per second of its event loop"]
    return format_table(header, rows)


async def main(options: argparse.Namespace) -> None:
    size = TINY if options.tiny else FULL
    machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="wf") as name:
        folder = Path(name)
        small = await measure_tool("scalars", size, options.repetitions, folder=folder)
        rgbd = await measure_tool("rgbd", size, options.repetitions, folder=folder)
    spent = await measure_main(size, options.repetitions)
    figures = {"scalars_us": small, "rgbd_us": rgbd, "main_process_us": spent}
    tables = [
        tabulate("three scalars and back", small),
        tabulate("640x480 RGB-D in reply", rgbd),
        tabulate_main(spent),
    ]
    publish("transport", figures, tables, options=options, machine=machine)


if __name__ == "__main__":
    event_loop.run(main(read_options(__doc__)))
