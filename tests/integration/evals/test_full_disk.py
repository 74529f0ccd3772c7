"""A run on a disk without room waits for it, loses nothing, and can be ended meanwhile."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.deadline import HANG_SECONDS

from wayfare.store.frames import read_frames

SIZE = 400 * 1024
ROOM = 70 * 1024
"""What is left for the run at first; it needs more."""
EPISODES = ("--set", "env_drift.count=200", "--workers", "3")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a small file system of its own, all but full; `ballast` in it can be removed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "wayfare-test", str(folder)]
    made = subprocess.run(mount, capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no file system of its own can be mounted here: {made.stderr.strip()}")
    try:
        (folder / "ballast").write_bytes(bytes(SIZE - ROOM))
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def start_until_full(wayfare: Any, disk: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a run and return when it says that the disk is full."""
    process: subprocess.Popen[str] = wayfare.start("eval", *arguments, "--out", str(disk / "runs"))
    assert process.stderr is not None
    for line in process.stderr:
        if "the disk is full" in line:
            return process
    raise AssertionError(f"the run ended with {process.wait()} before the disk was full")


def test_run_waits_for_room_and_goes_on(wayfare: Any, small_disk: Path) -> None:
    process = start_until_full(wayfare, small_disk, "drift", *EPISODES, "--json")
    (folder,) = (small_disk / "runs").iterdir()
    there = len(list(read_frames(folder / "episodes.frames")))
    assert 0 < there < 200
    (small_disk / "ballast").unlink()
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, err
    assert "there is room on the disk again" in err
    undisturbed = wayfare.evaluate("drift", *EPISODES)
    assert f'"digest": "{undisturbed["digest"]}"' in out


def test_run_that_waits_for_room_ends_cleanly_and_can_be_resumed(
    wayfare: Any, small_disk: Path
) -> None:
    process = start_until_full(wayfare, small_disk, "drift", *EPISODES, "--json")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 75, err
    assert '"status": "incomplete"' in out
    (folder,) = (small_disk / "runs").iterdir()
    kept = wayfare.show(str(folder))["episodes"]["completed"]
    assert f'"completed": {kept}' in out
    (small_disk / "ballast").unlink()
    answer = wayfare.run("eval", "--resume", str(folder), "--json")
    assert answer.status == 0, answer.err
    assert answer.document["episodes"]["completed"] == 200
    assert answer.document["digest"] == wayfare.evaluate("drift", *EPISODES)["digest"]


@pytest.mark.parametrize("mode", ["frames", "full"])
def test_recordings_wait_for_room_too(wayfare: Any, small_disk: Path, mode: str) -> None:
    if mode == "frames":
        pytest.importorskip("av", reason="pip install 'wayfare[video]' brings it")
    camera = ("camera", "--set", "env_camera.count=200", "--record", mode)
    process = start_until_full(wayfare, small_disk, *camera, "--workers", "2", "--json")
    subprocess.run(["mount", "-o", f"remount,size={100 * SIZE}", str(small_disk)], check=True)
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, err
    assert '"completed": 200' in out
    (folder,) = (small_disk / "runs").iterdir()
    if mode == "full":
        assert len(list((folder / "calls").glob("*.frames"))) == 200


def test_a_store_takes_its_room_before_the_first_row(wayfare: Any, small_disk: Path) -> None:
    command = ("bake", "env_gallery", "--out", str(small_disk / "store"), "--outputs", "rgb,depth")
    refused = wayfare.run(*command)
    assert refused.status == 2
    assert "MiB can't be made there: No space left on device" in refused.err
    (small_disk / "ballast").unlink()
    assert wayfare.run(*command).status == 0
