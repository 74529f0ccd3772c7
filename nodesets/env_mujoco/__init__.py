# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = [
#   "gymnasium[mujoco]==1.4.0",
#   "mujoco==4.0.0",
#   "numpy==2.4.6",
# ]
# ///
"""Gymnasium's MuJoCo robots (Todorov et al., 2012), rendered without a screen through EGL.

Knows nothing of workers: a copy holds one simulator, with its GL context on the copy's main thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode
from nodeset.context import EpisodeContext

from ..env_gymnasium import GymnasiumController
from ..env_gymnasium.rollout import Rollout, step_limit
from ..env_gymnasium.space import leaves_of_space
from .renderer import import_mujoco, look
from .setting import DEFAULT_CONFIG, read_setting
from .tool import make_tools


class MujocoNodeSet(BaseNodeSet):
    """Every episode is a seed of one robot; how an episode ends is Gymnasium's."""

    name = "env_mujoco"
    description = "MuJoCo: robots and joints under physics, seen by an off-screen camera"
    parallelism = "replicated"
    deployment = Deployment(
        env={"MUJOCO_GL": "egl", "PYOPENGL_PLATFORM": "egl", "LP_NUM_THREADS": "1"}
    )
    controller = GymnasiumController
    default_config = DEFAULT_CONFIG

    def __init__(self) -> None:
        import_mujoco()
        self.setting = read_setting(self.config)
        self.rollout = Rollout(self.setting)
        self.limit: Any = None

    def get_tools(self) -> list[BaseCanvasNode]:
        """Make the environment to read its spaces, without a GL context, and close it again."""
        env = self.setting.make()
        try:
            self.limit = step_limit(env)
            leaves = leaves_of_space(env.observation_space)
        finally:
            env.close()
        return make_tools(self.rollout, leaves)

    def initialize(self) -> None:
        """Make the environment that this copy plays and its GL context."""
        self.rollout.open()
        self.rollout.env.reset(seed=0)
        look(self.rollout.env)

    def shutdown(self) -> None:
        """Release both."""
        self.rollout.close()

    def begin_episode(self, episode: EpisodeContext) -> None:
        """Reset the robot for `episode`."""
        self.rollout.begin(episode.index, episode.seed)

    def get_eval_metadata(self) -> dict[str, Any]:
        """Return the one split, the metrics, and the environment's own limit of steps."""
        return {
            "splits": [self.setting.split],
            "default_split": self.setting.split,
            "metrics": ["return", "length", "success"],
            "step_budget": self.limit,
        }

    def get_episodes(self, split: str) -> list[Episode]:
        """Return one episode per seed."""
        is_indexed = self.setting.seeding == "index"
        base = self.setting.seed_base
        return [
            Episode(str(i), scene_id=self.setting.id, info={"seed": base + i} if is_indexed else {})
            for i in range(self.setting.episodes)
        ]

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return an action that the robot takes, drawn from `rng`."""
        env = self.setting.make()
        env.action_space.seed(int(rng.integers(2**31)))
        action = env.action_space.sample()
        env.close()
        return {"reset": {}, "step": {"action": action}, "observe": {}, "evaluate": {}}
