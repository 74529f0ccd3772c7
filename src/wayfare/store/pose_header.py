"""Say where a store of poses comes from and what its arrays are; keep it in `store.json`.

Knows nothing of the arrays' content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from wayfare.store.document import read_document, write_document
from wayfare.store.errors import CorruptFileError, FormatVersionError
from wayfare.store.records import NodesetRecord

HEADER_FILE = "store.json"
DIGEST_BYTES = 16
STORE_FORMAT = 2


@dataclass(frozen=True, slots=True)
class StoredOutput:
    """One output of the tool that rendered: its port, and what a row of its file is."""

    name: str
    wire_type: str
    description: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def row_bytes(self) -> int:
        """Return what a row takes."""
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class SceneRows:
    """The rows of one scene, in which all its episodes take place; they count in `episodes`."""

    scene_id: str
    episodes: tuple[int, ...]
    first_row: int
    rows: int

    @property
    def stop_row(self) -> int:
        """Return the first row that is another scene's."""
        return self.first_row + self.rows


@dataclass(frozen=True, slots=True)
class Verification:
    """A sample of the rows was rendered again by a fresh copy; `different` names those that differ.

    `rows`: how many were; `seed`: what they were drawn by.
    """

    rows: int
    seed: int
    different: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreHeader:
    """Where a store comes from and what stands in it; no clock decides any of it."""

    source: NodesetRecord
    nodeset: str
    request: Mapping[str, Any]
    """What was asked for, by name: tool, its configuration, split, poses."""
    versions: Mapping[str, str]
    pose_frame: str
    split: str
    episodes: tuple[Mapping[str, Any], ...]
    """As the nodeset lists them: id, scene_id, group, step_budget, info."""
    scenes: tuple[SceneRows, ...]
    poses_hash: str
    outputs: tuple[StoredOutput, ...]
    store_format: int = STORE_FORMAT
    is_finished: bool = False
    digests_hash: str = ""
    """What `digests.npy` holds, once the store is finished."""
    verification: Verification | None = None

    @property
    def rows(self) -> int:
        """Return how many poses there are."""
        return self.scenes[-1].stop_row if self.scenes else 0

    @property
    def bytes(self) -> int:
        """Return what the arrays take on the disk, roughly."""
        row = sum(output.row_bytes for output in self.outputs)
        return self.rows * (row + 7 * 8 + DIGEST_BYTES + 1)


_HEADER: TypeAdapter[StoreHeader] = TypeAdapter(StoreHeader)


def is_store(folder: Path) -> bool:
    """Return whether a store was made there, finished or not."""
    try:
        return (folder / HEADER_FILE).is_file()
    except OSError:  # no name that a folder can have
        return False


def write_header(folder: Path, header: StoreHeader) -> None:
    """Write `store.json` at once or not at all. Raises StorageWriteError."""
    write_document(folder / HEADER_FILE, _HEADER.dump_python(header, mode="json"))


def read_header(folder: Path) -> StoreHeader:
    """Return what `store.json` says. Raises CorruptFileError, FormatVersionError."""
    path = folder / HEADER_FILE
    fields = read_document(path)
    if fields.get("store_format") != STORE_FORMAT:
        raise FormatVersionError(
            f"{path} has store format {fields.get('store_format')!r}, this Wayfare reads "
            f"{STORE_FORMAT}; bake it again, into another folder."
        )
    try:
        header = _HEADER.validate_python(fields)
    except ValidationError as error:
        raise CorruptFileError(f"{path}: {error}") from error
    if fault := _find_fault(header):
        raise CorruptFileError(f"{path}: {fault}.")
    return header


def _find_fault(header: StoreHeader) -> str:
    """Return what can't be so, or nothing."""
    for number, output in enumerate(header.outputs):
        if not output.name.isidentifier():
            return f"output {output.name!r} is no name of a port"
        if not _is_dtype(output.dtype):
            return f"outputs[{number}].dtype is {output.dtype!r}; it must be a dtype of NumPy's"
        if any(size < 0 for size in output.shape):
            return f"outputs[{number}].shape is {output.shape}; it must be numbers from 0"
    first = 0
    for number, scene in enumerate(header.scenes):
        if scene.first_row != first or scene.rows < 1:
            begin = f"begins at row {scene.first_row} and has {scene.rows}"
            return f"scenes[{number}] {begin}; it must begin at {first} and have one at least"
        if not all(0 <= index < len(header.episodes) for index in scene.episodes):
            rule = f"below {len(header.episodes)}, the number of episodes"
            return f"scenes[{number}].episodes is {scene.episodes}; they must be {rule}"
        first = scene.stop_row
    return ""


def _is_dtype(text: str) -> bool:
    try:
        return not np.dtype(text).hasobject
    except (TypeError, ValueError, SyntaxError):
        return False
