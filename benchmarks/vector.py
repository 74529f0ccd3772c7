"""Step environments the usual way: in a plain loop, or as a vector that steps in lock-step.

Knows nothing of Wayfare.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from minigrid.wrappers import ImgObsWrapper

MakeEnv = Callable[[], gymnasium.Env[Any, Any]]


class TimedEnv(gymnasium.Env[Any, Any]):
    """Sleeps in every step for a time drawn as `env_timed` draws it; may return a picture."""

    def __init__(
        self,
        *,
        steps: int,
        step_seconds: float,
        sigma: float = 0.0,
        picture: bool = False,
        first: int = 0,
        stride: int = 1,
    ) -> None:
        self.steps, self.step_seconds, self.sigma = steps, step_seconds, sigma
        self.index, self.stride = first - stride, stride
        shape = (480, 640, 3) if picture else (1,)
        self.observation_space = gymnasium.spaces.Box(0, 255, shape, np.uint8)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation = np.random.default_rng(0).integers(0, 256, shape, np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.index += self.stride
        rng = np.random.default_rng([max(self.index, 0), 7])
        self.times = self.step_seconds * np.exp(self.sigma * rng.standard_normal(self.steps))
        self.at = 0
        return self.observation, {}

    def step(self, action: Any) -> Any:
        seconds = self.times[self.at]
        if seconds > 0:
            time.sleep(seconds)
        self.at += 1
        return self.observation, 0.0, self.at >= self.steps, False, {}


def named(name: str) -> MakeEnv:
    return functools.partial(_make_named, name)


def _make_named(name: str) -> gymnasium.Env[Any, Any]:
    """Make an environment; of Minigrid's observations only the image fits shared memory."""
    env = gymnasium.make(name)
    return ImgObsWrapper(env) if name.startswith("MiniGrid") else env


def loop_steps_per_second(make: MakeEnv, steps: int) -> float:
    """Step one environment with random actions."""
    env = make()
    env.action_space.seed(0)
    env.reset(seed=0)
    began = time.perf_counter()
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    seconds = time.perf_counter() - began
    env.close()
    return steps / seconds


def vector_steps_per_second(makes: Sequence[MakeEnv], rounds: int) -> float:
    """Step one environment per process in lock-step, observations in shared memory."""
    env = AsyncVectorEnv(makes, shared_memory=True, context="forkserver")
    env.action_space.seed(0)
    env.reset(seed=0)
    began = time.perf_counter()
    for _ in range(rounds):
        env.step(env.action_space.sample())
    seconds = time.perf_counter() - began
    env.close()
    return rounds * len(makes) / seconds


def vector_makespan(makes: Sequence[MakeEnv], episodes: int) -> float:
    """Return how long a lock-step vector takes until so many episodes have ended."""
    env = AsyncVectorEnv(makes, context="forkserver", autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=0)
    actions = np.zeros(len(makes), np.int64)
    ended = 0
    began = time.perf_counter()
    while ended < episodes:
        _, _, terminated, truncated, _ = env.step(actions)
        ended += int(np.sum(terminated | truncated))
    seconds = time.perf_counter() - began
    env.close()
    return seconds
