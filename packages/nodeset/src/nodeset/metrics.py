"""Score an episode as the benchmarks define it: NE, TL, SR, OSR, SPL; return, length, success.

Knows nothing of simulators or files: distances come in as a function or a matrix.

A metric that has no value for an episode is `undefined(reason)`, neither 0 nor NaN. Distances are
in metres, may be infinite (no way there) and are never NaN or negative.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

import numpy as np

Distance = Union[Callable[[Any, Any], float], np.ndarray]
"""A function of two places, or a square matrix whose indices are the places; metres."""
Undefined = Dict[str, str]
Number = Union[float, Undefined]
Claim = Union[bool, Undefined]

SUCCESS_THRESHOLD_M = 3.0
"""Room-to-Room's error margin (Anderson et al., CVPR 2018, section 4.3)."""
SUCCESS_RULES = ("reported", "terminated", "truncated", "positive_return")


def undefined(reason: str) -> Undefined:
    """Return the value of a metric that has none for this episode, with the reason why."""
    return {"undefined": reason}


def is_undefined(value: Any) -> bool:
    """Say whether a metric's value is `undefined(reason)`."""
    return isinstance(value, Mapping) and "undefined" in value


def navigation_error(trajectory: Sequence[Any], goal: Any, distance: Distance) -> Number:
    """Return NE: the shortest-path distance from where the agent ended to the goal, in metres.

    Anderson et al., "Vision-and-Language Navigation", CVPR 2018, section 4.3. Undefined where no
    way leads from there to the goal.
    """
    error_m = _distance_m(distance, _places(trajectory)[-1], goal)
    if math.isinf(error_m):
        return undefined("no way leads from the final place to the goal")
    return error_m


def trajectory_length(trajectory: Sequence[Any], distance: Distance) -> Number:
    """Return TL: the sum of the distances between successive places, in metres.

    Anderson et al., CVPR 2018, section 4.3. Turning on the spot adds nothing. Undefined where two
    successive places are not connected.
    """
    places = _places(trajectory)
    legs_m = [_distance_m(distance, here, there) for here, there in zip(places, places[1:])]
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
    return _distance_m(distance, _places(trajectory)[-1], goal) < threshold_m


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
    nearest_m = min(_distance_m(distance, place, goal) for place in _places(trajectory))
    return nearest_m < threshold_m


def success_weighted_path_length(
    trajectory: Sequence[Any],
    goal: Any,
    distance: Distance,
    *,
    threshold_m: float = SUCCESS_THRESHOLD_M,
) -> Number:
    """Return SPL of one episode: S * l / max(p, l), with p the length walked, l the shortest way.

    Anderson et al., "On Evaluation of Embodied Navigation Agents", 2018, equation 1. Undefined
    where start is goal for an agent that did not move (0/0; one that leaves gets 0), where no way
    leads from start to goal, and where the trajectory has no length.
    """
    places = _places(trajectory)
    shortest_m = _distance_m(distance, places[0], goal)
    if math.isinf(shortest_m):
        return undefined("no way leads from the start to the goal")
    length_m = trajectory_length(places, distance)
    if isinstance(length_m, dict):
        return length_m
    longer_m = max(length_m, shortest_m)
    if longer_m == 0.0:
        return undefined("the start is the goal and the agent did not move")
    succeeded = success(places, goal, distance, threshold_m=threshold_m)
    return shortest_m / longer_m if succeeded else 0.0


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


def episode_return(rewards: Sequence[float], *, discount: float = 1.0) -> float:
    """Return the sum of an episode's rewards, each discounted by its step (Sutton and Barto, 3.8).

    The default, no discount, is what Gymnasium's episode statistics report as `r`.
    """
    values = np.asarray(rewards, dtype=np.float64)
    return math.fsum(values * np.power(discount, np.arange(values.size)))


def episode_length(rewards: Sequence[float]) -> int:
    """Return the number of steps of an episode: one reward each (Gymnasium's `l`)."""
    return len(rewards)


def episode_success(
    rule: str,
    *,
    reported: Optional[bool] = None,
    terminated: bool = False,
    truncated: bool = False,
    total: float = 0.0,
) -> Claim:
    """Say whether an episode succeeded, by one of `SUCCESS_RULES`.

    Gymnasium defines no success: `reported` takes what the environment says and is undefined where
    it says nothing, `terminated` and `truncated` take how the episode ended (a time limit is
    CartPole's best outcome), `positive_return` asks for a terminal state and a return above 0
    (Minigrid's goal).
    """
    if rule == "reported":
        return undefined("the environment reports no success") if reported is None else reported
    if rule == "terminated":
        return terminated
    if rule == "truncated":
        return truncated and not terminated
    if rule == "positive_return":
        return terminated and total > 0.0
    raise ValueError(f"success rule {rule!r} is unknown; it must be one of {SUCCESS_RULES}")


def _places(trajectory: Sequence[Any]) -> Sequence[Any]:
    if len(trajectory) == 0:
        raise ValueError("trajectory is empty; it must hold at least the start")
    return trajectory


def _distance_m(distance: Distance, here: Any, there: Any) -> float:
    value = distance[here, there] if isinstance(distance, np.ndarray) else distance(here, there)
    metres = float(value)
    if math.isnan(metres) or metres < 0.0:
        raise ValueError(
            f"distance from {here!r} to {there!r} is {metres!r}; it must be 0 or more, in metres, "
            f"or infinite where there is no way"
        )
    return metres
