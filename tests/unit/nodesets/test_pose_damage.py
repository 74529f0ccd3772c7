"""A store that is not what was baked is refused at opening, or at the first row that is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.nodesets.pose_files import make_poses, write_store

from nodeset import BatchContext, Context, EpisodeContext, UnavailableError
from nodeset.digest import hash_document
from nodeset.loading import load_nodeset
from wayfare.store.document import read_document, write_document

POSES = make_poses((0, 0, 0), (0, 0, 90), (1, 0, 0))
DEPTH = np.random.default_rng(1).random((3, 4, 5), np.float32)
F = np.arange(3) / 3
Spoil = Callable[[Path], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    outputs = {"f": ("FLOAT", F), "depth": ("DEPTH", DEPTH)}
    return write_store(tmp_path / "store", {"hall": POSES}, outputs)


@pytest.fixture
def open_store(folder: Path, repo_root: Path) -> Callable[[], Callable[[int], Any]]:
    def open_store() -> Callable[[int], Any]:
        path = str(repo_root / "nodesets" / "env_pose_lookup")
        env = load_nodeset(path, config={"store": str(folder)})

        def observe(row: int) -> Any:
            context = BatchContext({}, [Context({}, EpisodeContext(0, ""))])
            return env.tools["observe"].forward({"pose": POSES[[row]]}, context)

        return observe

    return open_store


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"more")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def widen(path: Path) -> None:
    np.save(path, np.load(path).astype(np.complex128))


def drop_a_row(path: Path) -> None:
    np.save(path, np.load(path)[:-1])


FILES = ("outputs/f", "outputs/depth", "poses", "finished", "digests")


@pytest.mark.parametrize("spoil", [Path.unlink, cut, lengthen, empty, widen, drop_a_row])
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_as_it_is_due_is_refused(
    folder: Path, open_store: Any, name: str, spoil: Spoil
) -> None:
    spoil(folder / f"{name}.npy")

    with pytest.raises(UnavailableError, match=rf"{name}\.npy is damaged: .*; bake it again"):
        open_store()


@pytest.mark.parametrize("name", ["poses", "finished", "digests"])
def test_a_changed_value_is_refused_where_no_row_covers_it(
    folder: Path, open_store: Any, name: str
) -> None:
    array = np.load(folder / f"{name}.npy")
    array.reshape(-1)[-1] += 1
    np.save(folder / f"{name}.npy", array)

    with pytest.raises(UnavailableError, match=rf"{name}\.npy is damaged"):
        open_store()


@pytest.mark.parametrize("name", ["f", "depth"])
def test_a_changed_row_is_an_error_and_the_others_are_served(
    folder: Path, open_store: Any, name: str
) -> None:
    path = folder / "outputs" / f"{name}.npy"
    array = np.load(path)
    np.save(path, array[[0, 2, 1]])
    observe = open_store()

    assert observe(0)["f"] == [0.0]
    for row in (1, 2, 1):
        said = rf"store {folder} is damaged: row {row} of its outputs \(f, depth\).*bake it again"
        with pytest.raises(ValueError, match=said):
            observe(row)


def reword(path: Path) -> None:
    path.write_text(path.read_text().replace('"hall"', '"mall"'))


def drop_checksum(path: Path) -> None:
    fields = json.loads(path.read_text())
    del fields["checksum"]
    path.write_text(json.dumps(fields))


@pytest.mark.parametrize("spoil", [reword, drop_checksum])
def test_a_header_without_its_checksum_is_refused(
    folder: Path, open_store: Any, spoil: Spoil
) -> None:
    spoil(folder / "store.json")

    with pytest.raises(UnavailableError, match=r"store\.json is damaged: its checksum"):
        open_store()


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "nothing"])
def test_what_is_no_header_is_no_store(folder: Path, open_store: Any, text: str) -> None:
    (folder / "store.json").write_text(text)

    with pytest.raises(UnavailableError, match="is no store of poses"):
        open_store()


def point_elsewhere(fields: dict[str, Any]) -> None:
    fields["outputs"][0]["name"] = "../../b0/outputs/rgb"


def make_older(fields: dict[str, Any]) -> None:
    del fields["store_format"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (point_elsewhere, r"outputs\[0\].name is '../../b0/outputs/rgb'; it must be the name"),
        (make_older, r"format \(1, None\).* bake it again"),
    ],
)
def test_a_sealed_header_may_still_be_refused(
    folder: Path, open_store: Any, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    fields = read_document(folder / "store.json")
    change(fields)
    write_document(folder / "store.json", fields)

    with pytest.raises(UnavailableError, match=said):
        open_store()


def test_a_file_that_was_cut_is_refused_with_both_sizes(folder: Path, open_store: Any) -> None:
    cut(folder / "outputs" / "depth.npy")

    with pytest.raises(UnavailableError, match="it has 367 bytes, 368 are due"):
        open_store()


ODD = ("x", "", -1, 1.5, True, float("nan"), float("inf"), 10**30, [], [None], {}, {"a": 1}, None)
TOP = (
    "source",
    "nodeset",
    "request",
    "versions",
    "pose_frame",
    "split",
    "episodes",
    "scenes",
    "poses_hash",
    "digests_hash",
    "outputs",
    "is_finished",
    "verification",
)
INNER = {
    "episodes": ("id", "scene_id", "group", "step_budget", "info"),
    "scenes": ("scene_id", "episodes", "first_row", "rows"),
    "outputs": ("name", "wire_type", "description", "dtype", "shape"),
}
FIELDS = [(name,) for name in TOP] + [
    (name, 0, inner) for name, inners in INNER.items() for inner in inners
]


def reseal(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Write the header with a change, under the checksum that is then due."""
    path = folder / "store.json"
    fields = json.loads(path.read_text())
    del fields["checksum"]
    change(fields)
    path.write_text(json.dumps({**fields, "checksum": hash_document(fields)}))


def put(folder: Path, place: tuple[Any, ...], value: Any) -> None:
    reseal(folder, lambda fields: holder_of(fields, place).update({place[-1]: value}))


def holder_of(fields: Any, place: tuple[Any, ...]) -> Any:
    for part in place[:-1]:
        fields = fields[part]
    return fields


@pytest.mark.parametrize("place", FIELDS, ids=lambda place: str(place[-1]))
def test_a_field_that_is_missing_is_refused_by_its_name(
    folder: Path, open_store: Any, place: tuple[Any, ...]
) -> None:
    reseal(folder, lambda fields: holder_of(fields, place).pop(place[-1]))

    with pytest.raises(UnavailableError, match=place[-1]):
        open_store()


@pytest.mark.parametrize("place", FIELDS, ids=lambda place: str(place[-1]))
def test_a_field_of_another_kind_or_range_is_no_bare_error(
    folder: Path, open_store: Any, place: tuple[Any, ...]
) -> None:
    whole = (folder / "store.json").read_text()
    for value in ODD:
        (folder / "store.json").write_text(whole)
        put(folder, place, value)
        with suppress(UnavailableError):  # some of them some fields may be
            open_store()(0)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("outputs", 0, "dtype"), "O", r"outputs\[0\]\.dtype is 'O'; it must be a dtype"),
        (("outputs", 0, "shape"), [2], r"outputs\[0\]\.shape is \[2\]; it must be 0 long"),
        (("outputs", 1, "name"), "f", r"outputs\[1\]\.name is 'f'; it must be another"),
        (("scenes", 0, "first_row"), 1, r"scenes\[0\]\.first_row is 1; it must be 0"),
        (("scenes", 0, "rows"), 0, r"scenes\[0\]\.rows is 0; it must be a whole number from 1"),
        (("scenes", 0, "episodes"), [1], r"scenes\[0\]\.episodes is \[1\]; it must be below 1"),
        (("scenes", 0, "episodes"), [], r"episodes\[0\] is in 0 scenes; it must be in one"),
        (("scenes", 0, "episodes"), [0, 0], r"episodes\[0\] is in 2 scenes"),
        (("digests_hash",), "0" * 31, "digests_hash is .*; it must be 32 hexadecimal digits"),
    ],
)
def test_a_field_that_does_not_fit_the_others_is_refused(
    folder: Path, open_store: Any, place: tuple[Any, ...], value: Any, said: str
) -> None:
    put(folder, place, value)

    with pytest.raises(UnavailableError, match=rf"store\.json is damaged: {said}"):
        open_store()
