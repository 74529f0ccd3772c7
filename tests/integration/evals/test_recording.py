"""What a run records changes nothing, plays, and costs no memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import pytest
from tests.deadline import HANG_SECONDS

from wayfare.store.recording import VIDEOS_FOLDER
from wayfare.store.recording_videos import VideoRecord
from wayfare.store.run import RunReader

MODES = ("none", "actions", "frames", "full")
MAX_GROWTH_KIB = 12 * 1024
"""What the memory of a process may grow by that holds none of its 70 MiB of frames."""
WORKSPACE = Path(__file__).resolve().parents[2] / "workspace"
TWO_RUNS = """
import sys
from pathlib import Path

import wayfare

workspace, out = sys.argv[1:]
for count in (50, 300):
    run = wayfare.evaluate(
        "camera",
        overrides={"env_camera.count": count, "env_camera.steps": 20},
        record="frames",
        workers=4,
        workspaces=[workspace],
        out=out,
    )
    lines = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    print(sum(1 for _ in run.folder.glob("videos/*/*.mp4")), peak)
"""
"""Prints of each run how many videos it made, and the most KiB that the process has held so far."""


def run(wayfare: Any, *arguments: str, status: int = 0) -> RunReader:
    out = wayfare.evaluate("camera", *arguments, status=status)["out"]
    return RunReader.open(out, Path(out))


def decode(reader: RunReader, video: VideoRecord) -> list[tuple[int, int]]:
    """Return the size of every frame that a player gets to see."""
    with av.open(str(reader.folder / VIDEOS_FOLDER / video.file)) as container:
        return [(frame.width, frame.height) for frame in container.decode(video=0)]


@pytest.mark.parametrize("graph", ["camera", "line"])
def test_recording_changes_no_result(wayfare: Any, graph: str) -> None:
    digests = {
        wayfare.evaluate(graph, "--workers", "3", "--record", mode)["digest"] for mode in MODES
    }
    digests.add(wayfare.evaluate(graph, "--in-process", "--record", "full")["digest"])
    assert len(digests) == 1


def test_actions_are_kept_by_default_for_every_episode(wayfare: Any) -> None:
    reader = run(wayfare, "--workers", "2")

    for record in reader.records():
        found = reader.actions(record.key)
        assert [(action.path, action.turns) for action in found] == [
            ("step", (turn,)) for turn in range(4)
        ]
        ahead = [int(action.value["ahead"]) for action in found]
        assert record.metrics["at"] == record.index + sum(ahead)


def test_videos_of_odd_sizes_play_to_their_last_frame(wayfare: Any) -> None:
    size = ("--set", "env_camera.width=101", "--set", "env_camera.height=67")

    reader = run(wayfare, "--record", "frames", "--workers", "2", *size)

    videos = reader.videos()
    assert [(video.path, video.port, video.frames) for video in videos] == [("look", "rgb", 4)] * 6
    assert all(decode(reader, video) == [(102, 68)] * 4 for video in videos)


def test_a_video_that_fails_leaves_its_episode_completed_and_is_listed(wayfare: Any) -> None:
    reader = run(wayfare, "--record", "frames", "--set", "env_camera.resize_at=2")

    document = wayfare.show(str(reader.folder))
    assert [row["outcome"] for row in document["episodes_table"]] == ["completed"] * 6
    recording = document["recording"]
    assert (recording["mode"], recording["videos"]) == ("frames", 5)
    (failed,) = recording["failed"]
    assert failed["key"] == document["episodes_table"][2]["key"]
    assert "frame 2 is 64x72, but the video began with 64x64" in failed["reason"]
    assert "5 videos, 1 failed" in wayfare.run("show", str(reader.folder)).out


@pytest.mark.parametrize(
    ("only", "indexes"),
    [("successes", [0, 3]), ("failures", [2, 4, 5]), ("errors", [1]), ("every:4", [0, 4])],
)
def test_videos_are_kept_of_the_chosen_episodes_only(
    wayfare: Any, only: str, indexes: Sequence[int]
) -> None:
    options = ("--record", "frames", "--record-only", only, "--set", "env_camera.fail_at=1")

    reader = run(wayfare, *options, status=1)

    by_key = {record.key: record.index for record in reader.records()}
    assert [by_key[video.key] for video in reader.videos()] == list(indexes)
    assert len(list(reader.folder.rglob("*.mp4"))) == len(indexes)
    assert not list(reader.folder.rglob("*.part"))


@pytest.mark.parametrize("mode", ["frames", "full"])
def test_a_repeated_attempt_replaces_the_recording_of_the_failed_one(
    wayfare: Any, tmp_path: Path, mode: str
) -> None:
    dies = ("--set", "env_camera.die_at=2", "--set", f"env_camera.died={tmp_path / 'died'}")

    reader = run(wayfare, "--record", mode, *dies)

    (record,) = [record for record in reader.records() if len(record.attempts) == 2]
    assert len(reader.actions(record.key)) == 4
    if mode == "frames":
        (video,) = [video for video in reader.videos() if video.key == record.key]
        assert decode(reader, video) == [(64, 64)] * 4
    else:
        assert len(reader.calls(record.key).entries) == 13


def test_every_recorded_call_has_the_digest_that_its_copy_made(wayfare: Any) -> None:
    reader = run(wayfare, "--record", "full", "--workers", "2")

    for record in reader.records():
        calls = reader.calls(record.key)
        loaded = [calls.load(entry) for entry in calls.entries]
        digests = {(call.path, call.turns): call.digest for call in loaded}
        assert digests == {(f.path, f.turns): f.digest for f in reader.firings(record.key)}
        assert loaded[-2].inputs["rgb"].shape == (64, 64, 3)


def test_an_episode_that_ends_in_error_has_the_call_that_failed(wayfare: Any) -> None:
    reader = run(wayfare, "--record", "full", "--set", "env_camera.fail_at=1", status=1)

    (key,) = [record.key for record in reader.records() if record.outcome == "error"]
    last = reader.calls(key)
    call = last.load(last.entries[-1])
    assert (call.path, call.turns, call.digest) == ("step", (1,), None)
    assert set(call.inputs) == {"rgb", "turn", "action"}


def test_missing_pyav_is_said_before_anything_starts(wayfare: Any, tmp_path: Path) -> None:
    (tmp_path / "av.py").write_text("raise ImportError('no such library')")
    without = {"PYTHONPATH": str(tmp_path)}

    answer = wayfare.run("eval", "camera", "--record", "frames", environment=without)

    assert answer.status == 2
    assert "pip install 'wayfare[video]'" in answer.err
    assert "Traceback" not in answer.err
    assert not (tmp_path / "runs").exists()


def test_a_choice_that_nothing_can_tell_is_refused_before_the_first_episode(wayfare: Any) -> None:
    options = ("--record", "full", "--record-only", "failures")

    answer = wayfare.run("eval", "line", *options)

    assert answer.status == 2
    assert "this run measures at, turns" in answer.err


def test_the_memory_of_a_run_does_not_grow_with_what_it_records(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TWO_RUNS, str(WORKSPACE), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)

    assert done.returncode == 0, done.stderr
    (few, small), (many, large) = (map(int, line.split()) for line in done.stdout.splitlines())
    assert (few, many) == (50, 300)
    assert large - small < MAX_GROWTH_KIB
