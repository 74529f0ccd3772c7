"""Keep what a run's episodes can be told apart by: short values of their `info`, column by column.

Knows nothing of what they mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wayfare.store.document import read_document, write_document
from wayfare.store.errors import CorruptFileError, FormatVersionError

LABELS_FILE = "labels.json"
MAX_LABEL = 80
"""A longer text is no label: it tells one episode from all others and nothing else."""

Label = str | int | bool | None
"""None: the episode has no such entry."""


def gather_labels(infos: Iterable[Mapping[str, Any]]) -> dict[str, list[Label]]:
    """Return the columns of those keys whose values are all short texts, whole numbers or BOOLs."""
    rows = list(infos)
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {key: [row.get(key) for row in rows] for key in keys}
    return {key: column for key, column in columns.items() if _are_labels(column)}


def write_labels(folder: Path, labels: Mapping[str, Sequence[Label]]) -> None:
    """Write the columns, in the order of the run's list. Raises StorageWriteError."""
    write_document(folder / LABELS_FILE, {"labels": dict(labels)})


def read_labels(folder: Path, episode_count: int) -> dict[str, list[Label]]:
    """Return the columns; every run has its file, if only of none. Raises CorruptFileError."""
    path = folder / LABELS_FILE
    if not path.exists():
        raise CorruptFileError(f"{path} is missing; every run has one.")
    columns = read_document(path).get("labels")
    if not isinstance(columns, dict) or any(len(c) != episode_count for c in columns.values()):
        raise CorruptFileError(f"{path}: it must hold one label per episode ({episode_count}).")
    return columns


def find_labels(folder: Path, episode_count: int) -> tuple[dict[str, list[Label]], str]:
    """Return the columns; of a damaged or missing file none, and what is wrong with it."""
    try:
        return read_labels(folder, episode_count), ""
    except (CorruptFileError, FormatVersionError) as error:
        return {}, str(error)


def _are_labels(column: Iterable[Any]) -> bool:
    return any(value is not None for value in column) and all(map(_is_label, column))


def _is_label(value: Any) -> bool:
    return (
        value is None
        or isinstance(value, int)
        or (isinstance(value, str) and len(value) <= MAX_LABEL)
    )
