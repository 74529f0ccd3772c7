"""What one episode asks for, read from one entry of a published file.

Knows nothing of files, splits or the simulator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping, Sequence, Tuple

from nodeset import Episode

from .calibre import Calibre

Point = Tuple[float, float, float]
SCENES_PREFIX = "data/scene_datasets/"
"""What Habitat's own files put before a scene's path; it stands for the folder of scenes."""


class DatasetError(ValueError):
    """A published file is not in the format that its calibre has."""


@dataclass(frozen=True)
class GroundTruth:
    """The teacher's discrete actions, STOP at the end, and the places that they lead through."""

    actions: tuple[int, ...]
    locations: tuple[Point, ...]


@dataclass(frozen=True)
class Task:
    """One episode: where it begins, what it says, and where it succeeds.

    `rotation` is a quaternion x y z w in Habitat's frame. `goals` are the places that count as the
    goal: the goal itself or, in ObjectNav, the view points of all objects of the category.
    """

    episode_id: str
    scene_id: str
    position: Point
    rotation: tuple[float, float, float, float]
    goals: tuple[Point, ...]
    instruction: str = ""
    instruction_id: str = ""
    category: str = ""
    group: str = ""
    geodesic_m: float | None = None
    reference_path: tuple[Point, ...] = ()
    ground_truth: GroundTruth | None = None

    def with_ground_truth(self, truth: GroundTruth | None) -> Task:
        """Return the task with what a teacher did."""
        return replace(self, ground_truth=truth)

    def as_episode(self) -> Episode:
        """Return the episode as a run lists it; ground truth stays behind, it is large."""
        info: dict[str, Any] = {"start": [*self.position, *self.rotation]}
        if self.instruction:
            info["instruction"] = self.instruction
        if self.instruction_id:
            info["instruction_id"] = self.instruction_id
        if self.category:
            info["category"] = self.category
        else:
            info["goal"] = list(self.goals[0])
        if self.geodesic_m is not None:
            info["geodesic_m"] = self.geodesic_m
        return Episode(
            id=self.episode_id, scene_id=self.scene_id, group=self.group or "", info=info
        )


def read_task(
    item: Mapping[str, Any], calibre: Calibre, goals_by_category: Mapping[str, Sequence[Point]]
) -> Task:
    """Return the task of one entry of a file; raises DatasetError, KeyError, TypeError."""
    _check_kind(item, calibre)
    instruction = item.get("instruction") or {}
    scene_id = str(item["scene_id"])
    if scene_id.startswith(SCENES_PREFIX):
        scene_id = scene_id[len(SCENES_PREFIX) :]
    distance_m = (item.get("info") or {}).get("geodesic_distance")
    group = item.get("trajectory_id")
    return Task(
        episode_id=str(item["episode_id"]),
        scene_id=scene_id,
        position=as_point(item["start_position"]),
        rotation=_as_rotation(item["start_rotation"]),
        goals=_goals(item, calibre, goals_by_category),
        instruction=str(instruction.get("instruction_text", "")).strip(),
        instruction_id=str(instruction.get("instruction_id", "")),
        category=str(item.get("object_category") or ""),
        group="" if group is None else str(group),
        geodesic_m=None if distance_m is None else float(distance_m),
        reference_path=tuple(as_point(point) for point in item.get("reference_path") or ()),
    )


def read_ground_truth(item: Mapping[str, Any]) -> GroundTruth:
    """Return what a teacher did from an entry of a file of ground truth."""
    actions = tuple(int(action) for action in item["actions"])
    return GroundTruth(actions, tuple(as_point(point) for point in item["locations"]))


def as_point(values: Sequence[float]) -> Point:
    """Return a position; raises DatasetError where the value is none."""
    x, y, z = (float(value) for value in values)
    return x, y, z


def kind_of(item: Mapping[str, Any]) -> str:
    """Return the name of the calibre that an entry is made for, by what it holds."""
    if item.get("object_category"):
        return "objectnav"
    instruction = item.get("instruction")
    if not instruction:
        return "pointnav"
    return "rxr_habitat" if "language" in instruction else "vlnce_r2r"


def _check_kind(item: Mapping[str, Any], calibre: Calibre) -> None:
    kind = kind_of(item)
    if kind != calibre.name:
        raise DatasetError(
            f"episode {item.get('episode_id')!r} is one of {kind!r}, but the calibre is "
            f"{calibre.name!r}; choose another file or calibre={kind}"
        )


def _goals(
    item: Mapping[str, Any], calibre: Calibre, goals_by_category: Mapping[str, Sequence[Point]]
) -> tuple[Point, ...]:
    if calibre.name == "objectnav":
        scene = str(item["scene_id"]).rsplit("/", 1)[-1]
        points = goals_by_category.get(f"{scene}_{item['object_category']}") or [
            point for goal in item.get("goals") or () for point in read_view_points(goal)
        ]
    else:
        points = [as_point(goal["position"]) for goal in item["goals"]]
        for goal in item["goals"]:
            _check_radius(item, goal, calibre)
    if not points:
        raise DatasetError(f"episode {item.get('episode_id')!r} has no goal; it needs at least one")
    return tuple(points)


def read_view_points(goal: Mapping[str, Any]) -> list[Point]:
    """Return the places from which an object can be seen."""
    return [as_point(view["agent_state"]["position"]) for view in goal.get("view_points") or ()]


def _check_radius(item: Mapping[str, Any], goal: Mapping[str, Any], calibre: Calibre) -> None:
    radius = goal.get("radius")
    if radius is not None and float(radius) != calibre.success_m:
        raise DatasetError(
            f"episode {item.get('episode_id')!r} has a goal of radius {radius!r} m, but calibre "
            f"{calibre.name!r} has success within {calibre.success_m} m"
        )


def _as_rotation(values: Sequence[float]) -> tuple[float, float, float, float]:
    x, y, z, w = (float(value) for value in values)
    return x, y, z, w
