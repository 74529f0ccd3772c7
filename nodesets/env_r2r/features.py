"""Look up what was made of the 36 views of each viewpoint beforehand: features, or images.

Knows nothing of how they were made. Arrays that lie uncompressed in their file are mapped into
memory, so that only the rows that are asked for are ever read.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from nodeset import UnavailableError

from .view import VIEWS

_CHUNK_BYTES = 1 << 20
HDF5_SUFFIXES = (".hdf5", ".h5")
_LOCAL_HEADER = struct.Struct("<26xHH")
"""What stands before a member of a zip file: the lengths of its name and of its extra field."""


class Archive(Protocol):
    """A file of named arrays."""

    def find(self, name: str) -> np.ndarray | None:
        """Return the array of that name, if there is one."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class FeatureStore:
    """A file with one array (36, ...) per viewpoint, called `<scan>_<viewpoint>`.

    `.npz`, or HDF5 with a dataset per viewpoint. Views are ordered as the environment's: 12 * row +
    heading index, row 0 looks down. `rank` is that of an array: 2 for features (36, D), 4 for
    images (36, H, W, 3). `setting` is what named the file.
    """

    def __init__(self, path: Path, *, rank: int = 2, setting: str = "features") -> None:
        if not path.is_file():
            raise UnavailableError(
                f"no store at {path}, named by the setting {setting!r}; it must be an .npz or HDF5 "
                f"file with one array (36, ...) per '<scan>_<viewpoint>'"
            )
        self.path = path
        self._rank = rank
        self._archive: Archive = (
            Hdf5Archive(path) if path.suffix in HDF5_SUFFIXES else NpzArchive(path)
        )

    def panorama(self, scan: str, viewpoint: str) -> np.ndarray:
        """Return a viewpoint's array; raises KeyError, ValueError."""
        name = f"{scan}_{viewpoint}"
        found = self._archive.find(name)
        if found is None:
            raise KeyError(f"store {self.path} has no array {name!r}")
        if found.ndim != self._rank or found.shape[0] != VIEWS:
            due = "(36, D)" if self._rank == 2 else "(36, H, W, 3)"
            raise ValueError(
                f"store {self.path} has shape {found.shape} at {name!r}; it must be {due}: one row "
                f"per view"
            )
        return found

    def close(self) -> None:
        """Close the file."""
        self._archive.close()


class NpzArchive:
    """An `.npz` file; a compressed one is read an array at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with zipfile.ZipFile(path) as archive:
                self._members = {member.filename: member for member in archive.infolist()}
        except (zipfile.BadZipFile, OSError) as error:
            raise UnavailableError(
                f"store {str(path)!r} cannot be read ({error}); it must be a whole .npz file, as "
                f"numpy.savez writes it (.hdf5 or .h5 for HDF5): write or copy it again"
            ) from error
        self._bytes = np.memmap(path, np.uint8, "r")
        self._known: dict[str, np.ndarray] = {}

    def find(self, name: str) -> np.ndarray | None:
        """Return the array of that name, if there is one."""
        member = self._members.get(f"{name}.npy")
        if member is None:
            return None
        if member.compress_type != zipfile.ZIP_STORED:
            return self._read(member)
        if name not in self._known:
            self._verify(member)
            self._known[name] = self._map(member)
        return self._known[name]

    def close(self) -> None:
        """Forget what was mapped; no file is held open."""
        self._known.clear()

    def _read(self, member: zipfile.ZipInfo) -> np.ndarray:
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(member) as file:
                read: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
                return read
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
            raise self._damage(member) from error

    def _verify(self, member: zipfile.ZipInfo) -> None:
        """Hold a member against its checksum when it is first asked for: a map checks nothing.

        At opening, all of a store would be read that may be larger than memory.
        """
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(member) as file:
                while file.read(_CHUNK_BYTES):
                    pass
        except (zipfile.BadZipFile, EOFError) as error:
            raise self._damage(member) from error

    def _damage(self, member: zipfile.ZipInfo) -> UnavailableError:
        return UnavailableError(
            f"store {str(self._path)!r} is damaged at {member.filename!r}: its bytes are not those "
            f"of its checksum {member.CRC:08x}, or no array; write or copy the file again"
        )

    def _map(self, member: zipfile.ZipInfo) -> np.ndarray:
        with self._path.open("rb") as file:
            file.seek(member.header_offset)
            file.seek(sum(_LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))), 1)
            is_first = np.lib.format.read_magic(file) == (1, 0)
            form = np.lib.format
            read = form.read_array_header_1_0 if is_first else form.read_array_header_2_0
            shape, is_fortran, dtype = read(file)
            order: Any = "F" if is_fortran else "C"
            return np.ndarray(shape, dtype, self._bytes, file.tell(), order=order)


class Hdf5Archive:
    """An HDF5 file; datasets in chunks, which may be compressed, are read one at a time."""

    def __init__(self, path: Path) -> None:
        try:
            import h5py  # noqa: PLC0415  optional: only who has such a file needs it
        except ImportError as error:
            raise UnavailableError(
                f"{path} needs the package 'h5py', which this interpreter lacks ({error}); "
                f"install it, or write the arrays as .npz"
            ) from error
        try:
            self._file = h5py.File(path, "r")
        except OSError as error:
            raise UnavailableError(
                f"store {str(path)!r} cannot be read ({error}); it must be a whole HDF5 file: "
                f"write or copy it again"
            ) from error
        self._bytes = np.memmap(path, np.uint8, "r")
        self._known: dict[str, np.ndarray] = {}

    def find(self, name: str) -> np.ndarray | None:
        """Return the array of that name, if there is one."""
        if name in self._known:
            return self._known[name]
        if name not in self._file:
            return None
        dataset = self._file[name]
        offset = dataset.id.get_offset()
        if offset is None:
            read: np.ndarray = dataset[()]
            return read
        mapped = np.ndarray(dataset.shape, dataset.dtype, self._bytes, offset)
        self._known[name] = mapped
        return mapped

    def close(self) -> None:
        """Close the file."""
        self._file.close()
