"""A program turns a simulator into data by the same function as the command."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.deadline import HANG_SECONDS

import wayfare
from wayfare.evals.errors import ResumeRefusedError, SetupError
from wayfare.fleet.errors import FleetSetupError

WORKSPACE = Path(__file__).resolve().parents[1] / "workspace"
KEPT = ("rgb", "depth", "far")
ROWS = 40 + 41 + 42 + 43


def bake(out: Path, **options: Any) -> wayfare.Bake:
    given = {"outputs": KEPT, "workspaces": [WORKSPACE], **options}
    return wayfare.bake("env_gallery", out=out, **given)


def hash_files(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.fixture
def command(request: pytest.FixtureRequest) -> Any:
    """Give the command, whose fixture has the name of the package."""
    return request.getfixturevalue("wayfare")


def test_a_program_and_the_command_make_the_same_store(command: Any, tmp_path: Path) -> None:
    baked = bake(
        tmp_path / "program",
        config={"size": 8},
        node_config={"count": 5},
        episodes=[2, 0],
        workers=2,
        verify=7,
    )
    asked = ("--set", "env_gallery.size=8", "--node-config", "count=5", "--episodes", "2,0,")
    kept = ("--outputs", ",".join(KEPT), "--verify", "7")
    answer = command.run("bake", "env_gallery", "--out", str(tmp_path / "c"), *kept, *asked)

    assert answer.status == 0, answer.err
    assert baked.rows == 5 + 7
    assert hash_files(baked.folder) == hash_files(tmp_path / "c")


def test_a_bake_says_what_it_came_to(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    around = wayfare.Surroundings(progress=lambda *rows: told.append(rows))

    first = bake(tmp_path / "store", workers=2, surroundings=around)
    again = bake(tmp_path / "store")

    assert (first.status, first.rows, first.rendered, first.kept) == ("done", ROWS, ROWS, 0)
    assert (first.verified, first.different) == (32, ())
    assert (again.rendered, again.kept, again.header) == (0, ROWS, first.header)
    assert [output.name for output in first.header.outputs] == list(KEPT)
    assert repr(again) == f"<Bake {tmp_path / 'store'}: done, {ROWS} of {ROWS} rows, 32 verified>"
    assert told == sorted(told)
    assert told[-1] == (ROWS, ROWS)


def test_poses_may_come_from_a_file_and_rows_that_differ_are_named(tmp_path: Path) -> None:
    poses = np.tile(np.array([0.5, 0, 0, 0, 0, 0, 1.0]), (3, 1))
    np.save(tmp_path / "poses.npy", poses)

    drifting = bake(
        tmp_path / "store", poses=tmp_path / "poses.npy", episodes=1, config={"drift": 1}
    )

    assert (drifting.status, drifting.rows, drifting.verified) == ("different", 3, 3)
    assert drifting.different
    assert set(drifting.different) <= {0, 1, 2}


async def test_where_a_loop_runs_it_is_awaited(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="use `await bake_async"):
        wayfare.bake("env_gallery", out=tmp_path / "store")
    options: dict[str, Any] = {"outputs": KEPT, "workspaces": [WORKSPACE], "episodes": 1}
    baking = wayfare.bake_async("env_gallery", out=tmp_path / "store", **options)
    assert (await asyncio.wait_for(baking, HANG_SECONDS)).status == "done"


def test_nodesets_can_render_in_the_programs_process(tmp_path: Path) -> None:
    inside = wayfare.Surroundings(in_process=True)
    bake(tmp_path / "inside", surroundings=inside)
    bake(tmp_path / "outside")
    ours, theirs = hash_files(tmp_path / "inside"), hash_files(tmp_path / "outside")
    # Provenance names the packages of the interpreter, of which this process has loaded more.
    assert {name for name in ours if ours[name] != theirs[name]} <= {"store.json"}
    assert ours.keys() == theirs.keys()


def test_a_store_of_another_request_is_refused(tmp_path: Path) -> None:
    bake(tmp_path / "store", episodes=1)
    with pytest.raises(ResumeRefusedError, match="size of the nodeset"):
        bake(tmp_path / "store", episodes=1, config={"size": 8})


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"workers": 0}, SetupError, "workers is 0"),
        ({"retries": -1}, SetupError, "retries is -1"),
        ({"verify": -1}, SetupError, "verify is -1"),
        ({"by": "room"}, SetupError, "by is 'room'; it must be one of episode, scene"),
        ({"outputs": "rgb"}, TypeError, "give a list of names"),
        ({"episodes": []}, SetupError, "selects nothing"),
        ({"workspaces": []}, FleetSetupError, "env_gallery"),
    ],
)
def test_what_can_not_be_baked_is_said_before_there_is_a_store(
    tmp_path: Path, options: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        bake(tmp_path / "store", **options)
    assert not (tmp_path / "store").exists()
