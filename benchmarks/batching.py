"""How many rows a second a batched tool serves to callers that wait for their answers.

Rows of 150 kB come from K callers of one process; the handler gets them as one array and sleeps
5 ms per batch, or not at all.
Wayfare is the shipped client and host, digests on; peers run beside it, each stopped while another
is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from batching_client import TITLES, Connection, Peer, PeerError, running, why_not
from measure import (
    Figure,
    Measure,
    alternate,
    describe_machine,
    format_table,
    publish,
    read_options,
)

from nodeset.context import EpisodeContext
from wayfare.fleet import event_loop
from wayfare.fleet.local import LocalLauncher, LocalSettings
from wayfare.fleet.pool import EnvWorkerPool, WorkerHandle
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.calls import ToolCall
from wayfare.graph.document import read_graph

WORKSPACE = Path(__file__).parent / "workspace"
WAYFARE, IMPATIENT = "Wayfare", "Wayfare, flushing when idle"
NODESETS = {WAYFARE: "policy_sleeper", IMPATIENT: "policy_impatient"}
HANDLER_SECONDS = 0.005
THINKING_SECONDS = 0.005
IMAGE = np.random.default_rng(0).integers(0, 255, (224, 224, 3), np.uint8)

Ask = Callable[[], Awaitable[int]]
"""Calls once; returns with how many rows the call was served."""


@dataclass(frozen=True)
class Size:
    """How much is measured per repetition."""

    callers: tuple[int, ...]
    thinking: tuple[int, ...]
    seconds: float
    warm_seconds: float


FULL = Size((1, 16, 64), (16, 64), 1.5, 0.3)
TINY = Size((1, 4), (4,), 0.2, 0.05)


@dataclass
class Tally:
    """Rows per second, and rows per batch, of each repetition."""

    batches: dict[str, list[float]] = field(default_factory=dict)

    async def measure(self, name: str, asks: list[Ask], size: Size, *, thinking: bool) -> float:
        """Return the rows per second that the callers got, one call each at a time."""
        counts: list[int] = []
        begin = time.perf_counter() + size.warm_seconds
        end = begin + size.seconds
        rng = np.random.default_rng(0)

        async def repeat(ask: Ask) -> None:
            while time.perf_counter() < end:
                rows = await ask()
                if begin <= time.perf_counter() < end:
                    counts.append(rows)
                if thinking:
                    await asyncio.sleep(rng.exponential(THINKING_SECONDS))

        await asyncio.gather(*(repeat(ask) for ask in asks))
        batches = sum(1 / rows for rows in counts)
        self.batches.setdefault(name, []).append(len(counts) / batches if batches else 0.0)
        return len(counts) / size.seconds

    def mean_batch(self, name: str) -> Figure:
        return Figure(tuple(self.batches[name]))


@contextlib.asynccontextmanager
async def started(nodesets: list[str], workers: int) -> AsyncIterator[list[WorkerHandle]]:
    """Give workers that are connected to one copy of each nodeset."""
    nodes = [{"id": name, "type": f"{name}__act"} for name in nodesets]
    graph = read_graph({"version": 1, "nodes": nodes, "edges": []})
    registry = WorkspaceComponentRegistry([WORKSPACE])
    settings = LocalSettings.from_environment(dict(os.environ))
    async with LocalLauncher(settings) as launcher, contextlib.AsyncExitStack() as stack:
        fleet = await registry.ensure_nodesets_for_graph(graph, workers, launcher)
        await stack.enter_async_context(fleet)
        await fleet.initialize_all()
        pool = await stack.enter_async_context(EnvWorkerPool(fleet))
        yield pool.workers


async def measure_wayfare(
    workers: list[WorkerHandle],
    name: str,
    measure: Callable[[list[Ask]], Awaitable[float]],
    *,
    seconds: float,
) -> float:
    """Measure with an episode open on each of the workers, as in an evaluation."""

    def make_ask(worker: WorkerHandle) -> Ask:
        step = 0

        async def ask() -> int:
            nonlocal step
            step += 1
            call = ToolCall(
                "n", NODESETS[name], "act", {"seconds": seconds}, {"rgb": IMAGE}, step, (step,), 1
            )
            return int((await worker.invoke(call))["rows"])

        return ask

    for index, worker in enumerate(workers):
        await worker.open_episode(EpisodeContext(index, str(index)))
    found = await measure([make_ask(worker) for worker in workers])
    for worker in workers:
        await worker.close_episode()
    return found


async def measure_peer(
    peer: Peer, count: int, measure: Callable[[list[Ask]], Awaitable[float]]
) -> float:
    """Measure a peer while it alone is let run."""
    peer.signal(signal.SIGCONT)
    image = IMAGE.tobytes()
    connections = [await Connection.open(peer) for _ in range(count)]
    try:
        return await measure([lambda c=c: c.call(image) for c in connections])
    finally:
        for connection in connections:
            connection.close()
        peer.signal(signal.SIGSTOP)


@dataclass(frozen=True)
class Case:
    """One load: how many callers, whether they think, what the handler takes."""

    callers: int
    thinking: bool = False
    seconds: float = HANDLER_SECONDS

    def describe(self) -> str:
        thinking = " that think 5 ms (exponential)" if self.thinking else ""
        return f"{self.callers} callers{thinking}, {self.seconds * 1000:.0f} ms handler"


async def measure_case(
    case: Case,
    workers: list[WorkerHandle],
    peers: dict[str, Peer],
    *,
    wayfares: tuple[str, ...],
    size: Size,
    repetitions: int,
) -> tuple[dict[str, Figure], dict[str, Figure]]:
    """Return rows per second and rows per batch of everybody under one load."""
    tally = Tally()

    def measure(name: str) -> Callable[[list[Ask]], Awaitable[float]]:
        return lambda asks: tally.measure(name, asks, size, thinking=case.thinking)

    candidates: dict[str, Measure] = {
        name: lambda name=name: measure_wayfare(
            workers[: case.callers], name, measure(name), seconds=case.seconds
        )
        for name in wayfares
    }
    for kind, peer in peers.items():
        name = TITLES[kind]
        candidates[name] = lambda peer=peer, name=name: measure_peer(
            peer, case.callers, measure(name)
        )
    rates = await alternate(candidates, repetitions)
    return rates, {name: tally.mean_batch(name) for name in rates}


async def start_peers(
    stack: contextlib.AsyncExitStack, kinds: list[str], *, seconds: float, skipped: dict[str, str]
) -> dict[str, Peer]:
    """Start the peers that can be had; `skipped` takes why others cannot."""
    peers = {}
    for kind in kinds:
        reason = why_not(kind)
        if reason is None:
            try:
                peers[kind] = await stack.enter_async_context(
                    running(kind, seconds, IMAGE.tobytes())
                )
            except PeerError as error:
                reason = str(error)
        if reason is not None:
            skipped[TITLES[kind]] = reason
    return peers


def tabulate(case: Case, rates: dict[str, Figure], batches: dict[str, Figure]) -> str:
    ours = rates[WAYFARE]
    rows = []
    for name, rate in rates.items():
        ideal = f"{rate.median * case.seconds / case.callers:.2f}" if case.seconds else ""
        if case.thinking:
            ideal = ""
        rows.append(
            (name, rate.describe(), batches[name].describe(), ideal, ours.per(rate).describe())
        )
    header = [case.describe(), "rows/s", "rows per batch", "of ideal", "Wayfare to it"]
    return format_table(header, rows)


def make_cases(size: Size) -> list[tuple[Case, tuple[str, ...], list[str]]]:
    """Return each load, which of Wayfare's copies serve it, and which peers."""
    every = list(TITLES)
    cases: list[tuple[Case, tuple[str, ...], list[str]]] = [
        (Case(count), (WAYFARE,), every) for count in size.callers
    ]
    cases += [(Case(count, thinking=True), (WAYFARE, IMPATIENT), []) for count in size.thinking]
    cases.append((Case(max(size.callers), seconds=0.0), (WAYFARE,), ["fastapi"]))
    return cases


async def main(options: argparse.Namespace) -> None:
    size = TINY if options.tiny else FULL
    machine = describe_machine()
    figures: dict[str, Any] = {"skipped": {}}
    tables = []
    async with started(list(NODESETS.values()), max(size.callers)) as workers:
        for case, wayfares, kinds in make_cases(size):
            async with contextlib.AsyncExitStack() as stack:
                asked = [kind for kind in kinds if options.peers is None or kind in options.peers]
                peers = await start_peers(
                    stack, asked, seconds=case.seconds, skipped=figures["skipped"]
                )
                rates, batches = await measure_case(
                    case,
                    workers,
                    peers,
                    wayfares=wayfares,
                    size=size,
                    repetitions=options.repetitions,
                )
            figures[case.describe()] = {"rows_per_second": rates, "rows_per_batch": batches}
            tables.append(tabulate(case, rates, batches))
    tables += [f"{name} is missing: {reason}" for name, reason in figures["skipped"].items()]
    publish("batching", figures, tables, options=options, machine=machine)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peers", nargs="*", choices=list(TITLES), help="default: all")


if __name__ == "__main__":
    event_loop.run(main(read_options(__doc__, add_options)))
