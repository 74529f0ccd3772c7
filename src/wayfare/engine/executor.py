"""Run one graph over one episode by calling an invoker, as many calls at a time as are due.

Knows nothing of processes, attempts or runs; what fires when is decided by the machine.
"""

from __future__ import annotations

import asyncio
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.errors import NodeSetError
from wayfare.engine.errors import NodeFailure, RuleError
from wayfare.engine.machine import Machine
from wayfare.engine.result import GraphResult, collect_metrics
from wayfare.graph.calls import Invoker, ToolCall
from wayfare.graph.unit import Plan

Outputs = dict[str, Any]


class Executor:
    """One episode's run of a graph; used once."""

    def __init__(
        self,
        plan: Plan,
        invoker: Invoker,
        episode: EpisodeContext,
        *,
        step_budget: int | None = None,
    ) -> None:
        self._invoker = invoker
        self._step_budget = step_budget
        self._machine = Machine(plan, episode, step_budget)
        self._calls: dict[asyncio.Task[Outputs], int] = {}
        self._ended: list[asyncio.Task[Outputs]] = []
        self._wake: asyncio.Future[None] | None = None

    @property
    def steps(self) -> int:
        """Turns of the outermost loop that have begun, also after a failure."""
        return self._machine.steps

    @property
    def firings(self) -> list[tuple[str, tuple[int, ...]]]:
        """The tools' firings so far, in the order of calling, also after a failure."""
        return self._machine.firings

    async def run(self) -> GraphResult:
        """Run the graph to its end.

        Raises `NodeFailure` once all has settled that does not depend on a failed node.
        `InfrastructureError` and cancellation end it at once; calls in flight are cancelled.
        """
        self._check_budget()
        machine = self._machine
        machine.start()
        try:
            while True:
                for index, call in machine.advance():
                    self._issue(index, call)
                if machine.has_work:
                    await asyncio.sleep(0)
                elif self._calls:
                    await self._next_end()
                else:
                    break
                self._take_ended()
        finally:
            await self._abandon()
        return self._result()

    def _check_budget(self) -> None:
        if self._step_budget is not None and self._step_budget < 1:
            message = f"the step budget is {self._step_budget}; it must be at least 1"
            raise NodeFailure("", (), RuleError(message))

    def _issue(self, index: int, call: ToolCall) -> None:
        task = asyncio.ensure_future(self._invoker.invoke(call))
        self._calls[task] = index
        task.add_done_callback(self._on_end)

    def _on_end(self, task: asyncio.Task[Outputs]) -> None:
        self._ended.append(task)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _next_end(self) -> None:
        if self._ended:
            return
        self._wake = asyncio.get_running_loop().create_future()
        try:
            await self._wake
        finally:
            self._wake = None

    def _take_ended(self) -> None:
        ended, self._ended = self._ended, []
        for task in ended:
            index = self._calls.pop(task)
            try:
                outputs = task.result()
            except NodeSetError as error:
                self._machine.fail(index, error)
            else:
                self._machine.complete(index, outputs)

    async def _abandon(self) -> None:
        """Cancel what is in flight and wait until it has ended."""
        tasks = list(self._calls)
        self._calls.clear()
        for task in tasks:
            task.remove_done_callback(self._on_end)
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)

    def _result(self) -> GraphResult:
        machine = self._machine
        if machine.first_failure is not None:
            raise machine.first_failure
        if not machine.is_finished:
            raise RuntimeError("the graph stands still although it was valid; this is our fault")
        metrics = collect_metrics(machine.outcomes())
        return GraphResult(
            metrics.values,
            metrics.undefined,
            machine.steps,
            machine.is_truncated,
            machine.firings,
        )
