"""Approximate dynamic time warping between two sequences of positions in linear time (FastDTW).

Knows nothing of metrics.

The method: S. Salvador and P. Chan, "FastDTW: Toward accurate dynamic time warping in linear time
and space", Intelligent Data Analysis 11 (2007) 561-580. Both paths are halved until one is short,
the short ones are aligned exactly, and each alignment bounds the search at the next resolution to
the cells it crosses and `radius` cells around them. The paper leaves open how odd lengths are
halved and which of several cheapest warpings is kept; here both are as in the package `fastdtw`:
an odd last position is dropped, and at a tie the way that advances the first path alone goes
before the one that advances the second alone, and this before both.
"""

from __future__ import annotations

import math
from typing import Dict, Iterable, List, Sequence, Set, Tuple, Union

import numpy as np

Cell = Tuple[int, int]
"""An index in the first path, and one in the second."""
_START: Cell = (-1, -1)


def align_approximately(
    first: Union[Sequence[Sequence[float]], np.ndarray],
    second: Union[Sequence[Sequence[float]], np.ndarray],
    *,
    radius: int = 1,
) -> float:
    """Return the cost of the warping that is found: the sum of Euclidean distances along it."""
    if radius < 1:
        # With 0 an odd last position, which halving drops, would be out of reach.
        raise ValueError(f"radius is {radius!r}; it must be 1 or more")
    return _align(_as_points(first), _as_points(second), radius)[0]


def _as_points(path: Union[Sequence[Sequence[float]], np.ndarray]) -> np.ndarray:
    points = np.asarray(path, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError(
            f"positions have the shape {points.shape!r}; they must be (number of positions, "
            f"coordinates)"
        )
    return points


def _align(first: np.ndarray, second: np.ndarray, radius: int) -> Tuple[float, List[Cell]]:
    """Return cost and cells of the warping."""
    shape = (len(first), len(second))
    if min(shape) < radius + 2:
        everything = [range(shape[1])] * shape[0]
        return _warp(first, second, everything)
    _, coarse = _align(_halve(first), _halve(second), radius)
    return _warp(first, second, _widen(coarse, shape, radius))


def _halve(points: np.ndarray) -> np.ndarray:
    even = len(points) - len(points) % 2
    halved: np.ndarray = (points[0:even:2] + points[1:even:2]) / 2
    return halved


def _widen(coarse: Iterable[Cell], shape: Cell, radius: int) -> List[range]:
    """Return the columns to search of each row: the first run of allowed cells from the left on.

    A row begins where the one before did, at the earliest.
    """
    around = range(-radius, radius + 1)
    wide = {(row + up, column + left) for row, column in coarse for up in around for left in around}
    allowed: Dict[int, Set[int]] = {}
    for row, column in wide:
        for fine in (2 * row, 2 * row + 1):
            allowed.setdefault(fine, set()).update((2 * column, 2 * column + 1))
    searched, start = [], 0
    for row in range(shape[0]):
        columns = allowed.get(row, set())
        first = next((n for n in range(start, shape[1]) if n in columns), shape[1])
        end = next((n for n in range(first, shape[1]) if n not in columns), shape[1])
        searched.append(range(first, end))
        start = first
    return searched


def _warp(
    first: np.ndarray, second: np.ndarray, searched: Sequence[range]
) -> Tuple[float, List[Cell]]:
    """Return the cheapest warping within the cells to search."""
    costs: Dict[Cell, float] = {_START: 0.0}
    origins: Dict[Cell, Cell] = {}
    starts, ends = first.tolist(), second.tolist()
    for row, columns in enumerate(searched):
        for column in columns:
            before = ((row - 1, column), (row, column - 1), (row - 1, column - 1))
            origin = min(before, key=lambda cell: costs.get(cell, math.inf))
            step = math.dist(starts[row], ends[column])
            costs[row, column] = costs.get(origin, math.inf) + step
            origins[row, column] = origin
    cell = (len(first) - 1, len(second) - 1)
    cost, cells = costs[cell], []
    while cell != _START:
        cells.append(cell)
        cell = origins[cell]
    return cost, cells[::-1]
