"""Room-to-Room's tools with images: those of `env_r2r`, which decides what is navigable.

Knows nothing of workers: what a row needs comes in by its ports and its context.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import BaseCanvasNode, BatchContext, PortDef, Settings

from ..env_r2r import tool as r2r
from ..env_r2r.dataset import Task
from ..env_r2r.state import read_state
from .panorama import FRAMES, viewpoint_poses
from .world import PanoramaWorld

_PLAIN = (r2r.TaskOf, r2r.Reset, r2r.Step, r2r.StepPanorama, r2r.Evaluate, r2r.EvaluatePath)


class Observe(r2r.Observe):
    """Look ahead: the current place, then the neighbours in view; the view's image."""

    node_type = "env_panorama__observe"
    output_ports = [
        *r2r.Observe.output_ports,
        PortDef("rgb", "IMAGE", "with an image store", optional=True),
    ]
    world: PanoramaWorld

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        state = read_state(row["state"])
        images = self.world.images(task.scan, state.viewpoint)
        rgb = None if images is None else images[state.view_index]
        return {**super().answer(task, row), "rgb": rgb}


class ObservePanorama(r2r.ObservePanorama):
    """Look around: every neighbour with the view it is most central in; the images of both."""

    node_type = "env_panorama__observe_panorama"
    output_ports = [
        *r2r.ObservePanorama.output_ports,
        PortDef("rgb", "ARRAY", "(36, H, W, 3) uint8, with an image store", optional=True),
        PortDef("views", "LIST[IMAGE]", "each candidate's, with an image store", optional=True),
    ]
    world: PanoramaWorld

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        seen = super().answer(task, row)
        images = self.world.images(task.scan, read_state(row["state"]).viewpoint)
        if images is None:
            return seen
        views = [images[candidate["view"]] for candidate in seen["candidates"]]
        return {**seen, "rgb": images, "views": views}


class ObserveViews(r2r.R2RTool):
    """Look at all 36 views, one image each, for models that score each view of a panorama."""

    node_type = "env_panorama__observe_views"
    display_name = "Observe all views"
    input_ports = r2r.ObservePanorama.input_ports
    output_ports = [PortDef("views", "LIST[IMAGE]", "36, with an image store", optional=True)]
    world: PanoramaWorld

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        images = self.world.images(task.scan, read_state(row["state"]).viewpoint)
        return {"views": None if images is None else list(images)}


class ViewpointPoses(BaseCanvasNode):
    """List where the cameras of a scan's views stand, for `wayfare bake` to render from."""

    node_type = "env_panorama__viewpoint_poses"
    display_name = "Viewpoints' poses"
    category = "environment"
    batched = True
    batch_dim = "scan"
    default_config = {"frame": "mp3d"}
    input_ports = [PortDef("scan", "TEXT")]
    output_ports = [PortDef("poses", "ARRAY", "(36 V, 7): V viewpoints, 36 views of each")]

    def __init__(self, world: PanoramaWorld) -> None:
        self.world = world

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        frame = Settings(ctx.config, self.node_type).choice("frame", FRAMES)
        graphs = [self.world.views(scan).graph for scan in inputs["scan"]]
        return {"poses": [viewpoint_poses(graph, frame) for graph in graphs]}


def make_tools(world: PanoramaWorld) -> list[BaseCanvasNode]:
    """Return one of each tool."""
    plain = [_under_own_name(kind)(world) for kind in _PLAIN]
    looks = [Observe(world), ObservePanorama(world), ObserveViews(world)]
    return [*plain, *looks, ViewpointPoses(world)]


def _under_own_name(kind: Any) -> Any:
    node_type = kind.node_type.replace("env_r2r__", "env_panorama__")
    return type(kind.__name__, (kind,), {"__doc__": kind.__doc__, "node_type": node_type})
