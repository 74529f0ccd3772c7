"""Keep what a model thinks of places: a value per floor cell.

Knows nothing of the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .volume import Grid

# Explore-EQA's settings: a local value counts exp(global / 0.5) / 3 times.
GLOBAL_TEMPERATURE = 0.5
GLOBAL_FACTOR = 1.0 / 3.0
_REACH_SIGMAS = 3.0


class SemanticMap:
    """Values over the floor's cells (X, Z); 0 where nothing was said."""

    def __init__(self, grid: Grid, sigma_m: float) -> None:
        self._grid = grid
        self._sigma_m = sigma_m
        size = (grid.shape[0], grid.shape[2])
        self._total = np.zeros(size, np.float64)
        self._weight = np.zeros(size, np.float64)

    @property
    def value(self) -> Any:
        """Return the mean of what was said of each cell; what was said nearby counts less."""
        return self._total / np.maximum(self._weight, 1.0)

    def integrate(self, points: Any, values: Any, global_value: float | None) -> int:
        """Take in values (N,) at points (N, 3), each spread as a Gaussian; returns cells changed.

        `global_value` says how much the whole view is worth exploring and scales the local ones.
        """
        places, local = _check(points, values)
        scale = 1.0
        if global_value is not None:
            scale = float(np.exp(global_value / GLOBAL_TEMPERATURE)) * GLOBAL_FACTOR
        changed = np.zeros(self._total.shape, np.bool_)
        for place, value in zip(places, local):
            gain = self._spread(place)
            self._total += value * scale * gain
            self._weight += gain
            changed |= gain > 0.0
        return int(changed.sum())

    def _spread(self, place: Any) -> Any:
        axes = []
        for axis in (0, 2):
            offset = (self._grid.centers(axis) - place[axis]) / self._sigma_m
            inside = np.abs(offset) <= _REACH_SIGMAS
            axes.append(np.where(inside, np.exp(-0.5 * offset**2), 0.0))
        return axes[0][:, None] * axes[1]


def _check(points: Any, values: Any) -> tuple[Any, Any]:
    places, local = np.asarray(points, np.float64), np.asarray(values, np.float64)
    is_fitting = places.ndim == 2 and places.shape[1] == 3 and local.shape == places.shape[:1]
    if not is_fitting or not (np.isfinite(places).all() and np.isfinite(local).all()):
        raise ValueError(
            f"points has shape {places.shape} and values {local.shape}; they must be finite, "
            f"(N, 3) and (N,)"
        )
    return places, local
