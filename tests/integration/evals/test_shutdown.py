"""A `shutdown` of the author's that fails is told once, at the run's end, and costs no result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WORKSPACE = Path(__file__).resolve().parents[2] / "workspace"
RAISES = 'raise RuntimeError("the engine\\nis gone")'
Write = Callable[[str, str], Path]


def write_workspace(workspace: Write, shutdown: str) -> Path:
    text = (WORKSPACE / "nodesets/env_drift.py").read_text()
    body = f"def _shut_down(self):\n    {shutdown}\n\n\nDriftNodeSet.shutdown = _shut_down\n"
    workspace("env_drift.py", f"{text}\n\n{body}")
    workspace("policy_sum.py", (WORKSPACE / "nodesets/policy_sum.py").read_text())
    return workspace("drift.json", (WORKSPACE / "graphs/drift.json").read_text())


def find_note(err: str) -> str:
    (note,) = (line for line in err.splitlines() if "shut down" in line)
    return note


def test_a_shutdown_that_raises_is_told_once_and_costs_no_result(
    wayfare: Any, workspace: Write
) -> None:
    whole = wayfare.evaluate("drift")["digest"]
    wayfare.environment["WAYFARE_WORKSPACE"] = str(write_workspace(workspace, RAISES))
    answer = wayfare.run("eval", "drift", "--workers", "3", "--json")
    assert answer.status == 0
    assert (answer.document["status"], answer.document["digest"]) == ("done", whole)
    note = find_note(answer.err)
    assert note.startswith(
        "note: copy 'env_drift#0' (and 2 more copies) did not shut down as it should: "
        "env_drift shutdown raised RuntimeError: the engine is gone. The results of the run stand."
    )
    log = Path(answer.document["out"]) / "logs" / "env_drift#0.log"
    assert note.endswith(f"What it printed is in {log}.")
    assert "in _shut_down" in log.read_text()
    faults = answer.document["nodesets"]["env_drift"]["shutdown_faults"]
    assert [fault["tag"] for fault in faults] == [f"env_drift#{n}" for n in range(3)]
    assert {fault["reason"] for fault in faults} == {
        "env_drift shutdown raised RuntimeError: the engine is gone"
    }
    assert ["in _shut_down" in fault["traceback"] for fault in faults] == [True, False, False]
    shown = wayfare.show(answer.document["out"])
    assert shown["nodesets"]["env_drift"]["shutdown_faults"] == faults
    assert shown["nodesets"]["policy_sum"]["shutdown_faults"] == []
    assert (
        "copy 'env_drift#0' (and 2 more) did not shut down" in wayfare.run("show", shown["out"]).out
    )


def test_in_process_its_traceback_is_told_since_there_is_no_log(
    wayfare: Any, workspace: Write
) -> None:
    wayfare.environment["WAYFARE_WORKSPACE"] = str(write_workspace(workspace, RAISES))
    answer = wayfare.run("eval", "drift", "--in-process")
    assert answer.status == 0
    assert "copy 'env_drift' did not shut down as it should" in find_note(answer.err)
    assert "in _shut_down" in answer.err


@pytest.mark.parametrize(
    ("shutdown", "reason"),
    [
        ("import os; os._exit(9)", "it ended with exit status 9 meanwhile"),
        ("import time; time.sleep(60)", "it had not ended after 10 s and was killed"),
    ],
)
def test_a_shutdown_that_never_returns_is_told(
    wayfare: Any, workspace: Write, shutdown: str, reason: str
) -> None:
    wayfare.environment["WAYFARE_WORKSPACE"] = str(write_workspace(workspace, shutdown))
    answer = wayfare.run("eval", "drift", "--episodes", "1")
    assert answer.status == 0
    assert reason in find_note(answer.err)


def test_other_commands_tell_it_too(wayfare: Any, workspace: Write) -> None:
    wayfare.environment["WAYFARE_WORKSPACE"] = str(write_workspace(workspace, RAISES))
    called = wayfare.run("call", "env_drift__look", "--episode", "0")
    assert called.status == 0
    assert "RuntimeError: the engine is gone" in find_note(called.err)
    assert "in _shut_down" in called.err
    checked = wayfare.run("check", "env_drift", "--json")
    (found,) = (one for one in checked.document["properties"] if one["name"] == "shutdown")
    assert found["verdict"] == "warning"
    assert "RuntimeError: the engine is gone" in found["says"]
