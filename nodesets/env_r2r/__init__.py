"""Room-to-Room on the connectivity graphs of Matterport3D: navigation without a renderer.

Knows nothing of workers: every tool is a pure function of episode index, state and action.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode, Settings

from .controller import R2RController
from .scoring import METRIC_DEFINITIONS
from .state import start_state
from .tool import make_tools
from .view import initial_view
from .world import World

STEP_BUDGET = 30


class R2RNodeSet(BaseNodeSet):
    """Room-to-Room (Anderson et al., CVPR 2018): follow an instruction through a building.

    `data_dir` names the folder that holds `r2r/R2R_<split>.json` and `connectivity/`; without it
    the variable WAYFARE_DATA does. `features` names an `.npz` file in that folder, or by its full
    path, with one array (36, D) per `<scan>_<viewpoint>`.
    """

    name = "env_r2r"
    description = "Room-to-Room: follow an instruction from viewpoint to viewpoint"
    parallelism = "shared"
    controller = R2RController
    default_config = {"data_dir": "", "features": ""}

    def __init__(self) -> None:
        settings = Settings(self.config, self.name)
        data_dir = settings.path("data_dir", may_be_empty=True)
        self.world = World(data_dir, settings.path("features", may_be_empty=True))

    def get_tools(self) -> list[BaseCanvasNode]:
        return make_tools(self.world)

    def shutdown(self) -> None:
        self.world.close()

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": self.world.splits(),
            "default_split": self.world.default_split(),
            "metrics": ["NE", "TL", "SR", "OSR", "SPL"],
            "metric_definitions": METRIC_DEFINITIONS,
            "step_budget": STEP_BUDGET,
            "submission": {
                "format": "r2r",
                "poses": ["reset.state", "step.state", "step_panorama.state"],
            },
            "pose_frame": "mp3d",
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [task.as_episode() for task in self.world.dataset.tasks(split)]

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return a random episode's first call of each tool."""
        split = self.world.default_split()
        episode_index = int(rng.integers(len(self.world.dataset.tasks(split))))
        row = {"episode_index": episode_index, "split": split}
        task = self.world.task(split, episode_index)
        state = start_state(task.path[0], initial_view(task.heading)).as_json()
        looking = {**row, "state": state}
        return {
            "task": row,
            "reset": row,
            "observe": looking,
            "observe_panorama": looking,
            "step": {**looking, "action": [0, 1, 0]},
            "step_panorama": {**looking, "action": 0},
            "evaluate": looking,
            "evaluate_path": looking,
        }
