"""Room-to-Room on Matterport3DSimulator: the environment in which the published agents live.

Knows nothing of workers: each copy holds one simulator and one episode.
"""

from __future__ import annotations

from typing import Any

from nodeset import (
    BaseCanvasNode,
    BaseNodeSet,
    Deployment,
    Episode,
    EpisodeController,
    Settings,
)
from nodeset.context import EpisodeContext

from ..env_r2r.scoring import GOAL_METRICS, METRIC_DEFINITIONS
from ..env_r2r.world import World
from .rollout import Rollout
from .simulator import Camera
from .tool import KINDS

STEP_BUDGET = 30
MAX_PIXELS = 4096


class MatterportController(EpisodeController):
    """Pick an episode and begin it."""

    nodeset: MatterportNodeSet

    def start(self, split: str, index: int) -> dict[str, Any]:
        """Stand at the episode's start."""
        task = self.nodeset.world.task(split, index)
        self.nodeset.rollout.begin(task)
        return {
            "episode_id": task.episode_id,
            "scan": task.scan,
            "instruction": task.instruction,
        }


class MatterportNodeSet(BaseNodeSet):
    """Room-to-Room (Anderson et al., CVPR 2018) as its own simulator plays it.

    `data_dir` names the folder that holds `r2r/R2R_<split>.json` and `connectivity/`; without it
    the variable WAYFARE_DATA does. `dataset` names the folder of the licensed scans
    (`<scan>/matterport_skybox_images/`): with it there are pictures, with `depth` depth too.
    The interpreter is a conda environment `mattersim`, or a folder of that name in WAYFARE_PYTHONS.
    """

    name = "env_mp3d"
    description = "Room-to-Room on Matterport3DSimulator, one simulator per copy."
    parallelism = "replicated"
    deployment = Deployment(python="conda:mattersim")
    controller = MatterportController
    default_config = {"data_dir": "", "dataset": "", "width": 640, "height": 480, "depth": False}

    def __init__(self) -> None:
        settings = Settings(self.config, self.name)
        self.world = World(settings.path("data_dir", may_be_empty=True))
        dataset, has_depth = settings.path("dataset", may_be_empty=True), settings.flag("depth")
        width, height = (settings.whole(key, 1, MAX_PIXELS) for key in ("width", "height"))
        camera = Camera(dataset, width, height, has_depth and bool(dataset))
        self.rollout = Rollout(self.world, camera)

    def get_tools(self) -> list[BaseCanvasNode]:
        return [kind(self.rollout) for kind in KINDS]

    def initialize(self) -> None:
        """Make the simulator."""
        self.rollout.open()

    def shutdown(self) -> None:
        """Close the simulator."""
        self.rollout.close()

    def begin_episode(self, episode: EpisodeContext) -> None:
        """Stand at the episode's start."""
        self.rollout.begin(self.world.task(episode.split, episode.index))

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": self.world.splits(),
            "default_split": self.world.default_split(),
            "metrics": list(GOAL_METRICS),
            "metric_definitions": METRIC_DEFINITIONS,
            "step_budget": STEP_BUDGET,
            "submission": {
                "format": "r2r",
                "poses": ["reset.state", "step.state", "step_waypoint.state"],
            },
            "pose_frame": "mp3d",
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [task.as_episode() for task in self.world.dataset.tasks(split)]
