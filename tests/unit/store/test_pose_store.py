"""A row counts once its data is on the disk, and a store's files say all there is to know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.nodesets.pose_files import make_header, make_poses

from wayfare.store.errors import CorruptFileError, RunLockedError, StorageWriteError
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
