"""Build a map from depth images and say where to look next: TSDF fusion and frontier exploration.

Knows no simulator and no workers: the volume lives in this copy and never leaves it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet
from nodeset.context import EpisodeContext

from .exploration import Exploration
from .setting import DEFAULT_CONFIG, read_setting
from .tool import make_tools

_LENS = [[32.0, 0.0, 32.0], [0.0, 32.0, 32.0], [0.0, 0.0, 1.0]]
_BOUNDS = [[-2.0, 0.0, -2.0], [2.0, 2.5, 2.0]]
_EYE = [0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 1.0]


class TSDFPlannerNodeSet(BaseNodeSet):
    """TSDF fusion (Curless and Levoy, SIGGRAPH 1996) and exploration after Explore-EQA."""

    name = "tsdf_planner"
    description = "Map a scene from depth images and choose the next frontier to look at"
    parallelism = "replicated"
    default_config = DEFAULT_CONFIG

    def __init__(self) -> None:
        self.setting = read_setting(self.config)
        self.exploration = Exploration(self.setting)

    def get_tools(self) -> list[BaseCanvasNode]:
        return make_tools(self.exploration)

    def begin_episode(self, episode: EpisodeContext) -> None:
        """Empty the volume."""
        self.exploration.clear()

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return a bumpy wall seen from the middle of a room, and values of places there."""
        depth = (1.5 + 0.1 * rng.random((64, 64))).astype(np.float32)
        pose = np.array(_EYE)
        view = {"depth": depth, "pose": pose, "intrinsics": np.array(_LENS)}
        places = {"points": rng.uniform(-1.0, 1.0, (3, 3)), "values": rng.random(3)}
        return {
            "integrate": {**view, "bounds": np.array(_BOUNDS), "floor_height": 0.0},
            "find_frontiers": view,
            "integrate_semantics": {**places, "global_value": float(rng.random())},
            "next_pose": {"pose": pose},
        }
