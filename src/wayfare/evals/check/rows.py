"""Check that the rows of a batch don't feel each other: alone, together, in other places, failing.

Knows nothing of what is kept between calls: only of tools that answer the same call alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nodeset.errors import AuthorError
from wayfare.evals.check import cause
from wayfare.evals.check.cause import Explanation
from wayfare.evals.check.lens import CheckedTool
from wayfare.evals.check.material import ProbeCall
from wayfare.evals.check.outcome import Difference, Outcome, measure_outcomes
from wayfare.evals.check.serving import Server
from wayfare.evals.check.verdict import CounterExample

SIZES = (2, 3, 4, 8)
LAST_BITS = 1e-4
"""Differences below it are taken for rounding, in the sentence that explains them."""
_ODD_VALUES: tuple[Any, ...] = (None, {"check": None}, [], "no such value", -(10**9), float("nan"))


@dataclass(slots=True)
class RowCheck:
    """The batched tools of one shared nodeset and what each call gave alone."""

    server: Server
    tools: Mapping[str, CheckedTool]
    alone: Mapping[ProbeCall, Outcome]
    batch: dict[str, CounterExample] = field(default_factory=dict)
    order: dict[str, CounterExample] = field(default_factory=dict)
    rows: dict[str, CounterExample] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)
    """Per tool the largest difference between a row alone and in a batch."""
    failing: set[str] = field(default_factory=set)
    """Tools for which an input was found that fails alone."""
    single: set[str] = field(default_factory=set)
    """Tools of which only one input is known, so that equal rows were put together."""

    async def run(self, tool: CheckedTool) -> None:
        """Check one batched tool."""
        group = self._find_group(tool)
        if not group:
            return
        if len(group) == 1:
            self.single.add(tool.name)
        self.largest[tool.name] = 0.0
        for size in _sizes(tool, len(group)):
            rows = [group[index % len(group)] for index in range(size)]
            outcomes = await self._serve(tool, rows)
            if tool.name in self.batch:
                await self._shrink(tool, rows)
                return
            if tool.name not in self.order:
                await self._check_places(tool, rows, outcomes)
        await self._check_failing_row(tool, group)

    def _find_group(self, tool: CheckedTool) -> list[ProbeCall]:
        """Return the largest group of calls that can share a batch and have an answer."""
        groups: dict[tuple[Any, ...], list[ProbeCall]] = {}
        for call, outcome in self.alone.items():
            if call.tool == tool.name and outcome.outputs is not None:
                groups.setdefault(tool.sign(call), []).append(call)
        return max(groups.values(), key=len, default=[])

    async def _serve(self, tool: CheckedTool, rows: Sequence[ProbeCall]) -> list[Outcome]:
        """Serve rows together and hold each against what it gives alone."""
        outcomes = await self.server.together(rows)
        for index, (call, outcome) in enumerate(zip(rows, outcomes, strict=True)):
            largest = measure_outcomes(self.alone[call], outcome, tool.volatile)
            self.largest[tool.name] = max(self.largest[tool.name], largest)
            found = tool.compare(self.alone[call], outcome, in_batch=True)
            if found is not None and tool.name not in self.batch:
                self.batch[tool.name] = self._exemplify(tool, rows, index, found, outcome)
        return outcomes

    async def _shrink(self, tool: CheckedTool, rows: Sequence[ProbeCall]) -> None:
        """Look for the fewest rows that show it; those with another neighbour come first."""
        distinct = list(dict.fromkeys(rows))
        for size in range(2, len(rows)):
            starts = range(len(distinct)) if len(distinct) > 1 else range(1)
            for start in starts:
                few = [distinct[(start + i) % len(distinct)] for i in range(size)]
                self.batch.pop(tool.name, None)
                await self._serve(tool, few)
                if tool.name in self.batch:
                    return
        await self._serve(tool, rows)

    async def _check_places(
        self, tool: CheckedTool, rows: Sequence[ProbeCall], outcomes: Sequence[Outcome]
    ) -> None:
        """Serve the rows backwards; each must get what it got before."""
        turned = (await self.server.together(rows[::-1]))[::-1]
        for index, (one, other) in enumerate(zip(outcomes, turned, strict=True)):
            found = tool.compare(one, other, in_batch=True)
            if found is not None:
                calls = tuple(str(call) for call in rows)
                self.order[tool.name] = tool.exemplify(
                    found,
                    meaning=cause.ROW_ORDER.meaning,
                    cause=cause.ROW_ORDER.cause,
                    calls=(f"row {index} of {len(rows)}, then the rows backwards", *calls),
                )
                return

    async def _check_failing_row(self, tool: CheckedTool, group: Sequence[ProbeCall]) -> None:
        """Put a row that fails alone between others; without one, a row of odd values."""
        limit = tool.fields["max_batch"] or len(group) + 2
        if limit < 2:
            return
        bad, is_failing = await self._find_bad_row(tool, group[0])
        if bad is None:
            return
        if is_failing:
            self.failing.add(tool.name)
        rows = [group[0], bad, group[-1]][:limit]
        for index, outcome in enumerate(await self.server.together(rows)):
            if rows[index] is bad:
                found = None
                if is_failing and outcome.outputs is not None:
                    found = Difference("", "", "it raises", "it gets an answer")
            else:
                found = tool.compare(self.alone[rows[index]], outcome, in_batch=True)
            if found is not None:
                self.rows[tool.name] = tool.exemplify(
                    found,
                    meaning=cause.ROWS.meaning,
                    cause=cause.ROWS.cause,
                    calls=(f"row {index} of a batch whose row 1 fails", *map(str, rows)),
                )
                return

    async def _find_bad_row(
        self, tool: CheckedTool, call: ProbeCall
    ) -> tuple[ProbeCall | None, bool]:
        """Return a call that raises in the handler, else one of odd values, else nothing."""
        odd = None
        for candidate in _list_odd_calls(tool, call):
            outcome = await self.server.alone(candidate)
            if isinstance(outcome.error, AuthorError):
                return candidate, True
            if outcome.outputs is not None:
                odd = candidate
        return odd, False

    def _exemplify(
        self,
        tool: CheckedTool,
        rows: Sequence[ProbeCall],
        index: int,
        found: Difference,
        outcome: Outcome,
    ) -> CounterExample:
        explanation = self._explain(tool, rows, index, outcome)
        calls = (f"row {index} of {len(rows)}; a: alone, b: in this batch", *map(str, rows))
        return tool.exemplify(
            found, meaning=explanation.meaning, cause=explanation.cause, calls=calls
        )

    def _explain(
        self, tool: CheckedTool, rows: Sequence[ProbeCall], index: int, outcome: Outcome
    ) -> Explanation:
        own = self.alone[rows[index]]
        largest = measure_outcomes(own, outcome, tool.volatile)
        if math.isfinite(largest) and largest < LAST_BITS:
            return cause.BATCH_BITS
        others = (self.alone[call] for call in rows if call is not rows[index])
        if any(tool.compare(other, outcome) is None for other in others):
            return cause.BATCH_FIRST_ROW
        return cause.BATCH_STATISTICS


def _sizes(tool: CheckedTool, there: int) -> list[int]:
    """Return the numbers of rows to try: more than one, up to the tool's bound."""
    pad, bound = tool.fields["pad_batch"], tool.fields["max_batch"]
    sizes = {*SIZES, *((pad, pad + 1) if pad else ()), max(2, there)}
    return sorted(size for size in sizes if size > 1 and (not bound or size <= bound))


def _list_odd_calls(tool: CheckedTool, call: ProbeCall) -> Iterator[ProbeCall]:
    """Yield calls with one input replaced by what the port takes and the tool may not expect."""
    for port in tool.fields["inputs"]:
        name = port["name"]
        if name not in call.inputs:
            continue
        value = call.inputs[name]
        if isinstance(value, np.ndarray):
            odd: Sequence[Any] = [np.full_like(value, np.nan)] if value.dtype.kind == "f" else []
        else:
            odd = _ODD_VALUES
        for replacement in odd:
            changed = replace(call, inputs={**call.inputs, name: replacement}, is_legal=False)
            if tool.sign(changed) == tool.sign(call):
                yield changed
