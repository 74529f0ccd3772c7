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

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment

from ..env_gymnasium import GymnasiumNodeSet
from ..env_gymnasium.rollout import Rollout
from ..env_gymnasium.space import leaves_of_space
from .renderer import import_mujoco, look
from .setting import DEFAULT_CONFIG, read_setting
from .tool import Evaluate, Observe, Reset, Step


class MujocoNodeSet(GymnasiumNodeSet, BaseNodeSet):
    """`env_gymnasium` with one robot, seen by a camera; how an episode ends is Gymnasium's."""

    name = "env_mujoco"
    description = "MuJoCo: robots and joints under physics, seen by an off-screen camera"
    parallelism = "replicated"
    deployment = Deployment(
        env={"MUJOCO_GL": "egl", "PYOPENGL_PLATFORM": "egl", "LP_NUM_THREADS": "1"}
    )
    default_config = DEFAULT_CONFIG

    def __init__(self) -> None:
        self.setting = read_setting(self.config)
        import_mujoco()
        self.rollout = Rollout(self.setting)

    def make_tools(self, env: Any) -> list[BaseCanvasNode]:
        """Return the tools, with a camera that sees depth too in the place of `render`."""
        leaves = leaves_of_space(env.observation_space)
        return [
            Reset(self.rollout, leaves),
            Step(self.rollout, leaves),
            Observe(self.rollout),
            Evaluate(self.rollout),
        ]

    def initialize(self) -> None:
        """Make the environment that this copy plays and its GL context."""
        super().initialize()
        self.rollout.env.reset(seed=0)
        look(self.rollout.env)

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return an action that the robot takes, drawn from `rng`, and a look."""
        return {**super().sample_inputs(rng), "observe": {}}
