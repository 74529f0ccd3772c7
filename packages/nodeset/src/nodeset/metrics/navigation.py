"""Score where an agent went: NE, TL, SR, OSR, SPL and their kin, and progress towards the goal.

Knows nothing of simulators or files: distances come in as a function or a matrix.
"""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Sequence, Union

from nodeset.metrics.value import (
    Claim,
    Distance,
    Number,
    check_places,
    measure_m,
    undefined,
)

SUCCESS_THRESHOLD_M = 3.0
"""Room-to-Room's error margin (Anderson et al., CVPR 2018, section 4.3)."""


def navigation_error(trajectory: Sequence[Any], goal: Any, distance: Distance) -> Number:
    """Return NE: the shortest-path distance from where the agent ended to the goal, in metres.

    Anderson et al., "Vision-and-Language Navigation", CVPR 2018, section 4.3. Undefined where no
    way leads from there to the goal.
    """
    error_m = measure_m(distance, check_places(trajectory)[-1], goal)
    if math.isinf(error_m):
        return undefined("no way leads from the final place to the goal")
    return error_m


def trajectory_length(trajectory: Sequence[Any], distance: Distance) -> Number:
    """Return TL: the sum of the distances between successive places, in metres.

    Anderson et al., CVPR 2018, section 4.3. Turning on the spot adds nothing. Undefined where two
    successive places are not connected.
    """
    places = check_places(trajectory)
    legs_m = [measure_m(distance, here, there) for here, there in zip(places, places[1:])]
    length_m = math.fsum(legs_m)
    if math.isinf(length_m):
        return undefined("two successive places of the trajectory are not connected")
    return length_m


def success(
    trajectory: Sequence[Any],
    goal: Any,
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
) -> bool:
    """Return SR of one episode: did the agent end less than `threshold_m` from the goal?

    Anderson et al., CVPR 2018, section 4.3; as in the evaluation script published with
    Matterport3DSimulator an error of exactly the threshold fails.
    """
    return measure_m(distance, check_places(trajectory)[-1], goal) < threshold_m


def oracle_success(
    trajectory: Sequence[Any],
    goal: Any,
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
) -> bool:
    """Return OSR of one episode: was any place of the trajectory, start included, near enough?

    Anderson et al., CVPR 2018, section 4.3: success under an oracle that stops the agent at the
    place of its trajectory nearest to the goal.
    """
    nearest_m = min(measure_m(distance, place, goal) for place in check_places(trajectory))
    return nearest_m < threshold_m


def oracle_navigation_error(trajectory: Sequence[Any], goal: Any, distance: Distance) -> Number:
    """Return ONE: how near to the goal the agent came, start included, in metres.

    VLN-CE's oracle navigation error; d_min of Das et al., "Embodied Question Answering", CVPR
    2018, section 5. Undefined where no way leads to the goal from anywhere it was.
    """
    nearest_m = min(measure_m(distance, place, goal) for place in check_places(trajectory))
    if math.isinf(nearest_m):
        return undefined("no way leads from any place of the trajectory to the goal")
    return nearest_m


def goal_progress(trajectory: Sequence[Any], goal: Any, distance: Distance) -> Number:
    """Return how much nearer to the goal the agent ended than it began, in metres.

    Thomason et al., "Vision-and-Dialog Navigation", CoRL 2019 (goal progress, GP); d_delta of Das
    et al., CVPR 2018, section 5. Below 0 for one that went away. Undefined where no way leads to
    the goal from one of the two.
    """
    places = check_places(trajectory)
    before_m, after_m = (measure_m(distance, place, goal) for place in (places[0], places[-1]))
    if math.isinf(before_m) or math.isinf(after_m):
        return undefined("no way leads to the goal from the first or the final place")
    return before_m - after_m


def success_weighted_path_length(
    trajectory: Sequence[Any],
    goal: Any,
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
    step_distance: Optional[Distance] = None,
) -> Number:
    """Return SPL of one episode: S * l / max(p, l), with p the length walked, l the shortest way.

    Anderson et al., "On Evaluation of Embodied Navigation Agents", 2018, equation 1. Undefined
    where start is goal for an agent that did not move (0/0; one that leaves gets 0), where no way
    leads from start to goal, and where the trajectory has no length. `step_distance` measures the
    length walked where that is another distance (Habitat: Euclidean).
    """
    share = _efficiency(trajectory, goal, distance, step_distance)
    if isinstance(share, dict):
        return share
    return share if success(trajectory, goal, distance, threshold_m=threshold_m) else 0.0


def oracle_success_weighted_path_length(
    trajectory: Sequence[Any],
    goal: Any,
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
    step_distance: Optional[Distance] = None,
) -> Number:
    """Return OSPL: the best SPL of all beginnings of the trajectory, the start alone included.

    VLN-CE's oracle SPL (Krantz et al., "Beyond the Nav-Graph", ECCV 2020): an oracle stops the
    agent where that is worth most. Undefined where start is goal, or SPL of a beginning is.
    """
    places = check_places(trajectory)
    if measure_m(distance, places[0], goal) == 0.0:
        return undefined("the start is the goal")
    for end, place in enumerate(places):
        if measure_m(distance, place, goal) < threshold_m:
            # SPL falls with every further step: the first place that is near enough is the best.
            return _efficiency(places[: end + 1], goal, distance, step_distance)
    share = _efficiency(places, goal, distance, step_distance)
    return share if isinstance(share, dict) else 0.0


def soft_success_weighted_path_length(
    trajectory: Sequence[Any],
    goal: Any,
    distance: Distance,
    *,
    step_distance: Optional[Distance] = None,
) -> Number:
    """Return SoftSPL: max(0, 1 - d_T / l) * l / max(p, l), with d_T the distance left at the end.

    Datta et al., "Integrating Egocentric Localization for More Realistic Point-Goal Navigation
    Agents", CoRL 2020. Undefined where start is goal (0/0), where no way leads to the goal, and
    where the trajectory has no length.
    """
    places = check_places(trajectory)
    if measure_m(distance, places[0], goal) == 0.0:
        return undefined("the start is the goal")
    share = _efficiency(places, goal, distance, step_distance)
    left_m = navigation_error(places, goal, distance)
    if isinstance(share, dict):
        return share
    if isinstance(left_m, dict):
        return left_m
    return max(0.0, 1.0 - left_m / measure_m(distance, places[0], goal)) * share


def score_navigation(
    trajectory: Sequence[Any],
    goal: Any,
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
) -> Dict[str, Union[Number, Claim]]:
    """Return NE, TL (metres), SR, OSR (booleans) and SPL (0 to 1) of one trajectory."""
    return {
        "NE": navigation_error(trajectory, goal, distance),
        "TL": trajectory_length(trajectory, distance),
        "SR": success(trajectory, goal, distance, threshold_m=threshold_m),
        "OSR": oracle_success(trajectory, goal, distance, threshold_m=threshold_m),
        "SPL": success_weighted_path_length(trajectory, goal, distance, threshold_m=threshold_m),
    }


def score_goal(
    trajectory: Sequence[Any],
    goal: Any,
    distance: Distance,
    *,
    threshold_m: float,
    stopped: bool = True,
    step_distance: Optional[Distance] = None,
) -> Dict[str, Union[Number, Claim]]:
    """Return distance_to_goal, success, spl and soft_spl of PointNav and ObjectNav.

    As Habitat defines them (Savva et al., "Habitat", ICCV 2019; Batra et al., "ObjectNav
    Revisited", 2020): only an agent that called stop (`stopped`) less than `threshold_m` from the
    goal succeeds. Habitat measures the length walked by straight lines: give it as `step_distance`.
    """
    succeeded = stopped and success(trajectory, goal, distance, threshold_m=threshold_m)
    share = _efficiency(trajectory, goal, distance, step_distance)
    return {
        "distance_to_goal": navigation_error(trajectory, goal, distance),
        "success": succeeded,
        "spl": share if succeeded or isinstance(share, dict) else 0.0,
        "soft_spl": soft_success_weighted_path_length(
            trajectory, goal, distance, step_distance=step_distance
        ),
    }


def score_eqa_navigation(
    trajectory: Sequence[Any], goal: Any, distance: Distance
) -> Dict[str, Number]:
    """Return d_T, d_delta and d_min (metres): distance left, distance gained, nearest approach.

    Das et al., "Embodied Question Answering", CVPR 2018, section 5.
    """
    return {
        "d_T": navigation_error(trajectory, goal, distance),
        "d_delta": goal_progress(trajectory, goal, distance),
        "d_min": oracle_navigation_error(trajectory, goal, distance),
    }


def _efficiency(
    trajectory: Sequence[Any], goal: Any, distance: Distance, step_distance: Optional[Distance]
) -> Number:
    """Return l / max(p, l), of which SPL and its kin take a part."""
    places = check_places(trajectory)
    shortest_m = measure_m(distance, places[0], goal)
    if math.isinf(shortest_m):
        return undefined("no way leads from the start to the goal")
    length_m = trajectory_length(places, distance if step_distance is None else step_distance)
    if isinstance(length_m, dict):
        return length_m
    longer_m = max(length_m, shortest_m)
    if longer_m == 0.0:
        return undefined("the start is the goal and the agent did not move")
    return shortest_m / longer_m
