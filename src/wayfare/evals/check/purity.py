"""Check that a shared nodeset answers the same call alike: again, in other orders and processes.

Knows nothing of batches: every call is served alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wayfare.evals.check import cause
from wayfare.evals.check.cause import Explanation
from wayfare.evals.check.lens import CheckedTool
from wayfare.evals.check.material import ProbeCall
from wayfare.evals.check.outcome import Difference, Outcome
from wayfare.evals.check.serving import (
    Residue,
    Server,
    find_state_changes,
    refuse_fault,
    shorten_state,
)
from wayfare.evals.check.subject import BASE, CLOCK_SHIFT_SECONDS, Conditions, Laboratory
from wayfare.evals.check.verdict import CounterExample
from wayfare.fleet.together import together

Outcomes = Mapping[ProbeCall, Outcome]
HASH_SEEDS = (1, 2, 3, 4)
MAX_CALLS_BETWEEN = 8


@dataclass(slots=True)
class PurityCheck:
    """The calls of one shared nodeset, what each gave alone, and what was found."""

    laboratory: Laboratory
    tools: Mapping[str, CheckedTool]
    calls: Sequence[ProbeCall]
    residue: Residue
    seed: int
    alone: dict[ProbeCall, Outcome] = field(default_factory=dict)
    purity: dict[str, CounterExample] = field(default_factory=dict)
    order: dict[str, CounterExample] = field(default_factory=dict)
    process: dict[str, CounterExample] = field(default_factory=dict)
    clock: dict[str, CounterExample] = field(default_factory=dict)
    memory: dict[str, CounterExample] = field(default_factory=dict)
    caches: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def impure(self) -> set[str]:
        """Return the tools of which nothing else can be told, since no answer of theirs holds."""
        return {*self.purity, *self.order}

    async def run(self, server: Server) -> None:
        """Check on one copy, then on fresh ones."""
        await self._check_first_calls(server)
        await self._check_again(server)
        for tool in sorted(self.purity):
            await self._shrink(tool)
        await self._check_fresh_copies()

    async def _check_first_calls(self, server: Server) -> None:
        """Serve every call; the first of each tool twice, to see what it leaves behind."""
        met: set[str] = set()
        for call in self.calls:
            if call.tool in met:
                self.alone[call] = await server.alone(call)
            else:
                met.add(call.tool)
                await self._check_first_call(server, call)
            refuse_fault(call, self.alone[call])

    async def _check_first_call(self, server: Server, call: ProbeCall) -> None:
        before = (await server.subject.look())[0]
        self.alone[call] = await server.alone(call)
        between = (await server.subject.look())[0]
        again = await server.alone(call)
        after = (await server.subject.look())[0]
        changes = find_state_changes(between, after)
        self._compare(call, self.alone[call], again, state=changes, between=())
        if changes and call.tool not in self.purity:
            self.memory[call.tool] = CounterExample(
                tool=str(self.tools[call.tool].fields["node_type"]),
                calls=(str(call), str(call)),
                state=shorten_state(changes),
                meaning=cause.MEMORY.meaning,
                cause=cause.MEMORY.cause,
            )
        elif filled := find_state_changes(before, between):
            self.caches[call.tool] = shorten_state(filled)

    async def _check_again(self, server: Server) -> None:
        shuffled = list(self.calls)
        random.Random(self.seed).shuffle(shuffled)  # noqa: S311  an order, no secret
        for index, call in enumerate(shuffled):
            if call.tool not in self.purity:
                outcome = await server.alone(call)
                self._compare(call, self.alone[call], outcome, between=shuffled[:index])

    def _compare(
        self,
        call: ProbeCall,
        first: Outcome,
        again: Outcome,
        *,
        between: Sequence[ProbeCall],
        state: Sequence[str] = (),
    ) -> None:
        found = self.tools[call.tool].compare(first, again)
        if found is not None:
            calls = [str(call), *_summarise(between), str(call)]
            self.purity[call.tool] = self._exemplify(
                call, found, cause.PURITY, calls=calls, state=state
            )

    async def _shrink(self, tool: str) -> None:
        """Look on a fresh copy for two or three calls that show the same; keep what was found."""
        own = [call for call in self.calls if call.tool == tool]
        async with self.laboratory.open() as subject:
            server = Server(subject, self.residue)
            for call in own[:2]:
                first = await server.alone(call)
                for between in [None, *self.calls[:MAX_CALLS_BETWEEN]]:
                    before = (await subject.look())[0]
                    if between is not None:
                        await server.alone(between)
                    again = await server.alone(call)
                    found = self.tools[tool].compare(first, again)
                    if found is not None:
                        state = find_state_changes(before, (await subject.look())[0])
                        texts = [str(c) for c in (call, between, call) if c is not None]
                        self.purity[tool] = self._exemplify(
                            call, found, cause.PURITY, calls=texts, state=state
                        )
                        return

    async def _check_fresh_copies(self) -> None:
        """Serve the same calls on fresh copies: backwards, with other hash seeds, another time."""
        other_time = Conditions(HASH_SEEDS[1], CLOCK_SHIFT_SECONDS)
        conditions = [BASE, other_time, *(Conditions(seed) for seed in HASH_SEEDS[2:])]
        orders = [self.calls[::-1], *([self.calls] * (len(conditions) - 1))]
        served = await together(
            self._serve_fresh(under, order) for under, order in zip(conditions, orders, strict=True)
        )
        self._note_all(self.order, served[0], cause.ORDER, "on a fresh copy, calls backwards:")
        for under, outcomes in zip(conditions[2:], served[2:], strict=True):
            text = f"in a fresh process with {_name(under)}:"
            self._note_all(self.process, outcomes, cause.PROCESS, text)
        suspects = list(self._find_differing(served[1]))
        if suspects:
            await self._tell_clock_from_process(suspects, served[1])

    async def _tell_clock_from_process(
        self, suspects: Sequence[ProbeCall], outcomes: Outcomes
    ) -> None:
        """Find out whether it is the time of day or the hash seed that changed an answer."""
        shifted = await self._serve_fresh(Conditions(1, CLOCK_SHIFT_SECONDS), self.calls)
        self._note_all(self.clock, shifted, cause.CLOCK, "at another time of day:")
        rest = {call: outcomes[call] for call in suspects if call.tool not in self.clock}
        text = f"in a fresh process with {_name(Conditions(HASH_SEEDS[1]))}:"
        self._note_all(self.process, rest, cause.PROCESS, text)

    async def _serve_fresh(self, under: Conditions, calls: Sequence[ProbeCall]) -> Outcomes:
        async with self.laboratory.open(under) as subject:
            return await Server(subject, self.residue).each(calls)

    def _find_differing(self, outcomes: Outcomes) -> Iterable[ProbeCall]:
        for call, outcome in outcomes.items():
            if call.tool in self.impure or call.tool in self.process:
                continue
            if self.tools[call.tool].compare(self.alone[call], outcome) is not None:
                yield call

    def _note_all(
        self,
        found: dict[str, CounterExample],
        outcomes: Outcomes,
        explanation: Explanation,
        text: str,
    ) -> None:
        for call in self._find_differing(outcomes):
            difference = self.tools[call.tool].compare(self.alone[call], outcomes[call])
            if difference is not None and call.tool not in found:
                calls = [str(call), f"{text} {call}"]
                found[call.tool] = self._exemplify(call, difference, explanation, calls=calls)

    def _exemplify(
        self,
        call: ProbeCall,
        found: Difference,
        explanation: Explanation,
        *,
        calls: Sequence[str],
        state: Sequence[str] = (),
    ) -> CounterExample:
        return self.tools[call.tool].exemplify(
            found,
            meaning=explanation.meaning,
            cause=explanation.cause,
            calls=tuple(calls),
            state=shorten_state(state),
        )


def _name(conditions: Conditions) -> str:
    return f"PYTHONHASHSEED={conditions.hash_seed}"


def _summarise(calls: Sequence[ProbeCall]) -> list[str]:
    return [f"{len(calls)} other calls"] if calls else []
