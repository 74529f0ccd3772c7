"""Score an episode by its rewards and by whether it succeeded, as benchmarks of control do.

Knows nothing of places.
"""

from __future__ import annotations

import math
from typing import Dict, Optional, Sequence

import numpy as np

from nodeset.metrics.value import Claim, Number, undefined

SUCCESS_RULES = ("reported", "terminated", "truncated", "positive_return")


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


def score_successes(successes: Sequence[bool], *, truncated: bool) -> Dict[str, Claim]:
    """Return success_at_reset, success_once, success_at_end and truncated of one episode.

    `successes` says of each state whether the task is done in it, the state after the reset first.
    `success_once` and `success_at_end` are ManiSkill's (Tao et al., "ManiSkill3", RSS 2025,
    evaluation metrics): done in any state after a step, and in the last one; without a step they
    are undefined. An episode that is done at reset measures nothing, which is why that is told.
    """
    if len(successes) == 0:
        raise ValueError("successes is empty; it must hold at least the state after the reset")
    flags = [bool(flag) for flag in successes]
    without = undefined("the episode has no step")
    return {
        "success_at_reset": flags[0],
        "success_once": any(flags[1:]) if flags[1:] else without,
        "success_at_end": flags[-1] if flags[1:] else without,
        "truncated": bool(truncated),
    }


def count_collisions(collided: Sequence[bool]) -> int:
    """Return in how many steps the agent collided (Habitat's `collisions.count`)."""
    return sum(bool(step) for step in collided)


def collision_rate(collided: Sequence[bool]) -> Number:
    """Return the share of steps in which the agent collided, from 0 to 1.

    VLN-CE's collision rate (Krantz et al., "Beyond the Nav-Graph", ECCV 2020). Undefined for an
    episode without a step.
    """
    if len(collided) == 0:
        return undefined("the episode has no step")
    return count_collisions(collided) / len(collided)
