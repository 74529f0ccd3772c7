"""A simulator that was turned into data: from a pose to what was seen there, for all workers.

Knows nothing of workers or simulators: every tool is a pure function of its ports.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Episode

from .controller import PoseLookupController
from .library import DEFAULT_CONFIG, Library
from .tool import METRICS, make_tools


class PoseLookupNodeSet(BaseNodeSet):
    """The episodes of a store that `wayfare bake` has written; an agent moves from pose to pose.

    `store` is its folder. `match` says which stored pose stands for another: `exact`, or the
    `nearest` within `max_distance_m` and `max_angle_deg`.
    """

    name = "env_pose_lookup"
    description = "A simulator turned into data by `wayfare bake`: from a pose to what is seen"
    parallelism = "shared"
    controller = PoseLookupController
    default_config = DEFAULT_CONFIG

    def __init__(self) -> None:
        self.library = Library(self.config)

    def get_tools(self) -> list[BaseCanvasNode]:
        return make_tools(self.library)

    def get_eval_metadata(self) -> dict[str, Any]:
        """Return the store's one split; without a store, what any has."""
        split, frame = "test", ""
        if self.library.is_named:
            split, frame = self.library.store.split, self.library.store.pose_frame
        metadata = {"splits": [split], "default_split": split, "metrics": METRICS}
        return {**metadata, "pose_frame": frame} if frame else metadata

    def get_episodes(self, split: str) -> list[Episode]:
        """Return the episodes that were baked; `store` in their info stands for its content."""
        store = self.library.store
        return [
            Episode(
                entry["id"],
                scene_id=entry["scene_id"],
                group=entry["group"],
                step_budget=entry["step_budget"],
                info={**entry["info"], "store": store.digest},
            )
            for entry in store.episodes
        ]

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return a look from a random pose of a random episode."""
        store = self.library.store
        index = int(rng.integers(len(store.episodes)))
        poses = store.scene_of(index).poses
        pose = np.array(poses[int(rng.integers(len(poses)))])
        row = {"episode_index": index}
        return {
            "reset": row,
            "navigable_poses": row,
            "observe": {**row, "pose": pose},
            "step_pose": {**row, "pose": pose},
            "evaluate": {**row, "poses": [pose, np.array(poses[0])]},
        }
