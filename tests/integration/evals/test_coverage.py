"""What a run reports does not depend on who ends first, and it can prove what it counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wayfare.store.frames import FrameWriter, read_frames
from wayfare.store.truth import EPISODES_FILE

EPISODES = 500


def test_early_successes_and_late_failures_give_the_same_rate_at_1_and_50_workers(
    wayfare: Any,
) -> None:
    reports = [
        wayfare.evaluate(
            "outing", "--workers", workers, "--set", f"nodesets.env_outing.count={EPISODES}"
        )
        for workers in ("1", "50")
    ]
    for report in reports:
        success = report["metrics"]["success"]
        assert (success["n"], success["mean"]) == (EPISODES, 0.40)
        assert report["coverage"]["certified"]
        assert report["coverage"]["recorded"] == EPISODES
    alone, together = reports
    assert alone["metrics"] == together["metrics"]
    assert alone["digest"] == together["digest"]
    assert alone["coverage"] == together["coverage"]


def test_a_value_that_is_not_a_number_voids_one_value_and_no_run(wayfare: Any) -> None:
    report = wayfare.evaluate("outing", "--workers", "3")
    spl = report["metrics"]["spl"]
    assert (spl["n"], spl["undefined"]) == (9, {"not a number": 1})
    assert spl["mean"] == 4 / 9
    assert spl["definition"] == {"distance": "geodesic on the line", "threshold_m": 3.0}
    assert report["metrics"]["success"]["mean"] == 0.4


def test_show_certifies_anew_and_says_so_with_its_exit_status(wayfare: Any) -> None:
    run = wayfare.evaluate("outing")["out"]
    shown = wayfare.run("show", run, "--json", "--by", "weather")
    assert shown.status == 0
    assert shown.document["coverage"]["certified"]
    parts = shown.document["by"]["parts"]
    assert {label: part["metrics"]["success"]["n"] for label, part in parts.items()} == {
        "rain": 5,
        "sun": 5,
    }


def test_a_record_that_counts_twice_takes_the_certificate_away(wayfare: Any) -> None:
    run = Path(wayfare.evaluate("outing")["out"])
    (_, first), *_ = read_frames(run / EPISODES_FILE)
    file = FrameWriter.open(run / EPISODES_FILE)
    file.append([first])
    file.close()

    shown = wayfare.run("show", str(run), "--json")

    assert (shown.status, shown.document["status"]) == (3, "uncertified")
    (problem,) = shown.document["coverage"]["problems"]
    assert "is recorded again after it was completed" in problem
    assert "not certified" in wayfare.run("show", str(run)).out
    assert "not certified" in wayfare.run("export", str(run), "--to", "csv").err


def test_repeats_have_seeds_of_their_own_and_their_variance_is_told(wayfare: Any) -> None:
    runs = [wayfare.evaluate("line", "--repeats", "3", "--workers", n) for n in ("1", "4")]
    turns = runs[0]["metrics"]["turns"]
    repeats = turns["repeats"]
    assert (turns["n"], repeats["episodes"], repeats["repeats"]) == (36, 12, 3)
    assert repeats["variance_within"] > 0
    assert len(set(repeats["means"])) > 1
    assert sum(repeats["means"]) / 3 == pytest.approx(turns["mean"])
    assert 0 < repeats["standard_error_rerun"] < repeats["standard_error"]
    assert runs[0]["coverage"]["episodes"] == 36
    assert runs[0]["metrics"] == runs[1]["metrics"]


def test_an_agent_without_chance_repeats_itself(wayfare: Any) -> None:
    report = wayfare.evaluate("outing", "--repeats", "2")
    repeats = report["metrics"]["success"]["repeats"]
    assert (repeats["means"], repeats["variance_within"], repeats["icc"]) == ([0.4] * 2, 0.0, 1.0)
