"""The values of metrics, and distances between places: numbers that are known or undefined.

Knows nothing of what is measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, Sequence, Tuple, Union

import numpy as np

Distance = Union[Callable[[Any, Any], float], np.ndarray]
"""A function of two places, or a square matrix whose indices are the places; metres."""
Undefined = Dict[str, str]
Number = Union[float, Undefined]
Claim = Union[bool, Undefined]


@dataclass(frozen=True)
class AnyOf:
    """A goal that is reached at any of several places, as in ObjectNav: the nearest one counts."""

    places: Tuple[Any, ...]

    def __post_init__(self) -> None:
        """Refuse a goal that is nowhere."""
        if not self.places:
            raise ValueError("AnyOf has no places; a goal must be at one place or more")


def undefined(reason: str) -> Undefined:
    """Return the value of a metric that has none for this episode, with the reason why."""
    return {"undefined": reason}


def is_undefined(value: Any) -> bool:
    """Say whether a metric's value is `undefined(reason)`."""
    return isinstance(value, Mapping) and "undefined" in value


def euclidean_distance(here: Sequence[float], there: Sequence[float]) -> float:
    """Return the length of the straight line between two positions, in their unit."""
    return math.dist(here, there)


def check_places(trajectory: Sequence[Any]) -> Sequence[Any]:
    """Return the trajectory; raises ValueError for an empty one."""
    if len(trajectory) == 0:
        raise ValueError("trajectory is empty; it must hold at least the start")
    return trajectory


def measure_m(distance: Distance, here: Any, there: Any) -> float:
    """Return a distance in metres, which may be infinite; raises ValueError for what is none."""
    if isinstance(there, AnyOf):
        return min(measure_m(distance, here, place) for place in there.places)
    value = distance[here, there] if isinstance(distance, np.ndarray) else distance(here, there)
    metres = float(value)
    if math.isnan(metres) or metres < 0.0:
        raise ValueError(
            f"distance from {here!r} to {there!r} is {metres!r}; it must be 0 or more, in metres, "
            f"or infinite where there is no way"
        )
    return metres
