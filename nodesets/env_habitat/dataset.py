"""Find and read the files of a calibre's splits, plain or gzipped, whole or one file per scene.

Knows nothing of the simulator or of runs.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any, Mapping, Sequence

from nodeset import UnavailableError

from .calibre import Calibre
from .task import (
    DatasetError,
    GroundTruth,
    Point,
    Task,
    read_ground_truth,
    read_task,
    read_view_points,
)

DATA_VARIABLE = "WAYFARE_DATA"
EPISODES = {
    "vlnce_r2r": "r2r_ce/{split}.json.gz",
    "rxr_habitat": "rxr_ce/{split}_guide.json.gz",
    "pointnav": "pointnav/{split}/{split}.json.gz",
    "objectnav": "objectnav/{split}/{split}.json.gz",
}
"""Where a calibre's episodes lie in the data folder, unless the setting `episodes` says where."""
GROUND_TRUTH = {
    "vlnce_r2r": "r2r_ce/{split}_gt.json.gz",
    "rxr_habitat": "rxr_ce/{split}_guide_gt.json.gz",
}
_HOW_TO_GET = {
    "vlnce_r2r": "get R2R_VLNCE_v1-3_preprocessed, named in the README of "
    "github.com/jacobkrantz/VLN-CE",
    "rxr_habitat": "get RxR_VLNCE_v0, named in the README of github.com/jacobkrantz/VLN-CE",
    "pointnav": "get a PointNav dataset, named in DATASETS.md of "
    "github.com/facebookresearch/habitat-lab, or make one with generate.py of this nodeset",
    "objectnav": "get an ObjectNav dataset, named in DATASETS.md of "
    "github.com/facebookresearch/habitat-lab",
}


class DatasetMissingError(UnavailableError):
    """A published file is not where it was looked for."""


class Dataset:
    """The splits of one calibre, each read when first asked for.

    `episodes` and `ground_truth` are paths with `{split}` in them, relative to the data folder;
    empty: the calibre's own.
    """

    def __init__(
        self, calibre: Calibre, data_dir: str, *, episodes: str = "", ground_truth: str = ""
    ) -> None:
        self.calibre = calibre
        self._data_dir = data_dir
        self._episodes = episodes or EPISODES[calibre.name]
        self._ground_truth = ground_truth or GROUND_TRUTH.get(calibre.name, "")
        self._tasks: dict[str, tuple[Task, ...]] = {}

    @property
    def data_folder(self) -> Path:
        """Return the folder of `data_dir`, else of WAYFARE_DATA; raises DatasetMissingError."""
        chosen = self._data_dir or os.environ.get(DATA_VARIABLE, "")
        folder = Path(chosen).expanduser()
        if chosen and folder.is_dir():
            return folder
        reason = f"{str(folder)!r} is no folder" if chosen else "none is named"
        raise DatasetMissingError(
            f"no data folder for env_habitat: {reason}; set data_dir or the variable "
            f"{DATA_VARIABLE}, and {_HOW_TO_GET[self.calibre.name]}"
        )

    def splits(self) -> list[str]:
        """Return the splits whose files are there, sorted."""
        path = Path(self._episodes).expanduser()
        if not path.is_absolute():
            path = self.data_folder / path
        folder, pattern = _split_at_placeholder(path)
        found = folder.glob(pattern.replace("{split}", "*")) if folder.is_dir() else ()
        form = re.escape(pattern).replace(re.escape("{split}"), "(?P<split>[^/]+)", 1)
        expression = re.compile(form.replace(re.escape("{split}"), "(?P=split)"))
        names = [expression.fullmatch(file.relative_to(folder).as_posix()) for file in found]
        splits = sorted(name["split"] for name in names if name)
        truths = {self._path(self._ground_truth, split) for split in splits}
        return [split for split in splits if self._path(self._episodes, split) not in truths]

    def tasks(self, split: str) -> tuple[Task, ...]:
        """Return a split's tasks in its files' order; raises DatasetMissingError, DatasetError."""
        if split not in self._tasks:
            self._tasks[split] = self._read(split)
        return self._tasks[split]

    def _path(self, pattern: str, split: str) -> Path | None:
        if not pattern:
            return None
        path = Path(pattern.replace("{split}", split)).expanduser()
        return path if path.is_absolute() else self.data_folder / path

    def _read(self, split: str) -> tuple[Task, ...]:
        path = self._path(self._episodes, split)
        if path is None or not path.is_file():
            raise DatasetMissingError(
                f"env_habitat has no split {split!r} for calibre {self.calibre.name!r}: {path} is "
                f"missing, found are {self.splits()}; {_HOW_TO_GET[self.calibre.name]}"
            )
        truths = self._read_truths(split)
        tasks = [task for file in _files_of(path) for task in self._read_file(file)]
        return tuple(task.with_ground_truth(truths.get(task.episode_id)) for task in tasks)

    def _read_file(self, path: Path) -> list[Task]:
        document = _read_json(path)
        try:
            goals = _goals_by_category(document.get("goals_by_category") or {})
            return [read_task(item, self.calibre, goals) for item in document["episodes"]]
        except DatasetError as error:
            raise DatasetError(f"{path}: {error}") from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DatasetError(
                f"{path} is not a file of calibre {self.calibre.name!r}: {error!r}"
            ) from error

    def _read_truths(self, split: str) -> Mapping[str, GroundTruth]:
        path = self._path(self._ground_truth, split)
        if path is None or not path.is_file():
            return {}
        document = _read_json(path)
        try:
            return {str(key): read_ground_truth(item) for key, item in document.items()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DatasetError(f"{path} is not a file of ground truth: {error!r}") from error


def _files_of(path: Path) -> list[Path]:
    """Return the split's file and, sorted, its scenes', which lie in `content` beside it."""
    return [path, *sorted((path.parent / "content").glob("*.json*"))]


def _split_at_placeholder(path: Path) -> tuple[Path, str]:
    """Return the folder above the first part with `{split}`, and the rest as a pattern."""
    parts = path.parts
    first = next((i for i, part in enumerate(parts) if "{split}" in part), len(parts) - 1)
    return Path(*parts[:first]), "/".join(parts[first:])


def _goals_by_category(document: Mapping[str, Any]) -> Mapping[str, Sequence[Point]]:
    return {
        str(key): tuple(point for goal in goals for point in read_view_points(goal))
        for key, goals in document.items()
    }


def _read_json(path: Path) -> Any:
    try:
        if path.suffix == ".gz":
            with gzip.open(str(path), "rt", encoding="utf-8") as file:
                return json.load(file)
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, EOFError, ValueError) as error:
        raise DatasetError(f"{path} can't be read as JSON: {error!r}") from error
