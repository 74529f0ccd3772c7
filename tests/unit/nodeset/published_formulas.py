"""The papers' formulas once more, in another style, to hold `nodeset.metrics` against.

Places are numbers, apart is the matrix of shortest distances between all of them, and a path is an
array of places; DTW is the cheapest way through the lattice of pairs, found by Dijkstra.
"""

from __future__ import annotations

import heapq
from typing import Dict, List, Sequence, Set, Tuple

import numpy as np


def all_distances(edges: Dict[Tuple[int, int], float], count: int) -> np.ndarray:
    """Floyd and Warshall."""
    apart = np.full((count, count), np.inf)
    np.fill_diagonal(apart, 0.0)
    for (a, b), metres in edges.items():
        apart[a, b] = apart[b, a] = min(apart[a, b], metres)
    for k in range(count):
        apart = np.minimum(apart, apart[:, k, None] + apart[None, k, :])
    return apart


def length(path: Sequence[int], apart: np.ndarray) -> float:
    places = np.asarray(path)
    return float(apart[places[:-1], places[1:]].sum())


def spl(path: Sequence[int], goal: int, apart: np.ndarray, d_th: float) -> float:
    success = apart[path[-1], goal] < d_th
    shortest = apart[path[0], goal]
    return float(success * shortest / np.maximum(length(path, apart), shortest))


def dtw(path: Sequence[int], reference: Sequence[int], apart: np.ndarray) -> float:
    costs = apart[np.ix_(path, reference)]
    last = (len(path) - 1, len(reference) - 1)
    queue: List[Tuple[float, Tuple[int, int]]] = [(float(costs[0, 0]), (0, 0))]
    done: Set[Tuple[int, int]] = set()
    while queue:
        cost, (i, j) = heapq.heappop(queue)
        if (i, j) == last:
            return cost
        if (i, j) in done:
            continue
        done.add((i, j))
        for m, n in ((i + 1, j), (i, j + 1), (i + 1, j + 1)):
            if m <= last[0] and n <= last[1]:
                heapq.heappush(queue, (cost + float(costs[m, n]), (m, n)))
    raise AssertionError("every lattice has a way through")


def ndtw(path: Sequence[int], reference: Sequence[int], apart: np.ndarray, d_th: float) -> float:
    return float(np.exp(-dtw(path, reference, apart) / (len(reference) * d_th)))


def sdtw(path: Sequence[int], reference: Sequence[int], apart: np.ndarray, d_th: float) -> float:
    return ndtw(path, reference, apart, d_th) * bool(apart[path[-1], reference[-1]] < d_th)


def cls(path: Sequence[int], reference: Sequence[int], apart: np.ndarray, d_th: float) -> float:
    coverage = np.exp(-apart[np.ix_(reference, path)].min(axis=1) / d_th).mean()
    expected = coverage * length(reference, apart)
    return float(coverage * expected / (expected + np.abs(expected - length(path, apart))))


def every_metric(
    path: Sequence[int], reference: Sequence[int], apart: np.ndarray, d_th: float = 3.0
) -> Dict[str, float]:
    goal = reference[-1]
    from_goal = apart[list(path), goal]
    return {
        "NE": float(from_goal[-1]),
        "TL": length(path, apart),
        "SR": float(from_goal[-1] < d_th),
        "OSR": float((from_goal < d_th).any()),
        "SPL": spl(path, goal, apart, d_th),
        "nDTW": ndtw(path, reference, apart, d_th),
        "sDTW": sdtw(path, reference, apart, d_th),
        "CLS": cls(path, reference, apart, d_th),
    }
