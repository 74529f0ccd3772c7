"""`wayfare show` tells of records that are damaged or stand twice, and shows what is left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.integration.evals.damaged_run import list_keys, show

from wayfare.store.frames import FRAME_BYTES, HEAD_BYTES, frame, read_frames
from wayfare.store.truth import EPISODES_FILE, FIRINGS_FILE


def put_in(path: Path, number: int, at: int | None = None) -> None:
    """Copy a record of a file to another place in it, by default to its end."""
    record = frame([payload for _, payload in read_frames(path)][number])
    content = path.read_bytes()
    at = len(content) if at is None else at
    path.write_bytes(content[:at] + record + content[at:])


@pytest.mark.parametrize(
    ("graph", "record", "file"),
    [
        ("camera", "none", "firings.frames"),
        ("camera", "actions", "actions.frames"),
        ("camera", "frames", "videos.frames"),
        ("outing", "actions", "poses.frames"),
    ],
)
def test_a_record_that_stands_twice_is_told_with_the_bytes_to_take_out(
    wayfare: Any, run: Any, graph: str, record: str, file: str
) -> None:
    path = run(graph, record) / file
    size = path.stat().st_size
    put_in(path, 1)
    damage, shown = show(wayfare, path.parent)
    assert (damage["file"], damage["lost"], len(damage["episodes"])) == (file, "", 1)
    assert f"without its bytes {size} to {path.stat().st_size}" in damage["problem"]
    assert "no result depends on it" in damage["problem"]
    assert f"  lost: nothing, of 1 of {len(list_keys(path.parent))} episodes: " in shown
    assert "what holds: outcomes, metrics and digests" in shown


def test_a_record_between_others_is_told_and_without_it_the_file_is_whole(
    wayfare: Any, run: Any
) -> None:
    path = run() / FIRINGS_FILE
    whole = path.read_bytes()
    (start, _), (end, _) = list(read_frames(path))[2:4]
    put_in(path, 2, at=end)
    damage, _ = show(wayfare, path.parent)
    assert damage["lost"].startswith("what each node gave")
    assert len(damage["episodes"]) == 3
    assert f"without its bytes {end} to {end + end - start}" in damage["problem"]
    content = path.read_bytes()
    path.write_bytes(content[:end] + content[end + end - start :])
    assert path.read_bytes() == whole
    assert wayfare.show(str(path.parent))["damage"] == []


def test_two_files_of_firings_that_were_put_together_are_told(wayfare: Any, run: Any) -> None:
    path = run() / FIRINGS_FILE
    whole = path.read_bytes()
    path.write_bytes(whole + whole[HEAD_BYTES:])
    damage, _ = show(wayfare, path.parent)
    assert f"byte {len(whole)}: 6 records stand there that the run did not" in damage["problem"]
    path.write_bytes(whole + whole)
    damage, _ = show(wayfare, path.parent)
    assert (damage["lost"], damage["episodes"]) == ("", [])
    assert f"cut to its first {len(whole)} bytes it can be read" in damage["problem"]


def test_a_damaged_record_leaves_all_others_and_the_summary_to_be_shown(
    wayfare: Any, run: Any
) -> None:
    folder = run()
    before, path = wayfare.show(str(folder)), folder / EPISODES_FILE
    offset = list(read_frames(path))[2][0]
    content = bytearray(path.read_bytes())
    content[offset + FRAME_BYTES + 5] ^= 1
    path.write_bytes(content)
    damage, shown = show(wayfare, folder)
    (key,) = damage["episodes"]
    assert (damage["file"], damage["lost"]) == (EPISODES_FILE, "outcomes, metrics and digests")
    assert f"byte {offset}" in damage["problem"]
    assert "what is shown: 5 episodes whose records can be read; counts, metrics" in shown
    told = wayfare.run("show", str(folder), "--json", "--by", "scene").document
    assert [row for row in before["episodes_table"] if row["key"] != key] == told["episodes_table"]
    assert (told["metrics"], told["digest"]) == (before["metrics"], before["digest"])
    assert (told["status"], told["coverage"]["missing"]) == ("uncertified", 1)
    assert sum(part["episodes"]["completed"] for part in told["by"]["parts"].values()) == 5


def test_records_that_are_gone_are_told_like_other_damage(wayfare: Any, run: Any) -> None:
    folder = run()
    (folder / EPISODES_FILE).unlink()
    damage, _ = show(wayfare, folder)
    assert (damage["file"], damage["episodes"]) == (EPISODES_FILE, list_keys(folder))
    (folder / "summary.json").unlink()
    damage, shown = show(wayfare, folder)
    assert damage["lost"] == "outcomes, metrics and digests of those that had ended"
    assert "0 episodes whose records can be read; counts, metrics and digest are theirs" in shown


@pytest.mark.parametrize("file", ["run.json", "plan.json"])
def test_a_run_of_which_nothing_can_be_shown_is_told_with_the_status_of_damage(
    wayfare: Any, run: Any, file: str
) -> None:
    folder = run()
    (folder / file).write_text('{"damaged": true}')
    told = wayfare.run("show", str(folder))
    assert (told.status, told.out) == (3, "")
    assert "nothing can be shown of the run" in told.err
    assert file in told.err
