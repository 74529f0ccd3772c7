"""The environment's tools: pure functions of episode index, state and action, many rows at once.

Knows nothing of workers: what a row needs comes in by its ports and its context.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import BaseCanvasNode, BatchContext, Context, PortDef

from .dataset import Task
from .scoring import GOAL_METRICS, PATH_METRICS, score_goal, score_path
from .state import State, read_state, start_state, step_in_panorama, step_in_view
from .view import elevation_rad, heading_rad, initial_view
from .world import World

_EPISODE = PortDef("episode_index", "INT", "counts in the split's episodes")
_SPLIT = PortDef("split", "TEXT", "the running episode's split if unwired", optional=True)
_STATE = PortDef("state", "JSON", "viewpoint, view_index, trajectory, stopped")
_DONE = PortDef("done", "BOOL", "whether the agent has stopped")
_SIGHT = [
    PortDef("scan", "TEXT"),
    PortDef("viewpoint", "TEXT"),
    PortDef("view_index", "INT", "12 * row + heading index; row 0 looks down"),
    PortDef("heading", "FLOAT", "radians, clockwise from +y"),
    PortDef("elevation", "FLOAT", "radians, upwards"),
    PortDef("instruction", "TEXT"),
]


class R2RTool(BaseCanvasNode):
    """A tool that answers row by row: a row alone gives the same bits as in any batch."""

    category = "environment"
    batched = True
    batch_dim = "episode_index"

    def __init__(self, world: World) -> None:
        self.world = world

    def forward(self, inputs: dict[str, Any], ctx: BatchContext) -> dict[str, Any]:
        """Answer every row; a port that no row has an answer for is left out."""
        rows = []
        for index, context in enumerate(ctx.rows):
            row = {name: values[index] for name, values in inputs.items()}
            rows.append(self.answer(self._task(row, context), row))
        names = [port.name for port in self.output_ports]
        columns = {name: [row.get(name) for row in rows] for name in names}
        return {name: values for name, values in columns.items() if _has_any(values)}

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs of one row."""
        raise NotImplementedError(f"{type(self).__name__} must define answer(task, row)")

    def _task(self, row: Mapping[str, Any], context: Context) -> Task:
        split = row.get("split") or context.episode.split or self.world.default_split()
        return self.world.task(split, row["episode_index"])


class TaskOf(R2RTool):
    """Tell the instruction, and the goal and reference path that only a calibrating agent reads."""

    node_type = "env_r2r__task"
    display_name = "Task (with ground truth)"
    input_ports = [_EPISODE, _SPLIT]
    output_ports = [
        PortDef("instruction", "TEXT"),
        PortDef("scan", "TEXT"),
        PortDef("path", "LIST[TEXT]", "the reference path's viewpoints"),
        PortDef("goal", "TEXT", "the last viewpoint; absent where a split hides it", optional=True),
    ]

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "instruction": task.instruction,
            "scan": task.scan,
            "path": list(task.path),
            "goal": task.goal,
        }


class Reset(R2RTool):
    """Place the agent at the start, looking level in the direction nearest to the given heading."""

    node_type = "env_r2r__reset"
    display_name = "Reset"
    input_ports = [_EPISODE, _SPLIT]
    output_ports = [_STATE]

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        return {"state": start_state(task.path[0], initial_view(task.heading)).as_json()}


class Observe(R2RTool):
    """Look ahead: the current place, then the neighbours in view, the most central first."""

    node_type = "env_r2r__observe"
    display_name = "Observe the current view"
    input_ports = [_EPISODE, _STATE, _SPLIT]
    output_ports = [
        PortDef("navigable", "JSON", "list of viewpoint, rel_heading, rel_elevation, rel_distance"),
        *_SIGHT,
        PortDef("features", "ARRAY", "(D,), with a feature store", optional=True),
    ]

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        state, views = read_state(row["state"]), self.world.views(task.scan)
        place = views.graph.index(state.viewpoint)
        features = self.world.features(task.scan, state.viewpoint)
        return {
            "navigable": [sight.as_json() for sight in views.navigable(place, state.view_index)],
            **_describe(task, state),
            "features": None if features is None else features[state.view_index],
        }


class ObservePanorama(R2RTool):
    """Look around: every neighbour over the 36 views, each with the view it is most central in."""

    node_type = "env_r2r__observe_panorama"
    display_name = "Observe the panorama"
    input_ports = [_EPISODE, _STATE, _SPLIT]
    output_ports = [
        PortDef("candidates", "LIST[JSON]", "viewpoint, view, rel_heading, rel_elevation, ..."),
        *_SIGHT,
        PortDef("features", "ARRAY", "(36, D), with a feature store", optional=True),
    ]

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        state, views = read_state(row["state"]), self.world.views(task.scan)
        place = views.graph.index(state.viewpoint)
        return {
            "candidates": [candidate.as_json() for candidate in views.candidates(place)],
            **_describe(task, state),
            "features": self.world.features(task.scan, state.viewpoint),
        }


class Step(R2RTool):
    """Act in the view: (index of a navigable place, turn right, look up); (0, 0, 0) stops."""

    node_type = "env_r2r__step"
    display_name = "Step in the current view"
    batch_dim = "action"
    input_ports = [_EPISODE, _STATE, PortDef("action", "ACTION", "three numbers"), _SPLIT]
    output_ports = [_STATE, _DONE]

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        views = self.world.views(task.scan)
        return _outcome(step_in_view(views, read_state(row["state"]), row["action"]))


class StepPanorama(R2RTool):
    """Act in the panorama: go to a candidate by its index, or stop with -1."""

    node_type = "env_r2r__step_panorama"
    display_name = "Step in the panorama"
    batch_dim = "action"
    input_ports = [_EPISODE, _STATE, PortDef("action", "INT", "a candidate, or -1"), _SPLIT]
    output_ports = [_STATE, _DONE]

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        views = self.world.views(task.scan)
        return _outcome(step_in_panorama(views, read_state(row["state"]), row["action"]))


class Evaluate(R2RTool):
    """Score the trajectory: NE and TL in metres, SR, OSR, SPL, with a threshold of 3 m."""

    node_type = "env_r2r__evaluate"
    display_name = "Evaluate"
    input_ports = [_EPISODE, _STATE, _SPLIT]
    output_ports = [PortDef("metrics", "METRICS", ", ".join(GOAL_METRICS))]

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        trajectory = read_state(row["state"]).trajectory
        return {"metrics": score_goal(task, trajectory, self.world.views(task.scan).graph)}


class EvaluatePath(R2RTool):
    """Score the trajectory against goal and reference path: what `evaluate` gives, and nDTW etc."""

    node_type = "env_r2r__evaluate_path"
    display_name = "Evaluate against the reference path"
    input_ports = [_EPISODE, _STATE, _SPLIT]
    output_ports = [PortDef("metrics", "METRICS", ", ".join(PATH_METRICS))]

    def answer(self, task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
        trajectory = read_state(row["state"]).trajectory
        return {"metrics": score_path(task, trajectory, self.world.views(task.scan).graph)}


def make_tools(world: World) -> list[BaseCanvasNode]:
    """Return one of each tool."""
    kinds = (TaskOf, Reset, Observe, ObservePanorama, Step, StepPanorama, Evaluate, EvaluatePath)
    return [kind(world) for kind in kinds]


def _describe(task: Task, state: State) -> dict[str, Any]:
    return {
        "scan": task.scan,
        "viewpoint": state.viewpoint,
        "view_index": state.view_index,
        "heading": heading_rad(state.view_index),
        "elevation": elevation_rad(state.view_index),
        "instruction": task.instruction,
    }


def _outcome(state: State) -> dict[str, Any]:
    return {"state": state.as_json(), "done": state.stopped}


def _has_any(values: list[Any]) -> bool:
    return any(value is not None for value in values)
