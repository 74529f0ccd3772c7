"""`wayfare show` tells which of a run's files are damaged, whom it concerns, and what holds."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.integration.evals.damaged_run import list_keys, show

from wayfare.evals.run import Run
from wayfare.store.errors import CorruptFileError
from wayfare.store.frames import FRAME_BYTES
from wayfare.store.run import RunReader
from wayfare.store.truth import FIRINGS_FILE, read_latest

HOLDS = "what holds: outcomes, metrics and digests of 6 episodes; they stand in the records"


@pytest.mark.parametrize("record", ["none", "actions", "frames", "full"])
def test_a_run_is_whole_as_it_was_written(wayfare: Any, run: Any, record: str) -> None:
    assert wayfare.show(str(run(record=record)))["damage"] == []


def test_a_run_for_a_leaderboard_is_whole_as_it_was_written(wayfare: Any, run: Any) -> None:
    assert wayfare.show(str(run("outing")))["damage"] == []


def test_a_damaged_byte_concerns_the_one_episode_whose_firing_it_is(wayfare: Any, run: Any) -> None:
    folder = run()
    header = RunReader.open(folder, folder.parent).header
    entry = read_latest(folder, [planned.key for planned in header.episodes])[2]
    content = bytearray((folder / FIRINGS_FILE).read_bytes())
    content[entry.firings_offset + FRAME_BYTES + 5] ^= 1
    (folder / FIRINGS_FILE).write_bytes(content)

    damage, shown = show(wayfare, folder)

    assert damage["episodes"] == [entry.record.key.text]
    assert f"byte {entry.firings_offset}" in damage["problem"]
    assert f"of 1 of 6 episodes: {entry.record.key.text}" in shown
    assert HOLDS in shown


@pytest.mark.parametrize(
    ("graph", "record", "file", "lost"),
    [
        ("camera", "none", "firings.frames", "what each node gave"),
        ("camera", "none", "labels.json", "the info that `--by`"),
        ("camera", "actions", "actions.frames", "the actions that were taken"),
        ("camera", "frames", "videos.frames", "the videos"),
        ("camera", "frames", "videos", "the videos"),
        ("camera", "full", "calls", "the calls, which `wayfare replay` sends again"),
        ("outing", "actions", "poses.frames", "the poses"),
    ],
)
def test_a_missing_file_concerns_all_episodes(
    wayfare: Any, run: Any, graph: str, record: str, file: str, lost: str
) -> None:
    folder = run(graph, record)
    path = folder / file
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    damage, shown = show(wayfare, folder)
    assert damage["file"] == file
    assert len(damage["episodes"]) == len(list_keys(folder))
    assert f"  lost: {lost}" in shown
    assert f", of all {len(list_keys(folder))} episodes" in shown


def test_a_damaged_recording_concerns_the_episodes_that_stand_behind_it(
    wayfare: Any, run: Any
) -> None:
    folder = run()
    path = folder / "actions.frames"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    damage, shown = show(wayfare, folder)
    assert 0 < len(damage["episodes"]) < 6
    assert "what it had of some episodes is not there" in damage["problem"]
    assert HOLDS in shown


def test_labels_are_missed_only_by_who_asks_for_them(wayfare: Any, run: Any) -> None:
    folder = run("outing")
    assert wayfare.run("show", str(folder), "--by", "weather").status == 0
    assert wayfare.run("show", str(folder), "--by", "wheather").status == 2
    (folder / "labels.json").write_text("{}")
    by_scene = wayfare.run("show", str(folder), "--by", "scene", "--json")
    assert (by_scene.status, len(by_scene.document["damage"])) == (3, 1)
    by_label = wayfare.run("show", str(folder), "--by", "weather")
    assert (by_label.status, by_label.err) == (3, "")
    assert "labels.json is damaged" in by_label.out
    assert "--by weather can't be had without these labels: all episodes are listed" in by_label.out
    told = wayfare.run("show", str(folder), "--by", "weather", "--json").document
    assert (told["by"], len(told["episodes_table"])) == (None, 10)


def find_files(folder: Path, record: str) -> list[Path]:
    """Return the recorded files of a run, by the order of its list."""
    kind = {"full": "calls/*.frames", "frames": "videos/*/*.mp4"}[record]
    return sorted(folder.glob(kind))


@pytest.mark.parametrize("record", ["frames", "full"])
def test_a_recorded_file_that_was_cut_short_concerns_its_episode(
    wayfare: Any, run: Any, record: str
) -> None:
    folder = run(record=record)
    file = find_files(folder, record)[2]
    file.write_bytes(file.read_bytes()[:-10])
    damage, shown = show(wayfare, folder)
    assert damage["episodes"] == [list_keys(folder)[2]]
    assert str(file) in damage["problem"]
    assert HOLDS in shown
    if record == "full":
        replayed = wayfare.run("replay", str(folder), "--episode", "2", "--node", "step")
        assert (replayed.status, str(file) in replayed.err) == (2, True)


@pytest.mark.parametrize("record", ["frames", "full"])
def test_a_changed_byte_in_a_recorded_file_is_found_by_a_thorough_look(
    wayfare: Any, run: Any, record: str
) -> None:
    folder = run(record=record)
    assert wayfare.run("show", str(folder), "--thorough").status == 0
    file = find_files(folder, record)[4]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert wayfare.run("show", str(folder)).status == 0
    told = wayfare.run("show", str(folder), "--thorough", "--json")
    (damage,) = told.document["damage"]
    assert (told.status, damage["episodes"]) == (3, [list_keys(folder)[4]])


@pytest.mark.parametrize("file", ["summary.json", "resumptions.json"])
def test_a_damaged_document_costs_what_only_it_held(wayfare: Any, run: Any, file: str) -> None:
    folder = run()
    whole = wayfare.show(str(folder))
    (folder / file).write_text('{"damaged": true}')
    damage, shown = show(wayfare, folder)
    assert (damage["file"], damage["episodes"]) == (file, [])
    assert HOLDS in shown
    told = wayfare.run("show", str(folder), "--json").document
    for name in ("status", "metrics", "digest", "episodes", "episodes_table", "coverage"):
        assert told[name] == whole[name]
    listed = wayfare.run("runs", "--out", str(folder.parent))
    assert (listed.status, "done" in listed.out) == (0, True)
    assert ("summary.json is damaged" in listed.out) == (file == "summary.json")
    (entry,) = wayfare.run("runs", "--out", str(folder.parent), "--json").document
    assert entry["status"] == "done"


def test_a_table_without_its_labels_says_so(wayfare: Any, run: Any) -> None:
    folder = run("outing")
    assert "info.weather" in wayfare.run("export", str(folder), "--to", "csv").out
    (folder / "labels.json").unlink()
    table = wayfare.run("export", str(folder), "--to", "csv")
    assert (table.status, "info." in table.out, len(table.out.splitlines())) == (3, False, 11)
    assert "labels.json is missing" in table.err
    with pytest.raises(CorruptFileError, match=r"labels\.json is missing"):
        Run.open(folder).by("weather")
    assert len(Run.open(folder).by("outcome")) > 0
    sent = wayfare.run("export", str(folder), "--to", "submission")
    assert (sent.status, "labels.json is missing" in sent.err) == (2, True)


def test_poses_that_were_cut_off_are_missed(wayfare: Any, run: Any) -> None:
    folder = run("outing")
    path = folder / "poses.frames"
    path.write_bytes(path.read_bytes()[:-5])
    damage, _ = show(wayfare, folder)
    assert (damage["file"], len(damage["episodes"])) == ("poses.frames", 1)
    path.write_bytes(b"")
    assert len(show(wayfare, folder)[0]["episodes"]) == 10
