"""Simulate callers that think between their calls of one copy, on a clock of events.

Knows nothing of threads or processes: a handler takes the seconds that its tool says.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nodeset.batch_queue import DEFAULT_SETTINGS, BatchQueue
from nodeset.batching import BatchedInferenceServer
from nodeset.caller import Call, Caller
from nodeset.contract import BaseCanvasNode
from nodeset.ports import PortDef

OPEN, CLOSE = "open", "close"
"""Besides them a script yields the seconds that its caller thinks, or the tool that it calls."""


class Tool(BaseCanvasNode):
    """A batched tool whose handler takes `fixed` seconds and `per_row` more for every row."""

    input_ports = [PortDef("x", "INT")]
    output_ports = [PortDef("y", "INT")]
    batched = True
    batch_dim = "x"

    def __init__(self, name: str, fixed: float, per_row: float = 0.0) -> None:
        self.node_type = f"line__{name}"  # type: ignore[misc]
        self.fixed, self.per_row = fixed, per_row

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"y": inputs["x"]}


class FlushWhenIdle(BatchQueue):
    """Serve what waits whenever the handler is free."""

    def flush_reason(self, now: float, free_since: float, callers: Any) -> str | None:
        return "gap"

    def next_wakeup(self, now: float, free_since: float, callers: Any) -> float:
        return now


class AllWaiting(BatchQueue):
    """Wait for everyone who has called here and waits nowhere, up to the timeout."""

    def flush_reason(self, now: float, free_since: float, callers: Any) -> str | None:
        if all(member.waiting for member in self.members):
            return "all_waiting"
        return "timeout" if now >= self.next_wakeup(now, free_since, callers) else None

    def next_wakeup(self, now: float, free_since: float, callers: Any) -> float:
        return self._timeout_at()


class FixedGap(AllWaiting):
    """The same, but at most for a millisecond without a new row while the handler is free."""

    def next_wakeup(self, now: float, free_since: float, callers: Any) -> float:
        return min(self._timeout_at(), max(self._last_arrival, free_since) + 0.001)


@dataclass
class Outcome:
    """What a simulation came to: calls answered, when, and by which batches."""

    seconds: float
    rows: int
    batches: int
    reasons: dict[str, int]
    longest_wait: float
    answers: list[tuple[int, int]]

    @property
    def rows_per_second(self) -> float:
        return self.rows / self.seconds

    @property
    def mean_batch(self) -> float:
        return self.rows / self.batches


@dataclass
class Simulation:
    """One copy and its callers; their client takes `spread` for each answer."""

    tools: dict[str, Tool]
    queue: type[BatchQueue] = BatchQueue
    spread: float = 0.0
    now: float = 0.0
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _order: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.server = BatchedInferenceServer(self.tools, self._forward, lambda: self.now)
        if self.queue is not BatchQueue:
            self.server._queue = self._make_queue  # type: ignore[method-assign]
        self._is_busy = False
        self._client_free = 0.0
        self.longest_wait = 0.0
        self.answers: list[tuple[int, int]] = []

    def run(self, scripts: list[Iterator[Any]], seconds: float = float("inf")) -> Outcome:
        """Run the scripts, one caller each, to their ends or for so long."""
        for worker, script in enumerate(scripts):
            self._after(0.0, self._resume(Caller(worker), script))
        while self._events and self.now < seconds:
            self.now, _, happen = heapq.heappop(self._events)
            happen()
            self._serve_if_due()
        counters = self.server.describe().values()
        reasons: dict[str, int] = {}
        for counter in counters:
            for reason, count in counter["flushes"].items():
                reasons[reason] = reasons.get(reason, 0) + count
        rows, batches = (sum(c[name] for c in counters) for name in ("rows", "batches"))
        return Outcome(self.now, rows, batches, reasons, self.longest_wait, self.answers)

    def _after(self, seconds: float, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._order), happen))

    def _resume(self, caller: Caller, script: Iterator[Any]) -> Callable[[], None]:
        def resume() -> None:
            for step in script:
                if isinstance(step, float):
                    self._after(step, resume)
                    return
                if step in self.tools:
                    self._call(caller, step, resume)
                    return
                self.server.close_episode(caller)
                caller.has_open_episode = step == OPEN

        return resume

    def _call(self, caller: Caller, tool: str, resume: Callable[[], None]) -> None:
        def answer(call: Call, outcome: Any, logs: Any) -> None:
            caller.waiting -= 1
            self.answers.append((caller.worker, outcome["y"]))
            self._client_free = max(self._client_free, self.now) + self.spread
            self._after(self._client_free - self.now, resume)

        value = caller.worker
        call = Call(
            caller, id=0, tool=tool, path="n", config={}, inputs={"x": value}, answer=answer
        )
        caller.waiting += 1
        self.server.submit([call])

    def _serve_if_due(self) -> None:
        if self._is_busy:
            return
        flush = self.server.take_flush()
        if flush is None:
            wakeup = self.server.next_wakeup()
            if wakeup is not None:
                self._after(max(wakeup - self.now, 0.0), lambda: None)
            return
        self._is_busy = True
        started = self.now
        self.longest_wait = max(self.longest_wait, started - flush.calls[0].arrived_at)
        tool = self.tools[flush.calls[0].tool]

        def finish() -> None:
            self.now = started  # `_forward` brings the clock back to now
            self.server.serve(flush)
            self._is_busy = False
            self.server.note_free()

        self._after(tool.fixed + tool.per_row * len(flush.calls), finish)

    def _forward(self, tool: Any, inputs: dict[str, Any], ctx: Any) -> Any:
        self.now += tool.fixed + tool.per_row * len(ctx.rows)
        return tool.forward(inputs, ctx)

    def _make_queue(self, key: Any) -> BatchQueue:
        queues = self.server._queues
        if key not in queues:
            queues[key] = self.queue(key, 0, DEFAULT_SETTINGS)
        return queues[key]
