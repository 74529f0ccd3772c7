"""A run that ended early goes on with any number of workers, and ends as if it never had."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.deadline import HANG_SECONDS
from tests.integration.evals.held_run import held, kill_in_the_middle, let_go, start_and_hold

import wayfare as api
from wayfare.evals.errors import ResumeRefusedError
from wayfare.evals.recorder_lost import LOST
from wayfare.store.run import RunReader

WORKSPACE = Path(__file__).resolve().parents[2] / "workspace"


def table_of(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    columns = ("key", "outcome", "steps", "metrics", "digest")
    return [tuple(row[name] for name in columns) for row in document["episodes_table"]]


def count_workers(wayfare: Any) -> tuple[int, list[int]]:
    """Return how many workers the only run had last, and in each of its parts."""
    (entry,) = wayfare.run("runs", "--json").document
    return entry["worker_count"], entry["worker_counts"]


def test_killed_run_ends_in_the_table_of_an_undisturbed_one(wayfare: Any) -> None:
    folder = kill_in_the_middle(wayfare, "drift", *held(wayfare), "--workers", "3")
    before = wayfare.show(str(folder))
    assert before["status"] == "incomplete"
    assert count_workers(wayfare) == (3, [3])
    assert 0 < before["episodes"]["completed"] < 40
    shown = wayfare.run("show", str(folder)).out
    assert f"wayfare eval --resume {folder}" in shown

    answer = wayfare.run("eval", "--resume", folder.name, "--workers", "2", "--json")

    assert answer.status == 0, answer.err
    assert f"{before['episodes']['completed']} of them kept, 2 workers" in answer.err
    assert count_workers(wayfare) == (2, [3, 2])
    after = wayfare.show(str(folder))
    wayfare.environment["WAYFARE_RUNS"] = str(wayfare.folder / "undisturbed")
    undisturbed = wayfare.evaluate("drift", *held(wayfare), "--workers", "4")
    assert (after["status"], after["digest"]) == ("done", undisturbed["digest"])
    assert table_of(after) == table_of(wayfare.show(undisturbed["out"]))
    assert after["metrics"] == undisturbed["metrics"]
    assert after["worker_count"] == 2
    assert [entry["worker_count"] for entry in after["resumptions"]] == [2]
    assert (before["uncounted_parts"], after["uncounted_parts"]) == (1, 1)
    assert "what copies did in one part of the run" in wayfare.run("show", str(folder)).out


def test_what_is_finished_is_not_run_again(wayfare: Any) -> None:
    folder = kill_in_the_middle(wayfare, "drift", *held(wayfare), "--workers", "3")
    reader = RunReader.open(folder, folder.parent)
    kept = {record.key: record for record in reader.records()}

    assert wayfare.run("eval", "--resume", str(folder)).status == 0

    after = {record.key: record for record in reader.records()}
    assert {key: after[key] for key in kept} == kept
    assert all(len(record.attempts) == 1 for record in after.values())
    began = max(attempt.ended_seconds for record in kept.values() for attempt in record.attempts)
    assert all(after[key].attempts[0].started_seconds >= began for key in set(after) - set(kept))


def test_run_that_was_interrupted_says_how_it_goes_on(wayfare: Any) -> None:
    soon = ("--workers", "2", "--drain-seconds", "0.1")
    process, folder = start_and_hold(wayfare, "drift", *held(wayfare), *soon)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG_SECONDS)
    let_go(wayfare)
    assert process.returncode == 75, err
    assert f"wayfare eval --resume {folder}" in out
    listed = wayfare.run("runs", "--json").document
    assert [entry["resume"] for entry in listed] == [f"wayfare eval --resume {folder}"]
    assert wayfare.run("eval", "--resume", str(folder)).status == 0
    assert [entry["resume"] for entry in wayfare.run("runs", "--json").document] == [""]


def test_nothing_left_to_run_is_summed_up_without_starting_anything(wayfare: Any) -> None:
    document = wayfare.evaluate("drift")
    (Path(document["out"]) / "summary.json").unlink()
    wayfare.environment["WAYFARE_WORKSPACE"] = ""
    answer = wayfare.run("eval", "--resume", document["out"], "--json")
    assert answer.status == 0, answer.err
    assert answer.document["digest"] == document["digest"]
    assert (Path(document["out"]) / "summary.json").exists()


def test_finished_run_is_not_given_out_as_one_of_other_options(wayfare: Any) -> None:
    folder = wayfare.evaluate("drift")["out"]
    seed = wayfare.run("eval", "--resume", folder, "--seed", "9")
    graph = wayfare.run("eval", "line", "--resume", folder)
    setting = wayfare.run("eval", "--resume", folder, "--set", "env_drift.count=3")
    assert [answer.status for answer in (seed, graph, setting)] == [2, 2, 2]
    assert "seed: the run has 0, 9 is asked for" in seed.err
    assert "what it runs has changed" in graph.err
    assert "count of nodeset 'env_drift'" in setting.err
    assert wayfare.run("eval", "drift", "--resume", folder, "--seed", "0").status == 0


def test_finished_run_is_not_given_out_as_one_of_another_step_budget(wayfare: Any) -> None:
    folder = wayfare.evaluate("drift", "--step-budget", "7")["out"]
    other = wayfare.run("eval", "--resume", folder, "--step-budget", "3")
    assert other.status == 2
    assert "--step-budget" in other.err
    assert "7" in other.err
    assert "3" in other.err
    same = wayfare.run("eval", "--resume", folder, "--step-budget", "7")
    forced = wayfare.run("eval", "--resume", folder, "--step-budget", "3", "--force")
    assert [same.status, forced.status] == [0, 0]
    assert "has nothing left to run; what it came to is given as it stands" in forced.err


def test_resumed_run_is_looked_for_where_out_says(wayfare: Any, tmp_path: Path) -> None:
    folder = Path(wayfare.evaluate("drift")["out"])
    away = wayfare.run("eval", "--resume", str(folder), "--out", str(tmp_path / "away"))
    assert away.status == 2
    assert "is not in --out" in away.err
    assert "a resumed run goes on where it lies" in away.err
    same = wayfare.run("eval", "--resume", str(folder), "--out", str(folder.parent))
    assert same.status == 0, same.err


def test_run_of_several_workers_goes_on_in_process_with_one(wayfare: Any) -> None:
    folder = kill_in_the_middle(wayfare, "drift", *held(wayfare), "--workers", "3")
    answer = wayfare.run("eval", "--resume", str(folder), "--in-process", "--force", "--json")
    assert answer.status == 0, answer.err
    assert answer.document["worker_count"] == 1


def test_second_process_is_refused_and_told_who_writes(wayfare: Any) -> None:
    process, folder = start_and_hold(wayfare, "drift", *held(wayfare))
    answer = wayfare.run("eval", "--resume", str(folder))
    assert answer.status == 2
    assert f"is being written by pid {process.pid} on {os.uname().nodename}" in answer.err
    process.kill()
    process.communicate(timeout=HANG_SECONDS)
    let_go(wayfare)
    assert wayfare.run("eval", "--resume", str(folder)).status == 0


def write_workspace(workspace: Callable[[str, str], Path]) -> Path:
    for name in ("env_drift.py", "policy_sum.py"):
        workspace(name, (WORKSPACE / "nodesets" / name).read_text())
    return workspace("drift.json", (WORKSPACE / "graphs/drift.json").read_text())


def test_changed_nodeset_is_refused_by_name_and_forced_on_record(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    root = write_workspace(workspace)
    wayfare.environment["WAYFARE_WORKSPACE"] = str(root)
    folder = kill_in_the_middle(wayfare, "drift", *held(wayfare), "--workers", "3")
    with (root / "nodesets/policy_sum.py").open("a") as file:
        file.write("\n# one line more\n")

    refused = wayfare.run("eval", "--resume", str(folder))

    assert refused.status == 2
    assert "code of nodeset 'policy_sum'" in refused.err
    assert "Traceback" not in refused.err
    assert wayfare.show(str(folder))["resumptions"] == []
    forced = wayfare.run("eval", "--resume", str(folder), "--force", "--json")
    assert forced.status == 0, forced.err
    (entry,) = wayfare.show(str(folder))["resumptions"]
    assert ["code of nodeset 'policy_sum'" in line for line in entry["forced"]] == [True]
    assert "forced over:" in wayfare.run("show", str(folder)).out


def test_changed_graph_and_list_are_refused_and_each_difference_is_named(wayfare: Any) -> None:
    folder = kill_in_the_middle(wayfare, "drift", *held(wayfare), "--workers", "3")
    graph = json.loads((WORKSPACE / "graphs/drift.json").read_text())
    graph["step_budget"] = 3
    other = wayfare.folder / "other.json"
    other.write_text(json.dumps(graph))
    longer = "env_drift.count=50"

    refused = wayfare.run("eval", str(other), "--resume", str(folder), "--set", longer)

    assert refused.status == 2
    for what in ("step_budget", "count of nodeset 'env_drift'", "hash of the environment's list"):
        assert what in refused.err
    forced = wayfare.run("eval", "--resume", str(folder), "--set", longer, "--force", "--json")
    assert forced.status == 0, forced.err
    assert forced.document["episodes"]["total"] == 40


@pytest.mark.parametrize("option", [("--seed", "9"), ("--episodes", "3"), ("--record", "full")])
def test_what_a_run_has_for_good_is_refused_even_by_force(
    wayfare: Any, option: tuple[str, str]
) -> None:
    document = wayfare.evaluate("drift")
    path = Path(document["out"]) / "episodes.frames"
    path.write_bytes(path.read_bytes()[:-100])
    answer = wayfare.run("eval", "--resume", document["out"], "--force", *option)
    assert answer.status == 2
    assert f"the run has {'0' if option[0] == '--seed' else ''}" in answer.err
    assert option[1] in answer.err


def test_lost_copies_are_tried_again_and_authors_errors_only_if_asked(wayfare: Any) -> None:
    rates = ("--set", "env_fragile.fault_rate=0.4", "--set", "env_fragile.raise_every=5")
    lost = wayfare.evaluate("fragile", *rates, "--retries", "0", "--workers", "2", status=1)
    assert lost["episodes"]["error"] > 2

    answer = wayfare.run("eval", "--resume", lost["out"], "--retries", "20", "--json")

    assert (answer.status, answer.document["episodes"]["error"]) == (1, 2)
    again = wayfare.run("eval", "--resume", lost["out"], "--retries", "20", "--retry-errors")
    assert again.status == 1
    rows = wayfare.show(lost["out"])["episodes_table"]
    assert {row["error"]["type"] for row in rows if row["outcome"] == "error"} == {"ValueError"}
    assert all(row["attempts"] > 1 for row in rows if row["outcome"] == "error")
    assert sum(row["attempts"] for row in rows) > lost["episodes"]["attempts"] + 2


def test_torn_record_is_dropped_said_and_run_again(wayfare: Any) -> None:
    document = wayfare.evaluate("drift", "--workers", "2")
    path = Path(document["out"]) / "episodes.frames"
    path.write_bytes(path.read_bytes()[:-7])
    answer = wayfare.run("eval", "--resume", document["out"], "--json")
    assert answer.status == 0, answer.err
    assert answer.err.count("a last record was cut short") == 1
    assert answer.document["digest"] == document["digest"]


def test_recordings_go_on(wayfare: Any) -> None:
    slow = ("--set", "env_camera.count=60", "--set", "env_camera.steps=30", "--record", "full")
    folder = kill_in_the_middle(wayfare, "camera", *slow, "--workers", "2")
    assert wayfare.run("eval", "--resume", str(folder), "--workers", "1").status == 0
    reader = RunReader.open(folder, folder.parent)
    records = reader.records()
    assert len(records) == 60
    assert {len(reader.actions(record.key)) for record in records} == {30}
    assert {len(reader.calls(record.key).entries) > 60 for record in records} == {True}
    assert len(list((folder / "calls").iterdir())) == 60


def test_videos_that_were_not_encoded_by_the_kill_are_listed_as_failed(wayfare: Any) -> None:
    pytest.importorskip("av", reason="pip install 'wayfare[video]' brings it")
    large = ("--set", "env_camera.width=640", "--set", "env_camera.height=480")
    many = ("--set", "env_camera.count=40", *large, "--record", "frames")
    folder = kill_in_the_middle(wayfare, "camera", *many, "--workers", "3")
    answer = wayfare.run("eval", "--resume", str(folder))
    assert answer.status == 0, answer.err
    recording = wayfare.show(str(folder))["recording"]
    assert recording["videos"] + len(recording["failed"]) == 40
    assert {video["reason"] for video in recording["failed"]} <= {LOST}
    assert len(list((folder / "videos").glob("*/*.mp4"))) >= recording["videos"]


def test_python_api_resumes(tmp_path: Path) -> None:
    run = api.evaluate("drift", workspaces=[WORKSPACE], out=tmp_path)
    path = run.folder / "episodes.frames"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ResumeRefusedError, match="seed: the run has 0, 4 is asked for"):
        api.evaluate(resume=run.folder, seed=4)
    again = api.evaluate(resume=run.id, out=tmp_path, workers=2)
    assert (again.id, again.digest, again.status) == (run.id, run.digest, "done")


def test_folder_of_a_run_may_have_moved(wayfare: Any) -> None:
    document = wayfare.evaluate("drift")
    path = Path(document["out"]) / "episodes.frames"
    path.write_bytes(path.read_bytes()[:-7])
    moved = wayfare.folder / "elsewhere"
    shutil.move(document["out"], moved)
    answer = wayfare.run("eval", "--resume", str(moved), "--json")
    assert (answer.status, answer.document["digest"]) == (0, document["digest"])
    assert answer.document["out"] == str(moved)
