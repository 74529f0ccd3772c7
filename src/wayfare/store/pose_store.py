"""Keep what a simulator showed from many poses: a file per output, and which rows are finished.

Knows nothing of simulators. `nodesets/env_pose_lookup` reads the same files by itself, since it may
run in an interpreter without this package.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from nodeset.digest import digest_value
from wayfare.store.document import sync_folder
from wayfare.store.errors import CorruptFileError, RunLockedError, StorageWriteError
from wayfare.store.pose_file import BAKE_AGAIN, PoseFile
from wayfare.store.pose_header import (
    DIGEST_BYTES,
    HEADER_FILE,
    SceneRows,
    StoreHeader,
    Verification,
    read_header,
    write_header,
)

POSES_FILE = "poses.npy"
FINISHED_FILE = "finished.npy"
DIGESTS_FILE = "digests.npy"
OUTPUTS_FOLDER = "outputs"
POSE_SIZE = 7

Array = npt.NDArray[Any]
Row = Mapping[str, Array]
"""What one pose showed: an array per output, of rank 0 for a number."""


class PoseStore:
    """A store that is being filled; one process at a time has it open.

    A row's flag is set after its data is on the disk, so that whatever ends the process, a row with
    a flag is whole.
    """

    def __init__(self, folder: Path, header: StoreHeader) -> None:
        self.folder = folder
        self.header = header
        self._lock = _lock(folder)
        try:
            rows, files = header.rows, _list_files(folder, header)
            for file in files.values():
                file.check()
            self.poses: Array = files[POSES_FILE].open("r")
            self._finished = files[FINISHED_FILE].open("r+")
            self._digests = files[DIGESTS_FILE].open("r+")
            self._outputs = {o.name: files[o.name].open("r+") for o in header.outputs}
            if header.is_finished and self.finished < rows:
                raise CorruptFileError(
                    f"{folder / FINISHED_FILE} is damaged: it has {self.finished} of {rows} rows "
                    f"as finished, {HEADER_FILE} has all; {BAKE_AGAIN}."
                )
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, folder: Path, header: StoreHeader, poses: Array) -> Self:
        """Make a store of which no row is finished, all its room taken on the disk.

        Raises StorageWriteError where the folder holds something else, or the disk has no room.
        """
        with _naming_refusals(folder, header.bytes):
            folder.mkdir(parents=True, exist_ok=True)
            _refuse_strangers(folder)
            (folder / OUTPUTS_FOLDER).mkdir(exist_ok=True)
            files = _list_files(folder, header)
            for file in files.values():
                file.allocate()
            written = files[POSES_FILE].open("r+")
            written[:] = poses
            written.flush()
            sync_folder(folder)
        write_header(folder, header)
        return cls(folder, header)

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        """Open a store to go on with it. Raises CorruptFileError, RunLockedError."""
        return cls(folder, read_header(folder))

    def list_missing(self, scene: SceneRows) -> list[int]:
        """Return the scene's rows that are not finished."""
        done = self._finished[scene.first_row : scene.stop_row]
        return [scene.first_row + int(offset) for offset in np.flatnonzero(done == 0)]

    @property
    def finished(self) -> int:
        """Return how many rows are finished."""
        return int(np.count_nonzero(self._finished))

    def put(self, row: int, values: Row) -> None:
        """Write a row's data, which counts after `commit`."""
        for name, value in values.items():
            self._outputs[name][row] = value
        digest = np.frombuffer(digest_row(values), np.uint8)
        self._digests[row] = digest

    def commit(self, rows: Sequence[int]) -> None:
        """Wait until the disk has the rows, then mark them as finished."""
        if not rows:
            return
        for array in (*self._outputs.values(), self._digests):
            array.flush()
        self._finished[list(rows)] = 1
        self._finished.flush()

    def read(self, row: int) -> tuple[dict[str, Array], bytes]:
        """Return a finished row and its digest. Raises CorruptFileError where they don't agree."""
        self._refuse_damaged_rows([row])
        return self._values(row), self._digest(row)

    def _values(self, row: int) -> dict[str, Array]:
        return {name: np.array(array[row]) for name, array in self._outputs.items()}

    def _digest(self, row: int) -> bytes:
        digest: bytes = self._digests[row].tobytes()
        return digest

    def refuse_damage(self) -> None:
        """Hold all that is finished to what was written. Raises CorruptFileError.

        Reads every finished row once.
        """
        header = self.header
        hashes = [(POSES_FILE, self.poses, header.poses_hash)]
        if header.is_finished:
            hashes.append((DIGESTS_FILE, self._digests, header.digests_hash))
        for name, array, due in hashes:
            if _hash(array) != due:
                raise CorruptFileError(
                    f"{self.folder / name} is damaged: it does not hold what was written, by the "
                    f"hash in {HEADER_FILE}; {BAKE_AGAIN}."
                )
        self._refuse_damaged_rows(np.flatnonzero(self._finished).tolist())

    def _refuse_damaged_rows(self, rows: Sequence[int]) -> None:
        """Hold rows to their own digests. Raises CorruptFileError."""
        damaged = [row for row in rows if digest_row(self._values(row)) != self._digest(row)]
        if damaged:
            raise CorruptFileError(
                f"store {self.folder} is damaged: {len(damaged)} of {len(rows)} finished rows are "
                f"not what was written, row {damaged[0]} first (outputs "
                f"{', '.join(self._outputs)}); {BAKE_AGAIN}."
            )

    def finish(self, verification: Verification | None) -> StoreHeader:
        """Write down that every row is finished, and what came of looking at them again."""
        header = replace(
            self.header,
            is_finished=True,
            verification=verification,
            digests_hash=_hash(self._digests),
        )
        if header != self.header:
            write_header(self.folder, header)
        self.header = header
        return header

    def close(self) -> None:
        """Let others open it."""
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def digest_row(values: Row) -> bytes:
    """Return the digest (16 bytes) of what one pose showed."""
    return digest_value(dict(values))


def _hash(array: Array) -> str:
    return digest_value(np.asarray(array).view(np.ndarray)).hex()


def _list_files(folder: Path, header: StoreHeader) -> dict[str, PoseFile]:
    """Return what each of a store's arrays must be, an output's by its name."""
    rows, byte = header.rows, np.dtype(np.uint8)
    outputs = {
        output.name: PoseFile(
            folder / OUTPUTS_FOLDER / f"{output.name}.npy",
            np.dtype(output.dtype),
            (rows, *output.shape),
        )
        for output in header.outputs
    }
    return {
        **outputs,
        DIGESTS_FILE: PoseFile(folder / DIGESTS_FILE, byte, (rows, DIGEST_BYTES)),
        FINISHED_FILE: PoseFile(folder / FINISHED_FILE, byte, (rows,)),
        POSES_FILE: PoseFile(folder / POSES_FILE, np.dtype(np.float64), (rows, POSE_SIZE)),
    }


def _lock(folder: Path) -> int:
    path = folder / FINISHED_FILE
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise CorruptFileError(f"{path} can't be opened: {error.strerror}.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise RunLockedError(
            f"store {folder} is being filled by another process; wait for its end."
        ) from None
    return descriptor


def _refuse_strangers(folder: Path) -> None:
    """Refuse a folder with anything in it but what is left of a store that was being made."""
    own = {POSES_FILE, FINISHED_FILE, DIGESTS_FILE, OUTPUTS_FOLDER}
    others = [path for path in folder.iterdir() if path.name not in own]
    strangers = sorted(path.name for path in others if not path.name.startswith(f".{HEADER_FILE}."))
    if strangers:
        raise StorageWriteError(
            f"{folder}: a store can't be made there: the folder holds {strangers[0]!r}. Name a "
            f"new or an empty folder, or that of a store of the same request.",
            None,
        )


@contextlib.contextmanager
def _naming_refusals(folder: Path, needed_bytes: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        is_file = isinstance(error, FileExistsError | NotADirectoryError)
        reason = "it is no folder" if is_file else error.strerror or str(error)
        raise StorageWriteError(
            f"{folder}: a store of {needed_bytes / 2**20:.1f} MiB can't be made there: {reason}.",
            error.errno,
        ) from error
