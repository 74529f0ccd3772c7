"""Teachers: agents that calibrate the metrics, because what they score is known.

Knows nothing of graphs. They act on the copy's episode and know its ground truth.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Context, PortDef, Settings, UnavailableError

from .calibre import FORWARD, LEFT, RIGHT, STOP, Calibre
from .tool import HabitatTool

_ACTION = PortDef("action", "INT", "for step_discrete")
VLNCE_SHARES = {STOP: 0.02, FORWARD: 0.68, LEFT: 0.15, RIGHT: 0.15}
MAX_RADIUS_M = 1000.0
"""How often each action is taken in VLN-CE's training set, as its random agent has them."""


class Teacher(HabitatTool):
    """A tool that decides on the next action."""

    category = "teacher"
    output_ports = [_ACTION]

    def forward(self, inputs: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        return {"action": self.decide(ctx)}

    def decide(self, ctx: Context) -> int:
        """Return the next action."""
        raise NotImplementedError(f"{type(self).__name__} must define decide(ctx)")


class Follower(Teacher):
    """Take the shortest way to the nearest goal and stop within `goal_radius_m` of any.

    Habitat-Sim's greedy follower decides, and its own radius, three quarters of a step, is the
    default: one much smaller than half a step can't be met. Without a way it stops at once.
    """

    node_type = "env_habitat__teacher_follower"
    display_name = "Shortest-path follower"
    default_config: Mapping[str, Any] = {"goal_radius_m": 0.1875}

    def decide(self, ctx: Context) -> int:
        settings = Settings(ctx.config, self.node_type)
        radius_m = settings.number("goal_radius_m", 0, MAX_RADIUS_M, is_above=True)
        if self.rollout.to_goal_m() < radius_m:
            return STOP
        return self.rollout.guide(radius_m).next_action()


class Replay(Teacher):
    """Take the ground truth's actions one after the other; stop where there are none left."""

    node_type = "env_habitat__teacher_replay"
    display_name = "Ground-truth replay"

    def decide(self, ctx: Context) -> int:
        truth = self.rollout.task.ground_truth
        if truth is None:
            raise UnavailableError(
                f"episode {self.rollout.task.episode_id!r} has no ground truth to replay; name its "
                f"file in the setting ground_truth"
            )
        taken = len(self.rollout.actions)
        return truth.actions[taken] if taken < len(truth.actions) else STOP


class Random(Teacher):
    """Draw the action by `shares`, in the order STOP, forward, left, right.

    The default is VLN-CE's random agent: 2 %, 68 %, 15 %, 15 %.
    """

    node_type = "env_habitat__teacher_random"
    display_name = "Random agent"
    default_config: Mapping[str, Any] = {"shares": list(VLNCE_SHARES.values())}

    def decide(self, ctx: Context) -> int:
        shares = ctx.config["shares"]
        if not _are_shares(shares):
            Settings(ctx.config, self.node_type).refuse("shares", "four shares that add up to 1")
        return int(ctx.rng.choice(len(shares), p=shares))


def _are_shares(shares: Any) -> bool:
    is_list = isinstance(shares, (list, tuple)) and len(shares) == len(VLNCE_SHARES)
    if not is_list or any(isinstance(share, bool) for share in shares):
        return False
    if not all(isinstance(share, (int, float)) and share >= 0 for share in shares):
        return False
    return bool(abs(sum(shares) - 1.0) <= 1e-6)


class Stop(Teacher):
    """Stop at once."""

    node_type = "env_habitat__teacher_stop"
    display_name = "Stop agent"

    def decide(self, ctx: Context) -> int:
        return STOP


def list_teachers(calibre: Calibre) -> list[type[Teacher]]:
    """Return the teachers of a calibre; nobody has walked where there is no reference path."""
    walked: list[type[Teacher]] = [Replay] if calibre.has_reference_path else []
    return [Follower, Random, Stop, *walked]
