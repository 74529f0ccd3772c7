"""Read Room-to-Room's published files: one episode per instruction, in the file's order.

Knows nothing of connectivity graphs, views or the framework's workers.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping

from nodeset import Episode, UnavailableError

SPLITS = ("train", "val_seen", "val_unseen", "test")
DATA_VARIABLE = "WAYFARE_DATA"
_HOW_TO_GET = (
    "get the R2R_<split>.json files with tasks/R2R/data/download.sh of "
    "github.com/peteanderson80/Matterport3DSimulator into its subfolder 'r2r', and that "
    "repository's folder 'connectivity' beside it"
)


class DatasetMissingError(UnavailableError):
    """A published file is not where it was looked for."""


class DatasetError(ValueError):
    """A published file is not in Room-to-Room's format."""


@dataclass(frozen=True)
class Task:
    """One instruction to follow, from the first viewpoint of `path` to its last, the goal.

    `heading` is the first one, in radians. A split that publishes no goals has paths of one
    viewpoint and `goal` is none.
    """

    episode_id: str
    path_id: str
    scan: str
    instruction: str
    heading: float
    path: tuple[str, ...]
    goal: str | None
    distance_m: float

    def as_episode(self) -> Episode:
        """Return the episode as a run lists it; its info holds the goal and the reference path.

        They are there for reports, for the page and for agents that calibrate metrics; an agent
        under test is wired to what it may know.
        """
        info = {
            "instruction": self.instruction,
            "heading": self.heading,
            "path_id": self.path_id,
            "start": self.path[0],
            "goal": self.goal,
            "path": list(self.path),
            "path_length_m": self.distance_m,
        }
        return Episode(id=self.episode_id, scene_id=self.scan, group=self.path_id, info=info)


def find_data_folder(configured: str, environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder that holds `r2r/` and `connectivity/`; raises DatasetMissingError.

    What the configuration names (`data_dir`) goes before the variable WAYFARE_DATA.
    """
    values = os.environ if environment is None else environment
    chosen, source = configured, "the setting data_dir"
    if not chosen:
        chosen, source = values.get(DATA_VARIABLE, ""), f"the variable {DATA_VARIABLE}"
    if not chosen:
        raise DatasetMissingError(
            f"no data folder for Room-to-Room: neither the setting data_dir nor the variable "
            f"{DATA_VARIABLE} names one; {_HOW_TO_GET}"
        )
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise DatasetMissingError(
            f"no data folder for Room-to-Room: {folder}, named by {source}, is not a folder; "
            f"{_HOW_TO_GET}"
        )
    return folder


class Dataset:
    """The splits whose files lie in one data folder, each read when first asked for."""

    def __init__(self, data_folder: Path) -> None:
        self.data_folder = data_folder
        self._tasks: dict[str, tuple[Task, ...]] = {}

    def splits(self) -> list[str]:
        """Return the splits whose files are there."""
        return [split for split in SPLITS if self._path(split).is_file()]

    def tasks(self, split: str) -> tuple[Task, ...]:
        """Return a split's tasks; raises DatasetMissingError, DatasetError."""
        tasks = self._tasks.get(split)
        if tasks is None:
            tasks = self._tasks[split] = self._read(split)
        return tasks

    def _path(self, split: str) -> Path:
        return self.data_folder / "r2r" / f"R2R_{split}.json"

    def _read(self, split: str) -> tuple[Task, ...]:
        path = self._path(split)
        if not path.is_file():
            raise DatasetMissingError(
                f"Room-to-Room has no split {split!r} here: {path} is missing, found are "
                f"{self.splits()}; {_HOW_TO_GET}"
            )
        try:
            items = json.loads(path.read_text(encoding="utf-8"))
            return tuple(task for item in items for task in _tasks_of(item, split))
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise DatasetError(f"{path} is not a Room-to-Room file: {error!r}") from error


def _tasks_of(item: Mapping[str, Any], split: str) -> list[Task]:
    path = tuple(str(viewpoint) for viewpoint in item["path"])
    is_goal_published = not (split == "test" and len(path) == 1)
    return [
        Task(
            episode_id=f"{item['path_id']}_{number}",
            path_id=str(item["path_id"]),
            scan=str(item["scan"]),
            instruction=str(instruction),
            heading=float(item["heading"]),
            path=path,
            goal=path[-1] if is_goal_published else None,
            distance_m=float(item.get("distance", 0.0)),
        )
        for number, instruction in enumerate(item["instructions"])
    ]
