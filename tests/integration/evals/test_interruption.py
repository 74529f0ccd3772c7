"""A run that is ended early keeps what is finished and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.deadline import HANG_SECONDS, wait_until
from tests.processes import descendants_of, is_alive

WORKSPACE = Path(__file__).resolve().parents[2] / "workspace"
SLOW = ("--workers", "4", "--set", "env_drift.count=500", "--set", "env_drift.max_delay_s=0.05")


def expect_gone(pids: Iterable[int]) -> None:
    wait_until(lambda: not any(map(is_alive, pids)))


def start(wayfare: Any, *arguments: str) -> tuple[subprocess.Popen[str], Path, set[int]]:
    """Start a run and wait until some episodes are on disk."""
    process = wayfare.start("eval", "drift", *SLOW, "--json", *arguments)
    runs = wayfare.folder / "runs"
    wait_until(lambda: any(p.stat().st_size > 4000 for p in runs.glob("*/episodes.frames")))
    (folder,) = runs.iterdir()
    return process, folder, descendants_of(process.pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_run_and_keeps_what_is_finished(wayfare: Any, number: int) -> None:
    process, folder, family = start(wayfare)
    process.send_signal(number)
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 75, err
    assert '"status": "incomplete"' in out
    counts = wayfare.show(str(folder))["episodes"]
    assert 0 < counts["completed"] < counts["total"] == 500
    expect_gone(family)


def test_second_signal_ends_the_run_at_once(wayfare: Any) -> None:
    (wayfare.folder / "hold").touch()
    held = f"env_drift.hold={wayfare.folder / 'hold'}"
    process, _, family = start(wayfare, "--set", held, "--drain-seconds", "3600")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)  # another one: two of a kind may become one
    process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 75
    expect_gone(family)


def test_signal_before_the_first_episode_keeps_nothing(
    wayfare: Any, workspace: Callable[[str, str], Path]
) -> None:
    begun = wayfare.folder / "begun"
    heavy = f"open({str(begun)!r}, 'w').close()\n        time.sleep(3600)"
    text = (WORKSPACE / "nodesets/env_drift.py").read_text()
    text = text.replace(
        "    def wait(self)", f"    def initialize(self):\n        {heavy}\n\n    def wait(self)"
    )
    wayfare.environment["WAYFARE_WORKSPACE"] = str(workspace("env_drift.py", text))
    for name in ("policy_sum.py", "memory.py"):
        workspace(name, (WORKSPACE / "nodesets" / name).read_text())
    process = wayfare.start("eval", str(WORKSPACE / "graphs/drift.json"))
    wait_until(begun.exists)
    family = descendants_of(process.pid)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 75, err
    assert "nothing was kept" in err
    expect_gone(family)


def test_death_of_the_main_process_leaves_nothing(wayfare: Any) -> None:
    process, folder, family = start(wayfare)
    assert len(family) >= 6
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=HANG_SECONDS)
    expect_gone(family)
    document = wayfare.show(str(folder))
    assert document["status"] == "incomplete"
    assert document["episodes"]["completed"] > 0
