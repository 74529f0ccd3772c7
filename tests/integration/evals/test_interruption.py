"""A run that is ended early keeps what is finished and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SLOW = ("--workers", "4", "--set", "env_drift.count=500", "--set", "env_drift.max_delay_s=0.05")
START_SECONDS = 30.0
END_SECONDS = 5.0


def wait_until(is_true: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def children_of(pid: int) -> set[int]:
    """Return all descendants of a process."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found |= {int(child)} | children_of(int(child))
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def start(wayfare: Any) -> tuple[subprocess.Popen[str], Path, set[int]]:
    """Start a run and wait until some episodes are on disk."""
    process = wayfare.start("eval", "drift", *SLOW, "--json")
    runs = wayfare.folder / "runs"
    assert wait_until(
        lambda: any(p.stat().st_size > 4000 for p in runs.glob("*/episodes.frames")), START_SECONDS
    )
    (folder,) = runs.iterdir()
    return process, folder, children_of(process.pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_run_and_keeps_what_is_finished(wayfare: Any, number: int) -> None:
    process, folder, family = start(wayfare)
    began = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=40)
    if number == signal.SIGINT:
        assert time.monotonic() - began < END_SECONDS
    assert process.returncode == 75, err
    assert '"status": "incomplete"' in out
    counts = wayfare.show(str(folder))["episodes"]
    assert 0 < counts["completed"] < counts["total"] == 500
    assert wait_until(lambda: not any(map(is_alive, family)), END_SECONDS)


def test_second_signal_ends_the_run_at_once(wayfare: Any) -> None:
    process, _, family = start(wayfare)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.1)  # so that the two signals do not become one
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=END_SECONDS)
    assert process.returncode == 75
    assert wait_until(lambda: not any(map(is_alive, family)), END_SECONDS)


def test_signal_before_the_first_episode_keeps_nothing(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    text = (Path(__file__).parents[2] / "workspace/nodesets/env_drift.py").read_text()
    heavy = "    def initialize(self) -> None:\n        time.sleep(60)\n\n    def wait(self)"
    folder = workspace("env_drift.py", text.replace("    def wait(self)", heavy))
    wayfare.environment["WAYFARE_WORKSPACE"] = str(folder)
    for name in ("policy_sum.py", "memory.py"):
        workspace(name, (Path(__file__).parents[2] / f"workspace/nodesets/{name}").read_text())
    graph = Path(__file__).parents[2] / "workspace/graphs/drift.json"
    process = wayfare.start("eval", str(graph))
    assert wait_until(lambda: len(children_of(process.pid)) >= 3, START_SECONDS)
    time.sleep(1)  # it is initializing now, or about to
    family = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=END_SECONDS)
    assert process.returncode == 75, err
    assert "nothing was kept" in err
    assert wait_until(lambda: not any(map(is_alive, family)), END_SECONDS)


def test_death_of_the_main_process_leaves_nothing(wayfare: Any) -> None:
    process, folder, family = start(wayfare)
    assert len(family) >= 6
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=END_SECONDS)
    assert wait_until(lambda: not any(map(is_alive, family)), END_SECONDS)
    document = wayfare.show(str(folder))
    assert document["status"] == "incomplete"
    assert document["episodes"]["completed"] > 0
