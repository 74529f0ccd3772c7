# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = [
#   "gymnasium==1.4.0",
#   "miniworld==2.1.0",
#   "numpy==2.4.6",
#   "pyglet==1.5.31",
# ]
# ///
"""MiniWorld's rooms and mazes (Chevalier-Boisvert et al., 2023), rendered without a screen.

Knows nothing of workers: a copy holds one simulator, with its GL context on the copy's main thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode
from nodeset.context import EpisodeContext

from .controller import MiniWorldController
from .pose import upright_pose
from .rollout import Rollout
from .setting import DEFAULT_CONFIG, METRICS, read_setting
from .simulator import Simulator
from .tool import make_tools


class MiniWorldNodeSet(BaseNodeSet):
    """Every episode is a seed of one of MiniWorld's environments; nothing is randomised beyond it.

    `id` is one of Gymnasium's `MiniWorld-…` ids. An episode's seed is `seed_base` + its index.
    """

    name = "env_miniworld"
    description = "MiniWorld: rooms and mazes in 3D, rendered on the CPU or a GPU without a screen"
    parallelism = "replicated"
    # Copies are what runs in parallel: one more thread of the renderer each is none to spare.
    deployment = Deployment(env={"PYOPENGL_PLATFORM": "egl", "LP_NUM_THREADS": "1"})
    controller = MiniWorldController
    default_config = DEFAULT_CONFIG

    def __init__(self) -> None:
        self.setting = read_setting(self.config)
        self.rollout = Rollout(Simulator(self.setting))

    def get_tools(self) -> list[BaseCanvasNode]:
        return make_tools(self.rollout)

    def initialize(self) -> None:
        """Make the environment, and with it the GL context."""
        self.rollout.simulator.open()

    def shutdown(self) -> None:
        """Release both."""
        self.rollout.simulator.close()

    def begin_episode(self, episode: EpisodeContext) -> None:
        """Build the episode's world."""
        self.rollout.begin(episode.index)

    def get_eval_metadata(self) -> dict[str, Any]:
        """Return the one split and the metrics; each environment has its own limit of steps."""
        return {
            "splits": [self.setting.split],
            "default_split": self.setting.split,
            "metrics": METRICS,
            "pose_frame": "habitat",
        }

    def get_episodes(self, split: str) -> list[Episode]:
        """Return one episode per seed."""
        return [
            Episode(str(index), scene_id=self.setting.id, info={"seed": self.setting.seed(index)})
            for index in range(self.setting.episodes)
        ]

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return a move, and a look from a random place near the world's middle."""
        place = [*rng.uniform(0.0, 1.0, 1), 0.0, *rng.uniform(-1.0, 1.0, 1)]
        pose = upright_pose(np.array(place), float(rng.uniform(-np.pi, np.pi)))
        return {
            "reset": {},
            "task": {},
            "observe": {},
            "observe_pose": {"pose": pose},
            "step": {"action": int(rng.integers(3))},
            "navigable_poses": {},
            "evaluate": {},
        }
