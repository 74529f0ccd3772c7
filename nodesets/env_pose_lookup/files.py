"""Open the files of a store that `wayfare bake` wrote, and refuse what is not as it was written.

Knows nothing of scenes, episodes or ports.
"""

from __future__ import annotations

import json
from pathlib import Path
from tokenize import TokenError
from typing import Any, Mapping

import numpy as np

from nodeset import UnavailableError
from nodeset.digest import digest_value, hash_document

from .header import HeaderError, check_header

FORMAT = 1
STORE_FORMAT = 2
DIGEST_BYTES = 16
POSE_SIZE = 7
BAKE_AGAIN = "bake it again, into another folder"
_BAKE = "`wayfare bake` writes one"


def read_header(folder: Path) -> Mapping[str, Any]:
    """Return what `store.json` says of a finished store. Raises UnavailableError."""
    path = folder / "store.json"
    try:
        header: dict[str, Any] = dict(json.loads(path.read_text(encoding="utf-8")))
        versions = (header["format"], header.get("store_format"))
        is_finished = header["is_finished"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnavailableError(f"{folder} is no store of poses ({error!r}); {_BAKE}") from error
    if versions != (FORMAT, STORE_FORMAT):
        raise UnavailableError(
            f"{path} has the format {versions}; this nodeset reads {(FORMAT, STORE_FORMAT)}; "
            f"{BAKE_AGAIN}"
        )
    if header.pop("checksum", None) != hash_document(header):
        raise UnavailableError(
            f"{path} is damaged: its checksum is not that of what it holds; {BAKE_AGAIN}"
        )
    if is_finished is False:
        raise UnavailableError(f"store {folder} is not finished; the command that began it goes on")
    try:
        check_header(header)
    except HeaderError as error:
        raise UnavailableError(f"{path} is damaged: {error}; {BAKE_AGAIN}") from error
    _refuse_different(folder, header["verification"])
    return header


class Files:
    """A store's arrays, mapped into memory; those that no row's digest covers are held to a hash.

    A row of the outputs is held to its digest when it is asked for first.
    """

    def __init__(self, folder: Path, header: Mapping[str, Any]) -> None:
        self._folder = folder
        count = sum(scene["rows"] for scene in header["scenes"])
        self.outputs = {
            o["name"]: self._map(f"outputs/{o['name']}", o["dtype"], (count, *o["shape"]))
            for o in header["outputs"]
        }
        self.poses = self._map("poses", "<f8", (count, POSE_SIZE))
        self.digests = self._map("digests", "|u1", (count, DIGEST_BYTES))
        self._refuse_other("poses", self.poses, header["poses_hash"])
        self._refuse_other("digests", self.digests, header["digests_hash"])
        if not np.all(self._map("finished", "|u1", (count,)) == 1):
            raise self._damage("finished", "not all rows are finished, which store.json says")
        self._is_whole = bytearray(count)

    def check(self, first: int, stop: int) -> None:
        """Hold rows to their digests, each once. Raises ValueError for one that was changed."""
        if 0 not in self._is_whole[first:stop]:
            return
        for row in range(first, stop):
            values = {name: np.asarray(array[row]) for name, array in self.outputs.items()}
            if digest_value(values) != self.digests[row].tobytes():
                raise ValueError(
                    f"store {self._folder} is damaged: row {row} of its outputs "
                    f"({', '.join(self.outputs)}) is not what was written; {BAKE_AGAIN}"
                )
            self._is_whole[row] = 1

    def _map(self, name: str, dtype: str, shape: tuple[int, ...]) -> Any:
        path = self._folder / f"{name}.npy"
        try:
            offset, found_shape, found = _read_head(path)
            size = path.stat().st_size
        except (OSError, ValueError, TypeError, SyntaxError, TokenError) as error:
            raise self._damage(name, f"no array of a store ({error})") from error
        if (found_shape, found) != (shape, np.dtype(dtype)):
            held = f"it holds {found_shape} of {found.str}"
            raise self._damage(name, f"{held}, the store has {shape} of {dtype} there")
        due = offset + int(np.prod(shape, dtype=np.int64)) * found.itemsize
        if size != due:
            raise self._damage(name, f"it has {size} bytes, {due} are due")
        mapped = np.load(str(path), mmap_mode="r", allow_pickle=False)
        # As a plain array: an index into a memmap makes an object that costs a call its time.
        return np.asarray(mapped).view(np.ndarray)

    def _refuse_other(self, name: str, array: Any, due: str) -> None:
        if digest_value(array).hex() != due:
            raise self._damage(name, "it does not hold what was written, by the hash in store.json")

    def _damage(self, name: str, what: str) -> UnavailableError:
        path = self._folder / f"{name}.npy"
        return UnavailableError(f"{path} is damaged: {what}; {BAKE_AGAIN}")


def _read_head(path: Path) -> tuple[int, tuple[int, ...], np.dtype[Any]]:
    """Return where the data of a file begins, its shape and its dtype."""
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"version {version} of NumPy's format")
        shape, is_transposed, dtype = np.lib.format.read_array_header_1_0(file)
        if is_transposed:
            raise ValueError("its rows are not stored one after the other")
        return file.tell(), shape, dtype


def _refuse_different(folder: Path, verification: Mapping[str, Any] | None) -> None:
    different = (verification or {}).get("different")
    if different:
        raise UnavailableError(
            f"store {folder} is not what its simulator shows: {len(different)} rows differed when "
            f"they were rendered again, row {different[0]} first"
        )
