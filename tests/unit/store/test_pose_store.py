"""A row counts once its data is on the disk, and a store's files say all there is to know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.unit.nodesets.pose_files import make_header, make_poses, write_store

from wayfare.store.document import read_document, write_document
from wayfare.store.errors import (
    CorruptFileError,
    FormatVersionError,
    RunLockedError,
    StorageWriteError,
)
from wayfare.store.pose_header import read_header
from wayfare.store.pose_store import PoseStore, digest_row

POSES = make_poses((0, 0, 0), (1, 0, 0), (2, 0, 90))
RGB = np.random.default_rng(0).integers(0, 256, (3, 2, 4, 3), np.uint8)
HEADER = make_header({"hall": POSES[:2], "attic": POSES[2:]}, {"rgb": ("IMAGE", RGB)})


def put(store: PoseStore, row: int) -> None:
    store.put(row, {"rgb": RGB[row]})


def test_only_rows_that_were_committed_are_finished(tmp_path: Path) -> None:
    with PoseStore.create(tmp_path / "store", HEADER, POSES) as store:
        put(store, 0)
        put(store, 1)
        store.commit([0])

    with PoseStore.reopen(tmp_path / "store") as store:
        assert store.finished == 1
        assert [store.list_missing(scene) for scene in store.header.scenes] == [[1], [2]]
        values, digest = store.read(0)
    assert np.array_equal(values["rgb"], RGB[0])
    assert digest == digest_row({"rgb": RGB[0]})


def test_the_header_is_read_as_it_was_written(tmp_path: Path) -> None:
    with PoseStore.create(tmp_path / "store", HEADER, POSES):
        assert read_header(tmp_path / "store") == HEADER


def test_only_one_has_a_store_open(tmp_path: Path) -> None:
    filling = PoseStore.create(tmp_path / "store", HEADER, POSES)
    with pytest.raises(RunLockedError, match="being filled by another process"):
        PoseStore.reopen(tmp_path / "store")
    filling.close()
    PoseStore.reopen(tmp_path / "store").close()


def test_what_is_left_of_a_store_that_was_never_made_is_used_anew(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with PoseStore.create(folder, HEADER, POSES) as store:
        put(store, 0)
        store.commit([0])
    (folder / "store.json").unlink()

    with PoseStore.create(folder, HEADER, POSES) as store:
        assert store.finished == 0


@pytest.mark.parametrize("name", ["notes.txt", "store.json"])
def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()

    with pytest.raises(StorageWriteError, match=f"holds '{name}'"):
        PoseStore.create(tmp_path, HEADER, POSES)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store").touch()

    with pytest.raises(StorageWriteError, match="it is no folder"):
        PoseStore.create(tmp_path / "store", HEADER, POSES)


def test_a_damaged_store_says_which_file_it_is(tmp_path: Path) -> None:
    PoseStore.create(tmp_path / "store", HEADER, POSES).close()
    (tmp_path / "store" / "outputs" / "rgb.npy").write_bytes(b"nothing")

    with pytest.raises(CorruptFileError, match=r"rgb\.npy is no array"):
        PoseStore.reopen(tmp_path / "store")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def widen(path: Path) -> None:
    np.save(path, np.load(path).astype(np.int64))


def drop_a_row(path: Path) -> None:
    np.save(path, np.load(path)[:-1])


@pytest.mark.parametrize("spoil", [cut, lengthen, widen, drop_a_row])
@pytest.mark.parametrize("name", ["outputs/rgb", "digests", "finished", "poses"])
def test_a_file_that_is_not_as_it_is_due_is_refused_and_left_alone(
    tmp_path: Path, name: str, spoil: Callable[[Path], None]
) -> None:
    folder = tmp_path / "store"
    PoseStore.create(folder, HEADER, POSES).close()
    path = folder / f"{name}.npy"
    spoil(path)
    before = path.read_bytes()

    with pytest.raises(CorruptFileError, match=rf"{name}\.npy is damaged: it .* bake it again"):
        PoseStore.reopen(folder)
    assert path.read_bytes() == before


def write(folder: Path) -> Path:
    return write_store(folder, {"hall": POSES}, {"rgb": ("IMAGE", RGB)})


def change(path: Path) -> None:
    array = np.lib.format.open_memmap(path, mode="r+")
    array.reshape(-1).view(np.uint8)[-1] ^= 1
    array.flush()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("outputs/rgb", "1 of 3 finished rows are not what was written, row 2 first .*rgb"),
        ("digests", "digests.npy is damaged"),
        ("poses", "poses.npy is damaged"),
    ],
)
def test_a_changed_byte_of_a_finished_store_is_found(tmp_path: Path, name: str, said: str) -> None:
    folder = write(tmp_path / "store")
    with PoseStore.reopen(folder) as store:
        store.refuse_damage()
    change(folder / f"{name}.npy")

    with PoseStore.reopen(folder) as store, pytest.raises(CorruptFileError, match=said):
        store.refuse_damage()


def test_a_row_that_is_damaged_is_not_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "store")

    with PoseStore.reopen(folder) as store:
        change(folder / "outputs" / "rgb.npy")
        store.read(1)
        with pytest.raises(CorruptFileError, match="row 2 first"):
            store.read(2)


def test_a_finished_store_with_rows_that_are_not_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "store")
    change(folder / "finished.npy")

    with pytest.raises(CorruptFileError, match="it has 2 of 3 rows as finished"):
        PoseStore.reopen(folder)


def test_a_store_of_an_older_format_is_to_be_baked_again(tmp_path: Path) -> None:
    path = write(tmp_path / "store") / "store.json"
    fields = read_document(path)
    del fields["store_format"]
    write_document(path, fields)

    with pytest.raises(FormatVersionError, match=r"store format None.*bake it again"):
        read_header(path.parent)


def test_an_output_whose_name_is_a_path_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "store") / "store.json"
    fields = read_document(path)
    fields["outputs"][0]["name"] = "../../other/outputs/rgb"
    write_document(path, fields)

    with pytest.raises(CorruptFileError, match="is no name of a port"):
        read_header(path.parent)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("outputs", "dtype", "nonsense"),
        ("outputs", "dtype", "O"),
        ("outputs", "shape", [-1]),
        ("scenes", "rows", 0),
        ("scenes", "rows", -3),
        ("scenes", "first_row", 1),
        ("scenes", "episodes", [99]),
        ("scenes", "episodes", [-1]),
    ],
)
def test_a_sealed_header_that_can_not_be_so_is_refused(
    tmp_path: Path, name: str, field: str, value: object
) -> None:
    path = write(tmp_path / "store") / "store.json"
    fields = read_document(path)
    fields[name][0][field] = value
    write_document(path, fields)

    with pytest.raises(CorruptFileError, match=rf"store\.json: {name}\[0\]"):
        PoseStore.reopen(path.parent)
