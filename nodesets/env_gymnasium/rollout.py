"""Run one environment through one episode at a time and keep its score.

Knows nothing of ports, graphs or who chooses the actions.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

import gymnasium

from nodeset.metrics import episode_length, episode_return, episode_success, undefined

from .setting import INFO_PREFIX, Setting
from .space import action_of

REPORTED_AS = ("is_success", "success")
# What every environment takes as a seed: some pass it on to C code as a signed 32-bit number.
_SEED_BOUND = 2**31


class Outcome(NamedTuple):
    """What one step brought; `done` means that there is no further step in this episode."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]

    @property
    def done(self) -> bool:
        return self.terminated or self.truncated


class Rollout:
    """The state of a copy: an environment and the episode that it is in.

    Wayfare touches no global random state, but an environment that draws from `numpy.random` or
    `random` itself is not governed by the seed.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._env: gymnasium.Env[Any, Any] | None = None
        self._index: int | None = None
        self._first: Outcome | None = None
        self._last: Outcome | None = None
        self._rewards: list[float] = []

    def open(self) -> None:
        """Make the environment; called once, on the thread that will use it."""
        self._env = self.setting.make()

    def close(self) -> None:
        """Release the environment."""
        if self._env is not None:
            self._env.close()
        self._env = None

    @property
    def env(self) -> gymnasium.Env[Any, Any]:
        if self._env is None:
            raise RuntimeError("the environment is not open; initialize() opens it")
        return self._env

    @property
    def length(self) -> int:
        """Return the number of steps taken in this episode."""
        return episode_length(self._rewards)

    def is_at_start_of(self, index: int) -> bool:
        """Say whether episode `index` has been begun and no step been taken in it."""
        return self._index == index and not self._rewards

    def begin(self, index: int, episode_seed: int | None = None) -> None:
        """Reset for episode `index`; `seeding` decides which seed that takes.

        Without an `episode_seed`, as when a person plays, the index seeds in either case.
        """
        seed = self.setting.seed_base + index
        if self.setting.seeding == "episode" and episode_seed is not None:
            seed = episode_seed
        seed %= _SEED_BOUND
        self._index = None
        self.env.action_space.seed(seed)
        observation, info = self.env.reset(seed=seed)
        self._first = self._last = Outcome(observation, 0.0, False, False, info)
        self._index, self._rewards = index, []

    def start(self) -> Outcome:
        """Return what the reset brought; raises RuntimeError once a step has been taken."""
        if self._first is None or self._index is None:
            raise RuntimeError("no episode has begun; begin_episode or the controller begins one")
        if self._rewards:
            raise RuntimeError(
                f"reset shows the start of episode {self._index}, which has taken {self.length} "
                f"steps; call it before the first step (an episode is begun by begin_episode)"
            )
        return self._first

    def step(self, action: Any) -> Outcome:
        """Take one step; raises RuntimeError after the end, since nothing resets by itself."""
        last = self._last
        if last is None or self._index is None:
            raise RuntimeError("no episode has begun; begin_episode or the controller begins one")
        if last.done:
            how = "terminated" if last.terminated else "was truncated"
            raise RuntimeError(
                f"episode {self._index} {how} after {self.length} steps and takes no further step; "
                f"wire `done` to the loop's `stop`"
            )
        taken = action_of(self.env.action_space, action)
        observation, reward, terminated, truncated, info = self.env.step(taken)
        self._last = Outcome(observation, float(reward), bool(terminated), bool(truncated), info)
        self._rewards.append(self._last.reward)
        return self._last

    def evaluate(self) -> dict[str, Any]:
        """Return the episode's metrics so far: return, length and success."""
        return {
            "return": episode_return(self._rewards),
            "length": self.length,
            "success": self._success(),
        }

    def _success(self) -> Any:
        last, rule = self._last, self.setting.success
        if last is None or not self._rewards:
            return undefined("no step was taken")
        if rule.startswith(INFO_PREFIX):
            key = rule[len(INFO_PREFIX) :]
            return bool(last.info[key]) if key in last.info else undefined(f"info has no {key!r}")
        return episode_success(
            rule,
            reported=_reported_success(last.info),
            terminated=last.terminated,
            truncated=last.truncated,
            total=episode_return(self._rewards),
        )


def _reported_success(info: Mapping[str, Any]) -> bool | None:
    for key in REPORTED_AS:
        if key in info:
            return bool(info[key])
    return None


def step_limit(env: gymnasium.Env[Any, Any]) -> int | None:
    """Return the number of steps after which the environment truncates; None if it never does.

    Gymnasium's time limit stands in the spec; Minigrid keeps its own, as `max_steps`. BabyAI
    decides on it at each reset, so that there is no limit that holds for all episodes.
    """
    declared = [
        env.spec.max_episode_steps if env.spec is not None else None,
        getattr(env.unwrapped, "max_steps", None),
    ]
    limits = [int(limit) for limit in declared if limit]
    return min(limits) if limits else None
