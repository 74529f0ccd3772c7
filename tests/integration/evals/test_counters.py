"""What copies did is counted over a run's parts, and over the copies that stood in one place."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.deadline import HANG_SECONDS
from tests.integration.evals.held_run import held, let_go, start_and_hold

WORKSPACE = Path(__file__).resolve().parents[2] / "workspace"


def test_counters_of_a_run_that_went_on_are_sums_over_its_parts(wayfare: Any) -> None:
    soon = ("--workers", "3", "--drain-seconds", "0.1", "--json")
    process, folder = start_and_hold(wayfare, "drift", *held(wayfare), *soon)
    process.send_signal(signal.SIGINT)
    first = json.loads(process.communicate(timeout=HANG_SECONDS)[0])
    let_go(wayfare)
    finished = {row["key"] for row in wayfare.show(str(folder))["episodes_table"]}

    assert wayfare.run("eval", "--resume", str(folder), "--workers", "2").status == 0

    after = wayfare.show(str(folder))
    new_steps = sum(r["steps"] for r in after["episodes_table"] if r["key"] not in finished)
    before, now = (part["nodesets"]["policy_sum"]["tools"]["act"] for part in (first, after))
    assert now["rows"] - before["rows"] == new_steps
    assert sum(int(size) * count for size, count in now["histogram"].items()) == now["rows"]
    tags = [copy["tag"] for copy in after["nodesets"]["env_drift"]["copies"]]
    assert tags == ["env_drift#0", "env_drift#1", "env_drift#2"]
    assert (after["uncounted_parts"], after["worker_count"]) == (0, 2)
    (resumption,) = after["resumptions"]
    assert resumption["counted"] == first["nodesets"]


def test_batches_of_copies_that_were_recycled_are_counted(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    text = (WORKSPACE / "nodesets/policy_sum.py").read_text()
    mode = 'parallelism = "shared"'
    text = text.replace(mode, f"{mode}\n    deployment = Deployment(max_episodes=3)")
    workspace(
        "policy_sum.py", text.replace("import BaseCanvasNode", "import Deployment, BaseCanvasNode")
    )
    workspace("env_drift.py", (WORKSPACE / "nodesets/env_drift.py").read_text())
    folder = workspace("drift.json", (WORKSPACE / "graphs/drift.json").read_text())
    wayfare.environment["WAYFARE_WORKSPACE"] = str(folder)

    found = wayfare.show(wayfare.evaluate("drift", "--workers", "2")["out"])

    policy = found["nodesets"]["policy_sum"]
    assert policy["copies"][0]["recycled"] > 0
    assert policy["tools"]["act"]["rows"] == sum(row["steps"] for row in found["episodes_table"])


DIES_ONCE = """
import os, pathlib, signal

def die_once(ctx, path):
    if any(row.step > 2 for row in ctx.rows) and not pathlib.Path(path).exists():
        pathlib.Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)


class Act("""


def test_batches_of_a_shared_copy_that_died_are_said_to_be_missing(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    text = (WORKSPACE / "nodesets/policy_sum.py").read_text().replace("\nclass Act(", DIES_ONCE)
    seen, marker = 'seen = inputs["seen"]', str(wayfare.folder / "died")
    workspace("policy_sum.py", text.replace(seen, f"{seen}\n        die_once(ctx, {marker!r})"))
    workspace("env_drift.py", (WORKSPACE / "nodesets/env_drift.py").read_text())
    folder = workspace("drift.json", (WORKSPACE / "graphs/drift.json").read_text())
    wayfare.environment["WAYFARE_WORKSPACE"] = str(folder)

    out = wayfare.evaluate("drift", "--workers", "2")["out"]

    found = wayfare.show(out)
    policy, env = found["nodesets"]["policy_sum"], found["nodesets"]["env_drift"]
    assert (policy["uncounted_copies"], env["uncounted_copies"]) == (1, 0)
    steps = sum(row["steps"] for row in found["episodes_table"])
    assert 0 < policy["tools"]["act"]["rows"] < steps
    shown = wayfare.run("show", out).out
    assert "not counted  the batches that one copy of policy_sum had served, which died" in shown
