"""Put two answers to one call side by side: the first port and element in which they differ.

Knows nothing of calls or copies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nodeset.errors import AuthorError, NodeSetError, from_payload
from wayfare.evals.comparison_value import are_equal, describe, locate

_NOTHING = "nothing: the port was left out"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one call ended: with outputs, or with an error."""

    outputs: Mapping[str, Any] | None
    error: NodeSetError | None = None

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Outcome:
        """Return the outcome that a probe reports."""
        if "error" in row:
            return cls(None, from_payload(row["error"]))
        return cls(row["outputs"])

    @property
    def text(self) -> str:
        """Return how it ended in words."""
        if self.error is None:
            return "an answer"
        name = self.error.type_name if isinstance(self.error, AuthorError) else ""
        return f"raised {name or type(self.error).__name__}: {self.error}"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two outcomes part."""

    port: str
    place: str
    a: str
    b: str
    note: str = ""


def find_difference(
    a: Outcome, b: Outcome, volatile: frozenset[str], *, tolerance: float = 0.0
) -> Difference | None:
    """Return the first difference between two outcomes, volatile ports left out."""
    if a.outputs is None or b.outputs is None:
        return None if _ended_alike(a, b) else Difference("", "", a.text, b.text)
    for port in sorted({*a.outputs, *b.outputs} - volatile):
        if port not in a.outputs or port not in b.outputs:
            one, other = _describe_port(a.outputs, port), _describe_port(b.outputs, port)
            return Difference(port, "", one, other)
        if are_equal(a.outputs[port], b.outputs[port]):
            continue
        if tolerance and measure(a.outputs[port], b.outputs[port]) <= tolerance:
            continue
        spot = locate(a.outputs[port], b.outputs[port])
        return Difference(port, spot.place, spot.a, spot.b, spot.note)
    return None


def _describe_port(outputs: Mapping[str, Any], port: str) -> str:
    return describe(outputs[port]) if port in outputs else _NOTHING


def measure_outcomes(a: Outcome, b: Outcome, volatile: frozenset[str]) -> float:
    """Return the largest difference between two outcomes; inf where they differ in kind."""
    if a.outputs is None or b.outputs is None:
        return 0.0 if _ended_alike(a, b) else math.inf
    ports = {*a.outputs, *b.outputs} - volatile
    if any(port not in a.outputs or port not in b.outputs for port in ports):
        return math.inf
    return max((measure(a.outputs[port], b.outputs[port]) for port in ports), default=0.0)


def measure(a: Any, b: Any) -> float:
    """Return the largest absolute difference of floats; inf where anything else differs."""
    if are_equal(a, b):
        return 0.0
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return _measure_arrays(a, b)
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) if math.isfinite(a) and math.isfinite(b) else math.inf
    if isinstance(a, Mapping) and isinstance(b, Mapping) and a.keys() == b.keys():
        return max(measure(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return max(measure(one, other) for one, other in zip(a, b, strict=True))
    return math.inf


def _measure_arrays(a: Any, b: Any) -> float:
    if a.dtype != b.dtype or a.shape != b.shape or a.dtype.kind not in "fc":
        return math.inf
    # A NaN in both at the same place is no difference; anything else that is not finite is one.
    apart = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    largest = float(np.max(np.abs(a[apart] - b[apart]), initial=0.0))
    return largest if math.isfinite(largest) else math.inf


def _ended_alike(a: Outcome, b: Outcome) -> bool:
    return a.outputs is None and b.outputs is None and _kind(a.error) == _kind(b.error)


def _kind(error: NodeSetError | None) -> Sequence[str]:
    name = error.type_name if isinstance(error, AuthorError) else ""
    return type(error).__name__, name
