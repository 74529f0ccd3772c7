"""Compare the way that an agent took with a reference path: DTW, nDTW, sDTW, CLS.

Knows nothing of simulators or files: distances come in as a function or a matrix.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from nodeset.metrics.fastdtw import align_approximately
from nodeset.metrics.navigation import SUCCESS_THRESHOLD_M, success, trajectory_length
from nodeset.metrics.value import Distance, Number, check_places, measure_m, undefined

NO_REFERENCE = "the split publishes no reference path"
_APART = "no way leads from a place of the trajectory to one of the reference path"
Positions = Union[Sequence[Sequence[float]], np.ndarray]
"""Coordinates, one row per position."""


def drop_repeats(positions: Sequence[Any]) -> List[Any]:
    """Return the positions without those that equal the one before (turning on the spot).

    So VLN-CE's NDTW takes an agent's positions, Krantz et al., "Beyond the Nav-Graph", ECCV 2020.
    """
    kept: List[Any] = []
    for position in positions:
        if not kept or not np.array_equal(position, kept[-1]):
            kept.append(position)
    return kept


def dtw(trajectory: Sequence[Any], reference: Sequence[Any], distance: Distance) -> Number:
    """Return the exact cost of dynamic time warping between two paths, in metres.

    The least sum of distances over all warpings that begin at both starts, end at both ends and
    go on by one place in either path or in both: Ilharco et al., "General Evaluation for
    Instruction Conditioned Navigation using Dynamic Time Warping", 2019, section 3. Undefined
    without a reference path, and where every warping crosses two places with no way between.
    """
    places = check_places(trajectory)
    if len(reference) == 0:
        return undefined(NO_REFERENCE)
    best_m = [0.0] + [math.inf] * len(reference)
    for place in places:
        row_m = [math.inf]
        for column, aim in enumerate(reference):
            before_m = min(best_m[column], best_m[column + 1], row_m[column])
            row_m.append(before_m + measure_m(distance, place, aim))
        best_m = row_m
    return undefined(_APART) if math.isinf(best_m[-1]) else best_m[-1]


def ndtw(
    trajectory: Sequence[Any],
    reference: Sequence[Any],
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
) -> Number:
    """Return nDTW: exp(-DTW / (number of reference places * threshold)), from 0 to 1.

    Ilharco et al., 2019, section 3, with the exact DTW. `threshold_m` is d_th, the benchmark's
    success threshold. Undefined where `dtw` is.
    """
    return _normalise(dtw(trajectory, reference, distance), len(reference), threshold_m)


def ndtw_fastdtw(
    positions: Positions,
    reference: Positions,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
    radius: int = 1,
) -> Number:
    """Return nDTW over an approximation of DTW, as the package `fastdtw` gives it.

    S. Salvador and P. Chan, "FastDTW: Toward accurate dynamic time warping in linear time and
    space", Intelligent Data Analysis 11 (2007), with radius 1 as VLN-CE's NDTW uses it unless it
    is told otherwise. Positions are coordinates, between which the distance is Euclidean. The
    approximation is never below the exact DTW, so this is at most `ndtw`: name a metric so that
    the two are not taken for each other, such as `nDTW_fastdtw`.
    """
    if len(positions) == 0:
        raise ValueError("positions are empty; they must hold at least the start")
    if len(reference) == 0:
        return undefined(NO_REFERENCE)
    cost_m = align_approximately(positions, reference, radius=radius)
    return _normalise(cost_m, len(reference), threshold_m)


def sdtw(
    trajectory: Sequence[Any],
    reference: Sequence[Any],
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
    succeeded: Optional[bool] = None,
) -> Number:
    """Return SDTW: nDTW where the episode succeeded, else 0.

    Ilharco et al., 2019, section 3. `succeeded` is the benchmark's own word for it; without one
    the agent succeeds if it ends less than `threshold_m` from the end of the reference path.
    """
    closeness = ndtw(trajectory, reference, distance, threshold_m=threshold_m)
    if isinstance(closeness, dict):
        return closeness
    if succeeded is None:
        succeeded = success(trajectory, reference[-1], distance, threshold_m=threshold_m)
    return closeness if succeeded else 0.0


def path_coverage(
    trajectory: Sequence[Any],
    reference: Sequence[Any],
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
) -> Number:
    """Return PC: the mean over the reference path's places of exp(-distance to the way / d_th).

    Jain et al., "Stay on the Path", ACL 2019, section 4: a place that no way leads to is covered
    by 0.
    """
    places = check_places(trajectory)
    if len(reference) == 0:
        return undefined(NO_REFERENCE)
    nearest_m = [min(measure_m(distance, place, aim) for place in places) for aim in reference]
    return math.fsum(math.exp(-metres / threshold_m) for metres in nearest_m) / len(reference)


def coverage_length_score(
    trajectory: Sequence[Any],
    reference: Sequence[Any],
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
) -> Number:
    """Return CLS: path coverage times length score, from 0 to 1.

    Jain et al., ACL 2019, section 4: the expected length is EPL = PC * length of the
    reference path, the length score LS = EPL / (EPL + |EPL - length of the way|). Undefined where
    the reference path has no length and the agent did not move (0/0; one that leaves gets 0), and
    where one of the two paths jumps between places that are not connected.
    """
    coverage = path_coverage(trajectory, reference, distance, threshold_m=threshold_m)
    if isinstance(coverage, dict):
        return coverage
    lengths_m = _lengths_m(trajectory, reference, distance)
    if isinstance(lengths_m, dict):
        return lengths_m
    walked_m, reference_m = lengths_m
    expected_m = coverage * reference_m
    whole_m = expected_m + abs(expected_m - walked_m)
    if whole_m == 0.0:
        return undefined("the reference path has no length and the agent did not move")
    return coverage * (expected_m / whole_m)


def score_fidelity(
    trajectory: Sequence[Any],
    reference: Sequence[Any],
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
    succeeded: Optional[bool] = None,
) -> Dict[str, Number]:
    """Return nDTW, sDTW and CLS of one trajectory; `succeeded` as `sdtw` takes it."""
    paths = (trajectory, reference, distance)
    return {
        "nDTW": ndtw(*paths, threshold_m=threshold_m),
        "sDTW": sdtw(*paths, threshold_m=threshold_m, succeeded=succeeded),
        "CLS": coverage_length_score(*paths, threshold_m=threshold_m),
    }


def _lengths_m(
    trajectory: Sequence[Any], reference: Sequence[Any], distance: Distance
) -> Union[Tuple[float, float], Dict[str, str]]:
    walked_m = trajectory_length(trajectory, distance)
    reference_m = trajectory_length(reference, distance)
    if isinstance(walked_m, dict):
        return walked_m
    if isinstance(reference_m, dict):
        return undefined("two successive places of the reference path are not connected")
    return walked_m, reference_m


def _normalise(cost_m: Number, count: int, threshold_m: float) -> Number:
    if isinstance(cost_m, dict):
        return cost_m
    return math.exp(-cost_m / (count * threshold_m))
