"""Make and open one array of a store of poses, only as what it is due to be.

Knows nothing of what the array's rows mean.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wayfare.store.errors import CorruptFileError

BAKE_AGAIN = "bake it again, into another folder"


@dataclass(frozen=True, slots=True)
class PoseFile:
    """A file of NumPy's format, and the array that it is due to hold."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def allocate(self) -> None:
        """Make a file of zeros whose room the disk has given already.

        Otherwise a full disk would end the process in the middle of a write to mapped memory.
        """
        array = np.lib.format.open_memmap(self.path, mode="w+", dtype=self.dtype, shape=self.shape)
        size = array.offset + array.nbytes
        del array
        with self.path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, size)
            os.fsync(file.fileno())

    def check(self) -> None:
        """Refuse a file that is not as it is due, and change nothing. Raises CorruptFileError.

        Mapping a file that is too short for writing would fill it up with zeros.
        """
        try:
            found = self._read_head()
            size = self.path.stat().st_size
        except (OSError, ValueError) as error:
            raise CorruptFileError(
                f"{self.path} is no array of a pose store: {error}; {BAKE_AGAIN}."
            ) from error
        offset, shape, dtype = found
        if (shape, dtype) != (self.shape, self.dtype):
            raise CorruptFileError(
                f"{self.path} is damaged: it holds {shape} of {dtype.str}, the store has "
                f"{self.shape} of {self.dtype.str} there; {BAKE_AGAIN}."
            )
        due = offset + int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if size != due:
            raise CorruptFileError(
                f"{self.path} is damaged: it has {size} bytes, {due} are due; {BAKE_AGAIN}."
            )

    def open(self, mode: Literal["r", "r+"]) -> np.memmap[Any, Any]:
        """Return the array, mapped into memory. Raises CorruptFileError."""
        try:
            return np.lib.format.open_memmap(self.path, mode=mode)
        except (OSError, ValueError) as error:
            raise CorruptFileError(
                f"{self.path} is no array of a pose store: {error}; {BAKE_AGAIN}."
            ) from error

    def _read_head(self) -> tuple[int, tuple[int, ...], np.dtype[Any]]:
        """Return where the data begins, its shape and its dtype."""
        with self.path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            if version != (1, 0):
                raise ValueError(f"version {version} of NumPy's format")
            shape, is_transposed, dtype = np.lib.format.read_array_header_1_0(file)
            if is_transposed:
                raise ValueError("its rows are not stored one after the other")
            return file.tell(), shape, dtype
