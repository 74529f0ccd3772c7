"""Turn what reached the graph's outputs into metrics.

Knows nothing of how it got there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wayfare.engine.errors import NodeFailure, RuleError

NOT_PRODUCED = "not produced"
NOT_A_NUMBER = "not a number"
INFINITE = "infinite"
MINUS_INFINITE = "minus infinite"


@dataclass(frozen=True, slots=True)
class GraphResult:
    """The end of one episode's graph.

    `undefined` gives the reason for every metric that has no value. `steps` counts the turns of
    the outermost loop. `firings` are the tools' firings, path and turns, in the order of calling.
    """

    metrics: dict[str, int | float | bool]
    undefined: dict[str, str]
    steps: int
    truncated: bool
    firings: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one graphOut got; `is_off` if nothing came."""

    path: str
    name: str
    value: Any
    is_off: bool = False


@dataclass
class Metrics:
    """Metrics by name, each from one graphOut."""

    values: dict[str, int | float | bool] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    _origin: dict[str, str] = field(default_factory=dict)

    def put(self, path: str, name: str, value: Any) -> None:
        if name in self._origin:
            rule = f"metric {name!r} comes from graphOut {self._origin[name]!r} and from {path!r}"
            raise NodeFailure(path, (), RuleError(f"{rule}; give one of them another name"))
        self._origin[name] = path
        if isinstance(value, Mapping):
            self.undefined[name] = str(value["undefined"])
        elif isinstance(value, float) and not math.isfinite(value):
            self.undefined[name] = _name_odd(value)
        else:
            self.values[name] = value


def collect_metrics(outcomes: Iterable[Outcome]) -> Metrics:
    """Return all metrics; raise `NodeFailure` for what is none, first in document order."""
    metrics = Metrics()
    for outcome in outcomes:
        for name, value in _named_values(outcome):
            metrics.put(outcome.path, name, value)
    return metrics


def _named_values(outcome: Outcome) -> Iterable[tuple[str, Any]]:
    if outcome.is_off:
        return [(outcome.name, {"undefined": NOT_PRODUCED})]
    if _is_metric(outcome.value):
        return [(outcome.name, outcome.value)]
    value = outcome.value
    if isinstance(value, Mapping) and all(_is_metric(item) for item in value.values()):
        return [(str(name), item) for name, item in value.items()]
    message = (
        f"graphOut {outcome.path!r} got {_shorten(value)}; a result is a number, BOOL, "
        '{"undefined": reason}, or a dict of names to these'
    )
    raise NodeFailure(outcome.path, (), RuleError(message))


def _name_odd(value: float) -> str:
    """Return what a float is that has no finite value."""
    if math.isnan(value):
        return NOT_A_NUMBER
    return INFINITE if value > 0 else MINUS_INFINITE


def _is_metric(value: Any) -> bool:
    if isinstance(value, Mapping):
        return list(value) == ["undefined"] and isinstance(value["undefined"], str)
    return isinstance(value, (bool, int, float))


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
