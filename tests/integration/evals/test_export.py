"""A run leaves as a table or as the file that its leaderboard takes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.nodesets.r2r_world import write_world


def export(wayfare: Any, run: str, to: str, *arguments: str) -> str:
    answer = wayfare.run("export", run, "--to", to, *arguments)
    assert answer.status == 0, answer.err
    text: str = answer.out
    return text


def test_a_table_has_a_row_per_episode_with_metrics_reasons_and_labels(wayfare: Any) -> None:
    run = wayfare.evaluate("outing")["out"]
    rows = json.loads(export(wayfare, run, "json"))
    by_id = {row["episode_id"]: row for row in rows}
    assert sorted(by_id, key=int) == [str(n) for n in range(10)]
    assert (by_id["7"]["metrics.spl"], by_id["7"]["undefined.spl"]) == (None, "not a number")
    assert (by_id["0"]["metrics.success"], by_id["0"]["info.weather"]) == (True, "sun")
    lines = list(csv.DictReader(export(wayfare, run, "csv").splitlines()))
    assert [line["episode_id"] for line in lines] == [row["episode_id"] for row in rows]
    assert {line["metrics.success"] for line in lines} == {"true", "false"}


def test_vln_ce_gets_position_heading_and_stop_of_every_step_also_without_ground_truth(
    wayfare: Any, tmp_path: Path
) -> None:
    report = wayfare.evaluate("outing", "--split", "test", "--workers", "2")
    hidden = report["metrics"]["success"]["undefined"]
    assert hidden == {"the split publishes no goals": 10}
    file = tmp_path / "predictions.json"
    export(wayfare, report["out"], "submission", "--out", str(file))
    sent = json.loads(file.read_text())
    assert sorted(sent, key=int) == [str(n) for n in range(10)]
    assert sent["0"] == [
        {"position": [float(at), 0.0, -float(at)], "heading": 0.0, "stop": at == 2}
        for at in range(3)
    ]
    assert len(sent["9"]) == 13


def test_rxr_habitat_gets_a_line_per_instruction_with_positions_that_changed(wayfare: Any) -> None:
    report = wayfare.evaluate("outing", "--set", 'nodesets.env_outing.format="rxr_habitat"')
    lines = [json.loads(line) for line in export(wayfare, report["out"], "submission").splitlines()]
    assert [line["instruction_id"] for line in lines] == list(range(991, 1001))
    assert lines[-1]["path"] == [[float(at), 0.0, -float(at)] for at in range(3)]
    assert len(lines[0]["path"]) == 9


def test_room_to_rooms_test_split_is_submitted_without_its_goals(
    wayfare: Any, tmp_path: Path
) -> None:
    data = {"WAYFARE_DATA": str(write_world(tmp_path))}
    ran = wayfare.run("eval", "r2r_random", "--split", "test", "--json", environment=data)
    assert ran.status == 0, ran.err
    assert ran.document["metrics"]["SR"]["undefined"] == {"the split publishes no goals": 1}
    (entry,) = json.loads(export(wayfare, ran.document["out"], "submission"))
    assert entry["instr_id"] == "9_0"
    assert entry["trajectory"][0] == ["b", 0.0, 0.0]
    assert {len(step) for step in entry["trajectory"]} == {3}


def test_who_submits_is_told_what_a_leaderboard_would_refuse(wayfare: Any) -> None:
    few = wayfare.evaluate("outing", "--episodes", "3")["out"]
    told = wayfare.run("export", few, "--to", "submission")
    assert told.status == 0
    assert "a leaderboard takes the whole split" in told.err
    twice = wayfare.evaluate("outing", "--repeats", "2")["out"]
    assert wayfare.run("export", twice, "--to", "submission").status == 2
    assert json.loads(export(wayfare, twice, "submission", "--repeat", "1"))
    bare = wayfare.evaluate("outing", "--record", "none")["out"]
    refused = wayfare.run("export", bare, "--to", "submission")
    assert (refused.status, refused.out) == (2, "")
    assert "--record none" in refused.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--to", "parquet"], "parquet"),
        (["--to", "csv", "--repeat", "1"], "a table has all repeats"),
        (["--to", "csv", "--out", "/nowhere/x.csv"], "can't be written"),
        (["--to", "submission"], "without a leaderboard's format"),
    ],
)
def test_what_can_not_be_exported_is_refused_in_a_sentence(
    wayfare: Any, arguments: list[str], reason: str
) -> None:
    run = wayfare.evaluate("line", "--episodes", "2")["out"]
    answer = wayfare.run("export", run, *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert reason in answer.err.lower() or reason in answer.err
    assert "Traceback" not in answer.err
