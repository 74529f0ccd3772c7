"""What a check knows of the checked tools, and how it tells whether two answers are the same.

Knows nothing of copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodeset.ports import PortDef
from nodeset.rows import is_stacked
from wayfare.evals.check.material import ProbeCall
from wayfare.evals.check.outcome import Difference, Outcome, find_difference
from wayfare.evals.check.verdict import CounterExample
from wayfare.evals.header import claim_of


@dataclass(frozen=True, slots=True)
class CheckedTool:
    """One tool as its manifest describes it."""

    name: str
    fields: Mapping[str, Any]

    @property
    def volatile(self) -> frozenset[str]:
        """Return the outputs that no digest sees."""
        return frozenset(port["name"] for port in self.fields["outputs"] if port["volatile"])

    @property
    def tolerance(self) -> float:
        """Return how far a row may differ with the batch; padded, it may not."""
        return 0.0 if self.fields["pad_batch"] else float(self.fields["batch_tolerance"])

    @property
    def is_batched(self) -> bool:
        """Return whether its handler takes many rows."""
        return bool(self.fields["batched"])

    @property
    def claim(self) -> str | None:
        """Return what an evaluation says of its bits."""
        return claim_of(self.fields) if self.is_batched else None

    def sign(self, call: ProbeCall) -> tuple[Any, ...]:
        """Return what calls must have in common to share a batch."""
        parts: list[Any] = [repr(sorted(call.config.items()))]
        for port in self.fields["inputs"]:
            if port["name"] not in call.inputs:
                continue
            value: Any = call.inputs[port["name"]]
            stacks = isinstance(value, np.ndarray) and is_stacked(PortDef(**port), value)
            parts.append((port["name"], *((value.shape, str(value.dtype)) if stacks else ())))
        return tuple(parts)

    def compare(self, a: Outcome, b: Outcome, *, in_batch: bool = False) -> Difference | None:
        """Return where two answers part; within a batch the tool's tolerance holds."""
        tolerance = self.tolerance if in_batch else 0.0
        return find_difference(a, b, self.volatile, tolerance=tolerance)

    def exemplify(
        self,
        found: Difference,
        *,
        meaning: str,
        cause: str,
        calls: tuple[str, ...] = (),
        state: tuple[str, ...] = (),
    ) -> CounterExample:
        """Return a difference as a counter-example."""
        return CounterExample(
            tool=str(self.fields["node_type"]),
            port=found.port,
            place=found.place,
            a=found.a,
            b=found.b,
            note=found.note,
            calls=calls,
            state=state,
            meaning=meaning,
            cause=cause,
        )


def list_tools(manifest: Mapping[str, Any]) -> dict[str, CheckedTool]:
    """Return the manifest's tools by short name."""
    return {tool["name"]: CheckedTool(tool["name"], tool) for tool in manifest["tools"]}
