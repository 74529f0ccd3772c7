"""HM-EQA: explore a scene in Habitat-Sim and answer a question about it with one of four choices.

Knows nothing of who explores or answers. Without a simulator it still tells its questions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode, Settings
from nodeset.context import EpisodeContext

from ..env_habitat.settings import choose_gpu
from ..env_habitat.simulator import MAX_CEILING_MB, Simulator
from .controller import HMEQAController
from .question import Question, find_data_folder, read_questions
from .rollout import CALIBRE, Rollout
from .tool import TOOLS

SPLIT = "all"
STEP_CEILING = 1000
"""More turns than any scene's own budget, which `done` tells."""


class HMEQANodeSet(BaseNodeSet):
    """HM-EQA (Ren et al., "Explore until Confident", RSS 2024), one simulator per copy.

    `questions`, `starts` and `scenes` are paths in the data folder (`data_dir`, else WAYFARE_DATA);
    in `scenes` stand `{scene}`, a scene's full name, and `{name}`, what follows its number.
    """

    name = "hmeqa"
    description = "HM-EQA: explore a scene in Habitat-Sim and answer a question about it"
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
    controller = HMEQAController
    default_config = {
        "data_dir": "",
        "questions": "hm_eqa/questions.csv",
        "starts": "hm_eqa/scene_init_poses.csv",
        "scenes": "hm3d/train/{scene}/{name}.basis.glb",
        "gpu": "auto",
        "memory_ceiling_mb": 8192,
    }

    def __init__(self) -> None:
        settings = Settings(self.config, self.name)
        self._data_dir = settings.path("data_dir", may_be_empty=True)
        self._files = settings.path("questions"), settings.path("starts")
        self._scenes = settings.path("scenes")
        self.simulator = Simulator(
            CALIBRE,
            choose_gpu(settings, self.config["gpu"]),
            keeps_navmesh=True,
            memory_ceiling_mb=settings.whole("memory_ceiling_mb", 0, MAX_CEILING_MB),
        )
        self.rollout = Rollout(self.simulator)
        self._questions: tuple[Question, ...] | None = None

    def get_tools(self) -> list[BaseCanvasNode]:
        return [kind(self.rollout) for kind in TOOLS]

    def initialize(self) -> None:
        """Import Habitat-Sim and open it, with no scene yet."""
        self.simulator.open()

    def shutdown(self) -> None:
        self.simulator.close()

    def begin_episode(self, episode: EpisodeContext) -> None:
        self.begin(episode.split, episode.index)

    def begin(self, split: str, index: int) -> None:
        """Load the question's scene and put the agent at its floor's initial pose."""
        questions = self.questions(split)
        if not 0 <= index < len(questions):
            raise ValueError(
                f"question {index!r} does not exist; there are the questions 0 to "
                f"{len(questions) - 1}"
            )
        question = questions[index]
        self.rollout.begin(question, self._scene_file(question.scene), (split, index))

    def questions(self, split: str) -> tuple[Question, ...]:
        """Return the questions, read when first asked for."""
        if split != SPLIT:
            raise ValueError(f"split {split!r} is unknown; hmeqa has {SPLIT!r} alone")
        if self._questions is None:
            folder = find_data_folder(self._data_dir)
            questions, starts = self._files
            self._questions = read_questions(folder / questions, folder / starts)
        return self._questions

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": [SPLIT],
            "default_split": SPLIT,
            "metrics": ["accuracy", "success_weighted", "success_max", "chance", "steps", "TL"],
            "step_budget": STEP_CEILING,
            "pose_frame": "habitat",
        }

    def get_episodes(self, split: str) -> list[Episode]:
        return [question.as_episode() for question in self.questions(split)]

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return a first call of each tool, at a random question's initial pose."""
        questions = self.questions(SPLIT)
        start = questions[int(rng.integers(len(questions)))].start
        views = {"predictions": [rng.dirichlet(np.ones(4))], "relevances": [float(rng.random())]}
        return {
            "reset": {},
            "step_pose": {"pose": np.array([*start.position, 0.0, 0.0, 0.0, 1.0])},
            "step_discrete": {"action": 1},
            "observe_egocentric": {},
            "guess": {"is_black": False},
            "evaluate": views,
        }

    def _scene_file(self, scene: str) -> Path:
        name = scene.split("-", 1)[-1]
        path = self._scenes.replace("{scene}", scene).replace("{name}", name)
        return find_data_folder(self._data_dir) / path
