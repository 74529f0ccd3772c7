"""Step one graph through one episode: fire what is ready, pass values on, turn loops, run maps.

Knows nothing of asyncio: it hands out the calls that are due and is told how they ended. Its state
is laid out once per episode; a turn costs no more than the units in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.digest import Hash64Series
from nodeset.errors import NodeSetError
from wayfare.engine.absence import is_switched_off
from wayfare.engine.agenda import Agenda, Due, Position
from wayfare.engine.errors import NodeFailure
from wayfare.engine.firing import fire_builtin, items_of, missing_output
from wayfare.engine.loop import LoopState
from wayfare.engine.result import Outcome
from wayfare.engine.signal import FAILED, OFF
from wayfare.graph.calls import ToolCall
from wayfare.graph.scope import ROOT
from wayfare.graph.unit import Kind, LoopPlan, MapPlan, Plan, Unit


class Machine:
    """The state of one episode in one graph, or of one item in the graph of a map.

    All machines of an episode share its agenda. `position` says where this one stands among them;
    `on_end` is called when it has finished.
    """

    def __init__(
        self,
        plan: Plan,
        episode: EpisodeContext,
        agenda: Agenda,
        *,
        step_budget: int | None = None,
        position: Position | None = None,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        self._plan = plan
        self._episode = episode
        self._agenda = agenda
        self._step_budget = step_budget
        self._position = position or Position()
        self._on_end = on_end
        self._values: list[Any] = [OFF] * plan.slot_count
        self._waits: dict[int, int] = {}
        self._remaining: dict[int, int] = {}
        self._turns: dict[int, tuple[int, ...]] = {ROOT: self._position.turns}
        self._failed_scopes: set[int] = set()
        self._loops: dict[int, LoopState] = {}
        self._maps: dict[int, list[Machine]] = {}
        self._unfinished: dict[int, int] = {}
        self._heirs: dict[int, list[tuple[Machine, int]]] = {}
        self._seeds: dict[int, Hash64Series] = {}
        self._ready: list[int] = []
        self._settled_scopes: list[int] = []
        self._failures: list[tuple[int, NodeFailure]] = []
        self.is_finished = False
        self.is_truncated = False
        self.steps = 0

    @property
    def first_failure(self) -> NodeFailure | None:
        """Return the failure that stands for the rest: the first in document order."""
        return min(self._failures, key=lambda item: item[0])[1] if self._failures else None

    def start(self, held: Collection[int] = ()) -> None:
        """Make the nodes ready that wait for nothing; `held` units wait for another machine."""
        self._open_scope(ROOT)
        for index in held:
            self._waits[index] += 1
        self._ready = [index for index in self._ready if not self._waits[index]]
        self._agenda.add_work(self._work)

    def outcomes(self) -> list[Outcome]:
        """Return what came to every graphOut, in document order."""
        results = [unit for unit in self._plan.units.values() if unit.kind is Kind.RESULT]
        values = [self._values[unit.inputs[0].slot] for unit in results]
        return [
            Outcome(unit.path, unit.value, value, value is OFF)
            for unit, value in zip(results, values, strict=True)
        ]

    def _work(self) -> bool:
        """Fire all that is ready; return whether a turn ended, so that there may be more."""
        while self._ready:
            self._fire(self._plan.units[self._ready.pop()])
        if self._settled_scopes:
            self._close_scope(self._settled_scopes.pop())
            return True
        return False

    def _call(self, unit: Unit) -> ToolCall:
        values, turns = self._values, self._turns[unit.scope]
        return ToolCall(
            path=unit.path,
            nodeset=unit.nodeset,
            tool=unit.tool,
            config=unit.config,
            inputs={i.port: values[i.slot] for i in unit.inputs if values[i.slot] is not OFF},
            step=self._position.step_at(turns),
            turns=turns,
            seed=self._seeds_of(unit).hash(turns),
        )

    def _seeds_of(self, unit: Unit) -> Hash64Series:
        seeds = self._seeds.get(unit.index)
        if seeds is None:
            seeds = self._seeds[unit.index] = Hash64Series(self._episode.seed, unit.path)
        return seeds

    def _complete(self, unit: Unit, outputs: Mapping[str, Any]) -> None:
        for output in unit.outputs:
            value = outputs.get(output.port, OFF)
            if value is OFF and not output.is_optional:
                self._fail(unit, missing_output(unit, output.port, outputs))
                return
            self._values[output.slot] = value
        self._settle(unit)
        self._agenda.add_work(self._work)

    def _fail(self, unit: Unit, error: NodeSetError) -> None:
        """Keep a node's failure; what depends on the node will not fire."""
        self._failures.append((unit.index, NodeFailure(unit.path, self._turns[unit.scope], error)))
        self._settle_as(unit, FAILED)
        self._agenda.add_work(self._work)

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
            if self._on_end is not None:
                self._on_end()
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
        if is_switched_off(self._plan, loop, self._values):
            self._settle_as(unit, OFF)
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

    def _start_map(self, unit: Unit, inner: MapPlan) -> None:
        try:
            items = items_of(unit, inner, self._values)
        except NodeSetError as error:
            self._fail(unit, error)
            return
        machines = [self._machine_of(unit, inner, number) for number in range(len(items))]
        self._maps[unit.index] = machines
        self._unfinished[unit.index] = len(machines)
        for machine, item in zip(machines, items, strict=True):
            machine._values[inner.item] = item
            for around, within in inner.latched:
                machine._values[within] = self._values[around]
        for earlier, later in pairwise(machines):
            for first, last in inner.chains:
                earlier._heirs.setdefault(last, []).append((later, first))
        for number, machine in enumerate(machines):
            machine.start([first for first, _ in inner.chains] if number else ())
        if not machines:
            self._end_map(unit, inner)

    def _machine_of(self, unit: Unit, inner: MapPlan, number: int) -> Machine:
        return Machine(
            inner.plan,
            self._episode,
            self._agenda,
            position=self._position.of_item(self._turns[unit.scope], unit, number),
            on_end=partial(self._end_item, unit, inner),
        )

    def _end_item(self, unit: Unit, inner: MapPlan) -> None:
        self._unfinished[unit.index] -= 1
        if not self._unfinished[unit.index]:
            self._end_map(unit, inner)
            self._agenda.add_work(self._work)

    def _end_map(self, unit: Unit, inner: MapPlan) -> None:
        machines = self._maps.pop(unit.index)
        failures = [failure for machine in machines if (failure := machine.first_failure)]
        if failures:
            self._failures.append((unit.index, failures[0]))
            self._settle_as(unit, FAILED)
            return
        for within, around in inner.results:
            values = [machine._values[within] for machine in machines]
            self._values[around] = [value for value in values if value is not OFF]
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
            due = Due(unit, self._position, self._call, self._complete, self._fail)
            self._agenda.add_call(due)
        elif unit.map is not None:
            self._start_map(unit, unit.map)
        else:
            self._fire_builtin(unit)

    def _fire_builtin(self, unit: Unit) -> None:
        try:
            outputs = fire_builtin(unit, self._values, self._episode)
        except NodeSetError as error:
            self._fail(unit, error)
            return
        for output, value in zip(unit.outputs, outputs, strict=True):
            self._values[output.slot] = value
        self._settle(unit)

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
        if self._heirs:
            self._release_heirs(unit)
        self._remaining[unit.scope] -= 1
        if not self._remaining[unit.scope]:
            self._settled_scopes.append(unit.scope)

    def _release_heirs(self, unit: Unit) -> None:
        """Let the next item's first call go that waits for this one, its last."""
        for machine, index in self._heirs.get(unit.index, ()):
            machine._waits[index] -= 1
            if not machine._waits[index]:
                machine._ready.append(index)
                self._agenda.add_work(machine._work)
