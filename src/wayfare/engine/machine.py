"""Step one episode's graph: fire what is ready, pass values on, turn the loops.

Knows nothing of asyncio: it hands out the calls that are due and is told how they ended. Its state
is laid out once per episode; a turn costs no more than the units in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.digest import hash64
from nodeset.errors import NodeSetError, PortError
from nodeset.ports import accept
from wayfare.engine.errors import NodeFailure, RuleError
from wayfare.engine.loop import LoopState
from wayfare.engine.result import Outcome
from wayfare.engine.signal import FAILED, OFF
from wayfare.graph.builtin import CONDITION
from wayfare.graph.calls import ToolCall
from wayfare.graph.scope import ROOT
from wayfare.graph.unit import Kind, LoopPlan, Plan, Unit

TURNS_PER_SLICE = 256
"""Turns in a row without a call before others get the event loop."""


class Machine:
    """The state of one episode in one graph."""

    def __init__(self, plan: Plan, episode: EpisodeContext, step_budget: int | None) -> None:
        self._plan = plan
        self._episode = episode
        self._step_budget = step_budget
        self._values: list[Any] = [OFF] * plan.slot_count
        self._waits: dict[int, int] = {}
        self._remaining: dict[int, int] = {}
        self._turns: dict[int, tuple[int, ...]] = {ROOT: ()}
        self._failed_scopes: set[int] = set()
        self._loops: dict[int, LoopState] = {}
        self._ready: list[int] = []
        self._settled_scopes: list[int] = []
        self._due: list[Unit] = []
        self._failures: list[tuple[int, NodeFailure]] = []
        self.is_finished = False
        self.is_truncated = False
        self.steps = 0
        self.firings: list[tuple[str, tuple[int, ...]]] = []

    @property
    def has_work(self) -> bool:
        """Say whether `advance` stopped before all was done that needs no call."""
        return bool(self._ready or self._settled_scopes)

    @property
    def first_failure(self) -> NodeFailure | None:
        """Return the failure that stands for the episode: the first in document order."""
        return min(self._failures, key=lambda item: item[0])[1] if self._failures else None

    def start(self) -> None:
        """Make the nodes ready that wait for nothing."""
        self._open_scope(ROOT)

    def advance(self) -> list[tuple[int, ToolCall]]:
        """Fire all that is ready; return the calls that became due, in their fixed order."""
        turns = 0
        while self.has_work and turns < TURNS_PER_SLICE:
            while self._ready:
                self._fire(self._plan.units[self._ready.pop()])
            if self._settled_scopes:
                self._close_scope(self._settled_scopes.pop())
                turns += 1
        due = sorted(self._due, key=_rank)
        self._due.clear()
        return [(unit.index, self._call(unit)) for unit in due]

    def complete(self, index: int, outputs: Mapping[str, Any]) -> None:
        """Take what a tool returned."""
        unit = self._plan.units[index]
        for output in unit.outputs:
            value = outputs.get(output.port, OFF)
            if value is OFF and not output.is_optional:
                self.fail(index, _missing_output(unit, output.port, outputs))
                return
            self._values[output.slot] = value
        self._settle(unit)

    def fail(self, index: int, error: NodeSetError) -> None:
        """Take a node's failure; what depends on the node will not fire."""
        unit = self._plan.units[index]
        failure = NodeFailure(unit.path, self._turns[unit.scope], error)
        self._failures.append((unit.index, failure))
        self._settle_as(unit, FAILED)

    def outcomes(self) -> list[Outcome]:
        """Return what came to every graphOut, in document order."""
        results = [unit for unit in self._plan.units.values() if unit.kind is Kind.RESULT]
        values = [self._values[unit.inputs[0].slot] for unit in results]
        return [
            Outcome(unit.path, unit.value, value, value is OFF)
            for unit, value in zip(results, values, strict=True)
        ]

    def _open_scope(self, scope: int) -> None:
        plan = self._plan.scopes[scope]
        self._waits.update(plan.waits)
        self._remaining[scope] = len(plan.units)
        self._ready.extend(plan.starters)
        if not plan.units:
            self._settled_scopes.append(scope)

    def _close_scope(self, scope: int) -> None:
        if scope == ROOT:
            self.is_finished = True
            return
        unit = self._plan.units[scope]
        if unit.loop is None:
            raise TypeError(f"unit {unit.path!r} is no loop")
        if scope in self._failed_scopes:
            self._end_loop(unit, unit.loop, FAILED)
            return
        try:
            has_ended = self._loops[scope].close_turn()
        except NodeSetError as error:
            failure = NodeFailure(unit.loop.exit_path, self._turns[scope], error)
            self._failures.append((unit.loop.exit, failure))
            self._end_loop(unit, unit.loop, FAILED)
            return
        if has_ended:
            self._end_loop(unit, unit.loop, OFF)
        else:
            self._open_turn(unit, unit.loop)

    def _start_loop(self, unit: Unit, loop: LoopPlan) -> None:
        if any(self._values[slot] is FAILED for slot in loop.entering):
            self._settle_as(unit, FAILED)
            return
        budget = loop.max_turns
        if loop.is_outermost and self._step_budget is not None:
            budget = min(self._step_budget, budget or self._step_budget)
        self._loops[loop.scope] = LoopState(loop, self._values, budget)
        self._open_turn(unit, loop)

    def _open_turn(self, unit: Unit, loop: LoopPlan) -> None:
        state = self._loops[loop.scope]
        state.open_turn()
        self._turns[loop.scope] = (*self._turns[unit.scope], state.turn)
        if loop.is_outermost:
            self.steps += 1
        self._open_scope(loop.scope)

    def _end_loop(self, unit: Unit, loop: LoopPlan, signal: Any) -> None:
        self._failed_scopes.discard(loop.scope)
        if signal is FAILED:
            for slot in loop.end_slots:
                self._values[slot] = FAILED
            self._failed_scopes.add(unit.scope)
        elif loop.is_outermost and self._values[loop.truncated]:
            self.is_truncated = True
        self._settle(unit)

    def _fire(self, unit: Unit) -> None:
        if unit.loop is not None:
            self._start_loop(unit, unit.loop)
            return
        values = self._values
        if any(values[slot] is FAILED for slot in unit.reads):
            self._settle_as(unit, FAILED)
        elif any(not i.is_optional and values[i.slot] is OFF for i in unit.inputs):
            self._settle_as(unit, OFF)
        elif unit.kind is Kind.TOOL:
            self._due.append(unit)
        else:
            self._fire_builtin(unit)

    def _fire_builtin(self, unit: Unit) -> None:
        try:
            outputs = _builtin_outputs(unit, self._values, self._episode)
        except NodeSetError as error:
            self.fail(unit.index, error)
            return
        for output, value in zip(unit.outputs, outputs, strict=True):
            self._values[output.slot] = value
        self._settle(unit)

    def _call(self, unit: Unit) -> ToolCall:
        values, turns = self._values, self._turns[unit.scope]
        self.firings.append((unit.path, turns))
        return ToolCall(
            path=unit.path,
            nodeset=unit.nodeset,
            tool=unit.tool,
            config=unit.config,
            inputs={i.port: values[i.slot] for i in unit.inputs if values[i.slot] is not OFF},
            step=turns[0] if turns else 0,
            turns=turns,
            seed=hash64(self._episode.seed, unit.path, turns),
        )

    def _settle_as(self, unit: Unit, signal: Any) -> None:
        slots = unit.loop.end_slots if unit.loop else [output.slot for output in unit.outputs]
        for slot in slots:
            self._values[slot] = signal
        if signal is FAILED:
            self._failed_scopes.add(unit.scope)
        self._settle(unit)

    def _settle(self, unit: Unit) -> None:
        waits = self._waits
        for follower in unit.followers:
            waits[follower] -= 1
            if not waits[follower]:
                self._ready.append(follower)
        self._remaining[unit.scope] -= 1
        if not self._remaining[unit.scope]:
            self._settled_scopes.append(unit.scope)


def _rank(unit: Unit) -> int:
    return unit.rank


def _builtin_outputs(unit: Unit, values: list[Any], episode: EpisodeContext) -> tuple[Any, ...]:
    match unit.kind:
        case Kind.CONST:
            return (unit.value,)
        case Kind.EPISODE:
            return (episode.index, episode.id, episode.scene_id, episode.split, episode.seed)
        case Kind.SWITCH:
            return _switch(unit, values)
        case Kind.MERGE:
            return (_merge(unit, values),)
        case Kind.RESULT:
            return ()
        case Kind.RELAY:
            # Off or unwired, an input of a subgraph is off inside.
            return (values[unit.inputs[0].slot] if unit.inputs else OFF,)
    raise TypeError(f"{unit.kind!r} is no built-in that fires")


def _switch(unit: Unit, values: list[Any]) -> tuple[Any, Any]:
    slots = {item.port: item.slot for item in unit.inputs}
    condition = accept(CONDITION, values[slots["condition"]], f"switch {unit.path!r} input")
    value = values[slots["value"]]
    return (value, OFF) if condition else (OFF, value)


def _merge(unit: Unit, values: list[Any]) -> Any:
    came = [item for item in unit.inputs if values[item.slot] is not OFF]
    if len(came) > 1:
        ports = " and ".join(repr(item.port) for item in came)
        raise RuleError(
            f"merge {unit.path!r} got values at {ports}; only one may come. "
            "Let a switch decide which branch runs."
        )
    return values[came[0].slot] if came else OFF


def _missing_output(unit: Unit, port: str, outputs: Mapping[str, Any]) -> PortError:
    return PortError(
        f"{unit.nodeset}__{unit.tool} output {port!r} is missing: got {sorted(outputs)}. "
        "Return it, or declare the port optional."
    )
