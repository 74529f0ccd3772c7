"""Run one graph over one episode by calling an invoker, as many calls at a time as are due.

Knows nothing of processes, attempts or runs; what fires when is decided by the machine.
"""

from __future__ import annotations

import asyncio
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.errors import NodeSetError
from wayfare.engine.agenda import Agenda, Due
from wayfare.engine.errors import NodeFailure, RuleError, SpentError
from wayfare.engine.machine import Machine
from wayfare.engine.result import GraphResult, collect_metrics
from wayfare.graph.calls import Answer, InfrastructureError, Invoker, ToolCall
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
        self._agenda = Agenda()
        self._machine = Machine(plan, episode, self._agenda, step_budget=step_budget)
        self._calls: dict[asyncio.Future[Outputs], Due] = {}
        self._dropped: list[asyncio.Future[Outputs]] = []

    @property
    def steps(self) -> int:
        """Turns of the outermost loop that have begun, also after a failure."""
        return self._machine.steps

    @property
    def firings(self) -> list[tuple[str, tuple[int, ...]]]:
        """The tools' firings so far, in the order of calling, also after a failure."""
        return self._agenda.firings

    async def run(self) -> GraphResult:
        """Run the graph to its end.

        Raises `NodeFailure` once all has settled that does not depend on a failed node.
        So does an `InfrastructureError` that is spent. Any other and cancellation end it at once;
        calls in flight are cancelled.
        """
        self._check_budget()
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.Future[None] = self._loop.create_future()
        self._machine.start()
        try:
            self._advance()
            await self._end
        finally:
            await self._abandon()
        return self._result()

    def _check_budget(self) -> None:
        if self._step_budget is not None and self._step_budget < 1:
            message = f"the step budget is {self._step_budget}; it must be at least 1"
            raise NodeFailure("", (), RuleError(message))

    def _advance(self, ended: asyncio.Future[Outputs] | None = None) -> None:
        """Take a call that has ended, fire what is ready and issue the calls that are due.

        Calls' outcomes get here, not a task that waits for them: waking it for every call would
        be a good part of what a call costs in this process.
        """
        if self._end.done():
            return
        try:
            if ended is not None:
                self._take(ended)
            for due, call in self._agenda.advance():
                self._begin(due, call)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  `run` raises it
            self._end.set_exception(error)
            return
        if self._agenda.has_work:
            self._loop.call_soon(self._advance)
        elif not self._calls:
            self._end.set_result(None)

    def _begin(self, due: Due, call: ToolCall) -> None:
        begun = asyncio.ensure_future(self._invoker.invoke(call))
        self._calls[begun] = due
        if isinstance(begun, Answer):
            begun.listen(self._advance)
        else:
            begun.add_done_callback(self._advance)

    def _take(self, ended: asyncio.Future[Outputs]) -> None:
        due = self._calls.pop(ended, None)
        if due is None:  # it was dropped in the moment in which it ended
            return
        try:
            outputs = ended.result()
        except NodeSetError as error:
            due.fail(due.unit, error)
        except InfrastructureError as fault:
            if not fault.is_spent:
                raise
            self._fail_alone(due, SpentError(fault))
        else:
            due.complete(due.unit, outputs)

    def _fail_alone(self, due: Due, error: SpentError) -> None:
        """Fail a call, and of its nodeset those that come after it in document order.

        Others go on, so that the failure that stands for the episode does not depend on which was
        first in time. Those after it in its nodeset can't be it, and might end copy after copy.
        """
        due.fail(due.unit, error)
        for call, other in list(self._calls.items()):
            if other.unit.nodeset == due.unit.nodeset and other.place > due.place:
                del self._calls[call]
                self._drop(call)
                self._dropped.append(call)
                other.fail(other.unit, error)

    def _drop(self, call: asyncio.Future[Outputs]) -> None:
        if isinstance(call, Answer):
            call.listen(None)
        call.remove_done_callback(self._advance)
        call.cancel()

    async def _abandon(self) -> None:
        """Cancel what is in flight and wait until it has ended."""
        self._end.cancel()
        calls = list(self._calls)
        self._calls.clear()
        for call in calls:
            self._drop(call)
        if ended := [*calls, *self._dropped]:
            await asyncio.gather(*ended, return_exceptions=True)

    def _result(self) -> GraphResult:
        machine = self._machine
        failure = machine.first_failure
        if failure is not None:
            raise failure.error.fault if isinstance(failure.error, SpentError) else failure
        if not machine.is_finished:
            raise RuntimeError("the graph stands still although it was valid; this is our fault")
        metrics = collect_metrics(machine.outcomes())
        return GraphResult(
            metrics.values,
            metrics.undefined,
            machine.steps,
            machine.is_truncated,
            self.firings,
        )
