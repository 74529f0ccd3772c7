"""Room-to-Room with images that were rendered beforehand: panoramas over a navigation graph.

Knows nothing of workers: every tool is a pure function of episode index, state and action.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Settings

from ..env_r2r import R2RNodeSet
from .tool import make_tools
from .world import PanoramaWorld


class PanoramaNodeSet(R2RNodeSet, BaseNodeSet):
    """`env_r2r`, and what the 36 views of each viewpoint show.

    `images` names an `.npz` or HDF5 file with an array (36, H, W, 3) per `<scan>_<viewpoint>`, or a
    folder that `wayfare bake` has written at the poses of `viewpoint_poses`, of which `output` is
    served. It lies in `data_dir`, or is a full path, and so does `features`.
    """

    name = "env_panorama"
    description = "Room-to-Room with images or features of the 36 views, from files"
    parallelism = "shared"
    default_config = {"data_dir": "", "features": "", "images": "", "output": "rgb"}

    def __init__(self) -> None:
        settings = Settings(self.config, self.name)
        self.world: PanoramaWorld = PanoramaWorld(
            settings.path("data_dir", may_be_empty=True),
            settings.path("features", may_be_empty=True),
            images=settings.path("images", may_be_empty=True),
            output=settings.text("output"),
        )

    def get_tools(self) -> list[BaseCanvasNode]:
        return make_tools(self.world)

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return a random episode's first call of each tool."""
        inputs = super().sample_inputs(rng)
        split = self.world.default_split()
        scan = self.world.task(split, inputs["task"]["episode_index"]).scan
        around = inputs["observe_panorama"]
        return {**inputs, "observe_views": around, "viewpoint_poses": {"scan": scan}}
