"""Write trajectories as the leaderboards of navigation benchmarks take them.

Knows nothing of runs or files: trajectories come in, text goes out. Which format an environment
has, and which of its ports give its poses, it says as `submission` in `get_eval_metadata()`.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

VIEW_HEADINGS = 12
VIEW_STEP_RAD = math.radians(30.0)
"""The 36 views of Matterport3DSimulator with discretised viewing angles: 12 headings, 3 rows."""


class SubmissionError(ValueError):
    """Trajectories are not what a format asks for."""


@dataclass(frozen=True)
class Trajectory:
    """One episode's poses from the start on, as the environment's ports gave them.

    `has_stopped` says that the agent ended it by itself; `labels` are short values of the episode's
    `info`.
    """

    episode_id: str
    poses: Sequence[Any]
    has_stopped: bool = True
    labels: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A leaderboard's file: its usual suffix, the keys of a pose that it needs, how it is written.

    Of a pose that is a dict nothing but `keys` is kept while an episode runs.
    """

    suffix: str
    keys: Tuple[str, ...]
    write: Callable[[Sequence[Trajectory]], str]


def write_r2r(trajectories: Sequence[Trajectory]) -> str:
    """Return Room-to-Room's file: a JSON list of `instr_id` and `trajectory`.

    A pose is a dict with `viewpoint` and `heading` and `elevation` in radians, or `view_index`
    instead of these two. Of poses that follow each other and are equal one is kept. The format is
    that of the evaluation published with Matterport3DSimulator.
    """
    entries = [
        {
            "instr_id": trajectory.episode_id,
            "trajectory": _without_repeats([_read_view(pose) for pose in _check(trajectory)]),
        }
        for trajectory in trajectories
    ]
    return _to_json(entries)


def write_vln_ce(trajectories: Sequence[Trajectory]) -> str:
    """Return VLN-CE's file: a JSON dict of each episode's `position`, `heading`, `stop` per step.

    A pose is a dict of these three, or a POSE in Habitat's frame: then the heading is its turn to
    the left in radians, and `stop` is true of the last one if the agent has stopped.
    """
    return _to_json({one.episode_id: _list_steps(one) for one in trajectories})


def write_rxr_habitat(trajectories: Sequence[Trajectory]) -> str:
    """Return RxR-Habitat's file: JSON lines of `instruction_id` and `path`, sorted by the former.

    A pose is as in `write_vln_ce`; `path` has its positions where they changed. The id is the
    episode's label `instruction_id`, else the episode's own, a whole number in both cases.
    """
    by_id = {_read_instruction_id(trajectory): trajectory for trajectory in trajectories}
    if len(by_id) < len(trajectories):
        raise SubmissionError("two episodes have the same instruction_id")
    lines = []
    for number, trajectory in sorted(by_id.items()):
        path = _without_repeats([step["position"] for step in _list_steps(trajectory)])
        lines.append(json.dumps({"instruction_id": number, "path": path}, allow_nan=False))
    return "".join(f"{line}\n" for line in lines)


FORMATS: Dict[str, Format] = {
    "r2r": Format(".json", ("viewpoint", "heading", "elevation", "view_index"), write_r2r),
    "vln_ce": Format(".json", ("position", "heading", "stop"), write_vln_ce),
    "rxr_habitat": Format(".jsonl", ("position",), write_rxr_habitat),
}


def _check(trajectory: Trajectory) -> Sequence[Any]:
    if len(trajectory.poses) == 0:
        raise SubmissionError(f"episode {trajectory.episode_id!r} has no pose, not even its start")
    return trajectory.poses


def _read_view(pose: Any) -> List[Any]:
    try:
        if "heading" in pose:
            return [str(pose["viewpoint"]), float(pose["heading"]), float(pose["elevation"])]
        row, column = divmod(int(pose["view_index"]), VIEW_HEADINGS)
        return [str(pose["viewpoint"]), column * VIEW_STEP_RAD, (row - 1) * VIEW_STEP_RAD]
    except (KeyError, TypeError, ValueError) as error:
        raise SubmissionError(
            f"pose {pose!r} is none of this format: it must be a dict with 'viewpoint' and "
            f"'heading' and 'elevation', or 'view_index'"
        ) from error


def _list_steps(trajectory: Trajectory) -> List[Dict[str, Any]]:
    poses = _check(trajectory)
    last = len(poses) - 1
    return [
        _read_step(pose, stops=index == last and trajectory.has_stopped)
        for index, pose in enumerate(poses)
    ]


def _read_step(pose: Any, *, stops: bool) -> Dict[str, Any]:
    try:
        if isinstance(pose, Mapping):
            step = {"position": [float(value) for value in pose["position"]]}
            heading, stop = pose.get("heading", 0.0), pose.get("stop", stops)
            return {**step, "heading": float(heading), "stop": bool(stop)}
        numbers = [float(value) for value in pose]
        position, (x, y, z, w) = numbers[:3], numbers[3:]
    except (KeyError, TypeError, ValueError) as error:
        raise SubmissionError(
            f"pose {pose!r} is none of this format: it must be a POSE (7,), or a dict with "
            f"'position', 'heading' and 'stop'"
        ) from error
    heading = math.atan2(2.0 * (w * y - x * z), 1.0 - 2.0 * (x * x + y * y))
    return {"position": position, "heading": heading, "stop": stops}


def _read_instruction_id(trajectory: Trajectory) -> int:
    value = trajectory.labels.get("instruction_id", trajectory.episode_id)
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise SubmissionError(
            f"episode {trajectory.episode_id!r} has the instruction_id {value!r}; it must be a "
            f"whole number"
        ) from error


def _without_repeats(items: Sequence[Any]) -> List[Any]:
    return [item for index, item in enumerate(items) if index == 0 or item != items[index - 1]]


def _to_json(value: Any) -> str:
    return json.dumps(value, indent=2, allow_nan=False) + "\n"
