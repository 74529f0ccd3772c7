"""The environment's tools: pure functions of an episode's index and of poses, many rows at once.

Knows nothing of workers: what a row needs comes in by its ports and its context.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BatchContext, Context, PortDef
from nodeset.metrics import undefined

from .library import Library
from .store import Scene

METRICS = ["length", "TL", "coverage"]
_EPISODE = PortDef("episode_index", "INT", "the running episode's if unwired", optional=True)
_POSE = PortDef("pose", "POSE", "one that was rendered, or near one; see the setting match")


class LookupTool(BaseCanvasNode):
    """A tool that answers row by row: a row alone gives the same bits as in any batch."""

    category = "environment"
    batched = True

    def __init__(self, library: Library) -> None:
        self.library = library

    def scenes(self, inputs: dict[str, Any], ctx: BatchContext) -> list[Scene]:
        """Return each row's scene."""
        indexes = inputs.get("episode_index") or [None] * len(ctx.rows)
        return [self._scene(index, row) for index, row in zip(indexes, ctx.rows)]

    def _scene(self, index: Any, row: Context) -> Scene:
        return self.library.store.scene_of(row.episode.index if index is None else index)


class Reset(LookupTool):
    """Stand at the first of the scene's poses."""

    node_type = "env_pose_lookup__reset"
    display_name = "Reset"
    batch_dim = "episode_index"
    input_ports = [PortDef("episode_index", "INT", "counts in the store's episodes")]
    output_ports = [PortDef("pose", "POSE")]

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        return {"pose": [np.array(scene.poses[0]) for scene in self.scenes(inputs, ctx)]}


class NavigablePoses(LookupTool):
    """List the poses from which the episode's scene was rendered, in the store's order."""

    node_type = "env_pose_lookup__navigable_poses"
    display_name = "Navigable poses"
    batch_dim = "episode_index"
    input_ports = [PortDef("episode_index", "INT", "counts in the store's episodes")]
    output_ports = [PortDef("poses", "ARRAY", "(N, 7)")]

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        return {"poses": [scene.poses for scene in self.scenes(inputs, ctx)]}


class Observe(LookupTool):
    """Tell what was seen from a pose: the outputs of the tool that rendered, bit for bit."""

    node_type = "env_pose_lookup__observe"
    display_name = "Observe from a pose"
    batch_dim = "pose"
    input_ports = [_POSE, _EPISODE]

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.output_ports = library.output_ports()

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        tolerance = self.library.tolerance
        pairs = zip(self.scenes(inputs, ctx), inputs["pose"])
        rows = [scene.row_at(pose, tolerance) for scene, pose in pairs]
        for row in rows:
            self.library.store.check(row, row + 1)
        outputs = self.library.store.outputs
        return {output.name: [output.read(row) for row in rows] for output in outputs}


class StepPose(LookupTool):
    """Go to a pose at once: the one that stands for it in the store."""

    node_type = "env_pose_lookup__step_pose"
    display_name = "Go to a pose"
    batch_dim = "pose"
    input_ports = [_POSE, _EPISODE]
    output_ports = [PortDef("pose", "POSE", "the stored one")]

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        tolerance = self.library.tolerance
        reached = []
        for scene, pose in zip(self.scenes(inputs, ctx), inputs["pose"]):
            reached.append(np.array(scene.poses[scene.row_at(pose, tolerance) - scene.first_row]))
        return {"pose": reached}


class Evaluate(LookupTool):
    """Measure a way: poses, TL in metres, and the share of the scene's poses that it took."""

    node_type = "env_pose_lookup__evaluate"
    display_name = "Evaluate"
    batch_dim = "poses"
    input_ports = [PortDef("poses", "LIST[POSE]", "the way, pose by pose"), _EPISODE]
    output_ports = [PortDef("metrics", "METRICS", ", ".join(METRICS))]

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        pairs = zip(self.scenes(inputs, ctx), inputs["poses"])
        return {"metrics": [self._measure(scene, way) for scene, way in pairs]}

    def _measure(self, scene: Scene, way: list[Any]) -> dict[str, Any]:
        if not way:
            nowhere = undefined("no pose was taken")
            return {"length": 0, "TL": nowhere, "coverage": nowhere}
        rows = {scene.row_at(pose, self.library.tolerance) for pose in way}
        legs = np.diff(np.array(way)[:, :3], axis=0)
        length_m = float(sum(float(np.sqrt(x * x + y * y + z * z)) for x, y, z in legs))
        return {"length": len(way), "TL": length_m, "coverage": len(rows) / len(scene.poses)}


def make_tools(library: Library) -> list[BaseCanvasNode]:
    """Return one of each tool."""
    kinds = (Reset, NavigablePoses, Observe, StepPose, Evaluate)
    return [kind(library) for kind in kinds]
