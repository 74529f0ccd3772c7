"""Habitat-Sim's navigation tasks as a nodeset: VLN-CE, RxR-Habitat, PointNav, ObjectNav.

Knows nothing of habitat-lab, whose files it reads. Without a simulator it still tells its tools
and episodes: `habitat_sim` is imported when a copy initializes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode, Settings
from nodeset.context import EpisodeContext

from .calibre import CALIBRES
from .controller import HabitatController
from .dataset import Dataset
from .rollout import Rollout
from .settings import choose_gpu
from .simulator import MAX_CEILING_MB, Simulator
from .teacher import list_teachers
from .tool import TOOLS, HabitatTool


class HabitatNodeSet(BaseNodeSet):
    """One simulator per copy, with the settings of one calibre.

    `episodes` and `ground_truth` are paths with `{split}` in them, relative to the data folder
    (`data_dir`, else WAYFARE_DATA), `scenes_dir` the folder that scene ids begin in (none: the data
    folder). `gpu` is `auto`, -1 for the CPU, or a device. A copy above `memory_ceiling_mb` (0: no
    ceiling) makes its simulator anew where the scene changes.
    """

    name = "env_habitat"
    description = "Habitat-Sim: VLN-CE, RxR-Habitat, PointNav, ObjectNav"
    parallelism = "replicated"
    deployment = Deployment(
        python="conda:habitat",
        env={
            "MAGNUM_LOG": "quiet",
            "HABITAT_SIM_LOG": "quiet",
            "GLOG_minloglevel": "2",
            "LP_NUM_THREADS": "1",
        },
        budgets={"first_call": 600.0, "call": 120.0},
    )
    controller = HabitatController
    default_config = {
        "calibre": "vlnce_r2r",
        "data_dir": "",
        "episodes": "",
        "ground_truth": "",
        "scenes_dir": "",
        "gpu": "auto",
        "memory_ceiling_mb": 8192,
    }

    def __init__(self) -> None:
        settings = Settings(self.config, self.name)
        self.calibre = CALIBRES[settings.choice("calibre", tuple(CALIBRES))]
        self.dataset = Dataset(
            self.calibre,
            settings.path("data_dir", may_be_empty=True),
            episodes=settings.path("episodes", may_be_empty=True),
            ground_truth=settings.path("ground_truth", may_be_empty=True),
        )
        self._scenes_dir = settings.path("scenes_dir", may_be_empty=True)
        self.simulator = Simulator(
            self.calibre,
            choose_gpu(settings, self.config["gpu"]),
            memory_ceiling_mb=settings.whole("memory_ceiling_mb", 0, MAX_CEILING_MB),
        )
        self.rollout = Rollout(self.calibre, self.simulator)

    def get_tools(self) -> list[BaseCanvasNode]:
        return [kind(self.rollout) for kind in self._list_kinds()]

    def initialize(self) -> None:
        """Import Habitat-Sim and open it, with no scene yet."""
        self.simulator.open()

    def shutdown(self) -> None:
        self.simulator.close()

    def begin_episode(self, episode: EpisodeContext) -> None:
        self.begin(episode.split, episode.index)

    def begin(self, split: str, index: int) -> None:
        """Load the episode's scene and put the body at its start."""
        tasks = self.dataset.tasks(split)
        if not 0 <= index < len(tasks):
            raise ValueError(
                f"episode {index!r} does not exist; split {split!r} has the episodes 0 to "
                f"{len(tasks) - 1}"
            )
        self.simulator.load(self._scenes_folder() / tasks[index].scene_id)
        self.rollout.begin(tasks[index], (split, index))

    def default_split(self) -> str:
        """Return the split that a run takes unless it names one."""
        splits = self.dataset.splits()
        preferred = [name for name in ("val_unseen", "val") if name in splits]
        return [*preferred, *splits, "val_unseen"][0]

    def get_eval_metadata(self) -> dict[str, Any]:
        """Return splits, metrics, budget; raises UnavailableError where there are no episodes."""
        splits, split = self.dataset.splits(), self.default_split()
        if not splits:
            self.dataset.tasks(split)  # says which file is missing
        metadata = {
            "splits": splits,
            "default_split": split,
            "metrics": self.calibre.metrics(),
            "metric_definitions": self.calibre.metric_definitions(),
            "step_budget": self.calibre.step_budget,
            "pose_frame": "habitat",
        }
        if self.calibre.submission:
            poses = ["reset.pose", "step_discrete.pose", "step_pose.pose"]
            metadata["submission"] = {"format": self.calibre.submission, "poses": poses}
        return metadata

    def get_episodes(self, split: str) -> list[Episode]:
        return [task.as_episode() for task in self.dataset.tasks(split)]

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return a first call of each tool: a step forward, and a look from the start."""
        tasks = self.dataset.tasks(self.default_split())
        task = tasks[int(rng.integers(len(tasks)))]
        start = np.array([*task.position, *task.rotation], dtype=np.float64)
        inputs: dict[str, dict[str, Any]] = {
            kind.node_type.split("__")[1]: {} for kind in self._list_kinds()
        }
        return {
            **inputs,
            "step_discrete": {"action": 1},
            "step_pose": {"pose": start},
            "observe_camera_pose": {"camera_pose": start},
            "observe_pose": {"pose": start},
        }

    def _list_kinds(self) -> list[type[HabitatTool]]:
        return [*TOOLS, *list_teachers(self.calibre)]

    def _scenes_folder(self) -> Path:
        named = self._scenes_dir
        return Path(named).expanduser() if named else self.dataset.data_folder
