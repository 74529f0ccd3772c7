"""A store ends in the same bytes however it was made, and holds what its simulator shows."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.deadline import HANG_SECONDS, wait_until

KEPT = ("--outputs", "rgb,depth,far")


def bake(wayfare: Any, out: Path, *arguments: str, status: int = 0) -> dict[str, Any]:
    answer = wayfare.run("bake", "env_gallery", "--out", str(out), *KEPT, "--json", *arguments)
    assert answer.status == status, answer.err
    return answer.document if answer.out else {"err": answer.err}


def hash_files(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def finished_rows(folder: Path) -> int:
    path = folder / "finished.npy"
    return int(np.load(path).sum()) if (folder / "store.json").exists() else 0


def held(folder: Path) -> tuple[str, ...]:
    """Return options by which a copy holds on after 60 views while the folder says so: in its
    second scene, however slow or quick a machine is."""
    return ("--set", f"env_gallery.hold={folder / 'hold'}", "--set", "env_gallery.hold_after=60")


def start_and_hold(wayfare: Any, out: Path, count: int) -> subprocess.Popen[str]:
    """Start to fill a store; return once so many rows are finished, and hold it there."""
    (out.parent / "hold").touch()
    options = (*KEPT, *held(out.parent))
    process: subprocess.Popen[str] = wayfare.start(
        "bake", "env_gallery", "--out", str(out), *options
    )
    wait_until(lambda: finished_rows(out) >= count)
    return process


def let_go(folder: Path) -> None:
    (folder / "hold").unlink()


def test_the_number_of_workers_changes_no_byte(wayfare: Any, tmp_path: Path) -> None:
    one = bake(wayfare, tmp_path / "one")
    three = bake(wayfare, tmp_path / "three", "--workers", "3")
    assert one["rows"] == three["rows"] == 40 + 41 + 42 + 43
    assert one["verification"] == three["verification"]
    assert one["verification"]["rows"] == 32
    assert hash_files(tmp_path / "one") == hash_files(tmp_path / "three")


def test_killed_and_resumed_it_ends_in_the_same_bytes(wayfare: Any, tmp_path: Path) -> None:
    bake(wayfare, tmp_path / "whole", *held(tmp_path))
    killed = tmp_path / "killed"
    for rows in (40, 80):
        process = start_and_hold(wayfare, killed, rows)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=HANG_SECONDS)
    let_go(tmp_path)
    assert 0 < finished_rows(killed) < 166
    resumed = bake(wayfare, killed, *held(tmp_path), "--workers", "2")
    assert resumed["kept"] + resumed["rendered"] == resumed["rows"] == 166
    assert resumed["kept"] > 0
    assert hash_files(killed) == hash_files(tmp_path / "whole")


def test_a_signal_ends_it_in_order_and_a_finished_store_needs_nothing(
    wayfare: Any, tmp_path: Path
) -> None:
    out = tmp_path / "store"
    process = start_and_hold(wayfare, out, 40)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG_SECONDS)
    let_go(tmp_path)
    assert process.returncode == 75
    assert bake(wayfare, out, *held(tmp_path))["kept"] > 0
    before = hash_files(out)
    again = bake(wayfare, out, *held(tmp_path))
    assert (again["rendered"], again["kept"]) == (0, again["rows"])
    assert hash_files(out) == before


def test_a_copy_that_dies_costs_no_row(wayfare: Any, tmp_path: Path) -> None:
    dying = ("--set", f"env_gallery.died={tmp_path / 'died'}", "--set", "env_gallery.die_at=17")
    bake(wayfare, tmp_path / "died_once", *dying)
    assert (tmp_path / "died").exists()
    bake(wayfare, tmp_path / "lived", *dying)
    assert hash_files(tmp_path / "died_once") == hash_files(tmp_path / "lived")


def test_what_an_author_raises_ends_it_and_names_scene_and_pose(
    wayfare: Any, tmp_path: Path
) -> None:
    failing = ("--set", "env_gallery.fail_at=39")
    err = bake(wayfare, tmp_path / "store", *failing, status=3)["err"]
    assert "scene 'hall 0' (episode 0" in err
    assert "the lamp went out" in err


def test_a_renderer_that_remembers_is_found_out(wayfare: Any, tmp_path: Path) -> None:
    drifting = ("--set", "env_gallery.drift=1")
    found = bake(wayfare, tmp_path / "store", *drifting, status=1)
    assert found["status"] == "different"
    assert len(found["verification"]["different"]) > 16
    store = f"env_pose_lookup.store={tmp_path / 'store'}"
    refused = wayfare.run("eval", "pose_lookup_grid", "--set", store)
    assert refused.status == 2
    assert "rows differed when they were rendered again" in refused.err


def test_episodes_of_a_scene_share_rows_only_if_they_show_the_same(
    wayfare: Any, tmp_path: Path
) -> None:
    by_scene = ("--by", "scene", "--verify", "64")
    found = bake(wayfare, tmp_path / "differ", *by_scene, status=1)
    assert found["scenes"] == 2
    same = ("--set", "env_gallery.rooms_differ=false")
    assert bake(wayfare, tmp_path / "same", *by_scene, *same)["status"] == "done"


def test_a_store_of_another_request_is_refused_naming_what_differs(
    wayfare: Any, tmp_path: Path
) -> None:
    out = tmp_path / "store"
    bake(wayfare, out, "--episodes", "1")
    before = hash_files(out)
    other = ("--episodes", "1", "--set", "env_gallery.size=8", "--node-config", "count=5")
    err = bake(wayfare, out, *other, status=2)["err"]
    assert "size of the nodeset" in err
    assert "configuration of the poses" in err
    assert hash_files(out) == before


def test_poses_come_from_a_file_too(wayfare: Any, tmp_path: Path) -> None:
    poses = np.tile(np.array([0.5, 0, 0, 0, 0, 0, 1.0]), (3, 1))
    poses[:, 2] = range(3)
    np.savez(tmp_path / "poses.npz", **{"hall 0": poses, "hall 1": poses[:1]})
    found = bake(wayfare, tmp_path / "store", "--poses", str(tmp_path / "poses.npz"))
    assert found["rows"] == 3 + 3 + 1 + 1
    assert np.array_equal(np.load(tmp_path / "store" / "poses.npy")[:3], poses)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--outputs", "gold"), "'look' has no output 'gold'"),
        (("--node-config", "count=0"), "there are no poses"),
        (("--set", "env_line.count=1"), "only the configuration of 'env_gallery'"),
    ],
)
def test_what_can_not_be_baked_says_why(
    wayfare: Any, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    assert told in bake(wayfare, tmp_path / "store", *arguments, status=2)["err"]
    assert not (tmp_path / "store").exists()


def test_a_folder_with_something_else_in_it_is_left_alone(wayfare: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert "holds 'notes.txt'" in bake(wayfare, tmp_path, "--episodes", "1", status=2)["err"]
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "runs") == ["notes.txt"]


def test_a_damaged_row_is_found_out(wayfare: Any, tmp_path: Path) -> None:
    out = tmp_path / "store"
    bake(wayfare, out, "--episodes", "1", "--verify", "0")
    depth = np.lib.format.open_memmap(out / "outputs" / "depth.npy", mode="r+")
    depth[7, 0, 0] += 1.0
    depth.flush()
    err = bake(wayfare, out, "--episodes", "1", "--verify", "40", status=2)["err"]
    assert "1 of 40 finished rows are not what was written, row 7 first" in " ".join(err.split())
    assert json.loads((out / "store.json").read_text())["verification"] is None


def test_a_file_that_was_cut_is_refused_and_not_filled_up(wayfare: Any, tmp_path: Path) -> None:
    out = tmp_path / "store"
    bake(wayfare, out, "--episodes", "1")
    rgb = out / "outputs" / "rgb.npy"
    os.truncate(rgb, size := rgb.stat().st_size - 1000)
    err = " ".join(bake(wayfare, out, "--episodes", "1", status=2)["err"].split())
    assert f"is damaged: it has {size} bytes, {size + 1000} are due; bake it again" in err
    assert rgb.stat().st_size == size


def test_a_finished_store_gives_the_earlier_verdict_as_such(wayfare: Any, tmp_path: Path) -> None:
    arguments = ("bake", "env_gallery", "--out", str(tmp_path / "store"), *KEPT, "--episodes", "1")
    first, again = (wayfare.run(*arguments) for _ in range(2))
    assert "already finished" not in first.out
    assert "earlier" not in first.out
    assert "already finished; nothing rendered." in again.out
    assert "What an earlier call found:" in again.out
    assert bake(wayfare, tmp_path / "store", "--episodes", "1")["is_verdict_earlier"] is True


def test_two_processes_do_not_fill_one_store(wayfare: Any, tmp_path: Path) -> None:
    out = tmp_path / "store"
    process = start_and_hold(wayfare, out, 40)
    try:
        refused = bake(wayfare, out, *held(tmp_path), status=2)
        assert "being filled by another process" in refused["err"]
    finally:
        process.kill()
        process.communicate(timeout=HANG_SECONDS)
