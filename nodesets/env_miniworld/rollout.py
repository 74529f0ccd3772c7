"""Take one episode at a time through the simulator and keep its score.

Knows nothing of OpenGL, of ports or of who chooses the actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nodeset.metrics import episode_length, episode_return, undefined

from .simulator import Simulator
from .world import World


@dataclass(frozen=True)
class Outcome:
    """What the last step brought, and what the camera saw after it."""

    rgb: Any = None
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False

    @property
    def done(self) -> bool:
        return self.terminated or self.truncated


class Rollout:
    """The state of a copy: a simulator and the episode that it is in."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self._world: World | None = None
        self._index: int | None = None
        self._last = Outcome()
        self._rewards: list[float] = []
        self._places: list[Any] = []

    def begin(self, index: int) -> None:
        """Build the world of an episode."""
        self._world = self._index = None
        self._world = self.simulator.build(self.simulator.setting.seed(index))
        self._index, self._last = index, Outcome()
        self._rewards, self._places = [], [self._world.pose()[:3]]

    def is_at_start_of(self, index: int) -> bool:
        """Say whether an episode has begun and nothing been done in it."""
        return self._index == index and len(self._places) == 1

    @property
    def world(self) -> World:
        if self._world is None:
            raise RuntimeError("no episode has begun; begin_episode or the controller begins one")
        return self._world

    def step(self, action: Any) -> Outcome:
        """Take one of the world's actions; raises RuntimeError after the end."""
        taken = self._checked(action)
        seen, reward, terminated, truncated, _ = self.world.env.step(taken)
        rgb = seen["obs"] if isinstance(seen, dict) else seen
        self._last = Outcome(rgb, float(reward), bool(terminated), bool(truncated))
        self._rewards.append(self._last.reward)
        self._places.append(self.world.pose()[:3])
        return self._last

    def _checked(self, action: Any) -> int:
        if self._last.done:
            raise RuntimeError(
                f"episode {self._index} is over after {len(self._rewards)} steps and takes no "
                f"further step; wire `done` to the loop's `stop`"
            )
        value, count = np.asarray(action), int(self.world.env.action_space.n)
        is_whole = value.size == 1 and value.dtype.kind in "iu"
        if not is_whole or not 0 <= int(value.reshape(-1)[0]) < count:
            raise ValueError(
                f"action is {action!r}; it must be a whole number from 0 to {count - 1}"
            )
        return int(value.reshape(-1)[0])

    def teleport(self, pose: Any) -> None:
        """Move the body at once, which takes none of the world's steps."""
        self.world.place(pose)
        self._places.append(self.world.pose()[:3])

    def evaluate(self) -> dict[str, Any]:
        """Return the episode's metrics so far."""
        total = episode_return(self._rewards)
        moves = np.diff(np.array(self._places), axis=0)
        success: Any = undefined("no step was taken")
        if len(moves):
            success = self.world.is_at_goal() or (self._last.terminated and total > 0.0)
        return {
            "return": total,
            "length": episode_length(self._rewards),
            "success": success,
            "TL": float(np.linalg.norm(moves, axis=1).sum()),
        }
