"""Runs of the graph `drift` that are held in their middle until a test has done its deed.

Knows nothing of what it does. However slow or quick a machine is, the run is not over before.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tests.deadline import HANG_SECONDS, wait_until

SOME_RECORDS = 2000
"""Bytes of a few episodes' records."""


def held(wayfare: Any) -> tuple[str, ...]:
    """Return options for 40 episodes; each worker holds on after 12 while it is told to."""
    return ("--set", "env_drift.count=40", "--set", f"env_drift.hold={wayfare.folder / 'hold'}")


def start_and_hold(wayfare: Any, *arguments: str) -> tuple[subprocess.Popen[str], Path]:
    """Start a run; return it, and its folder, once some episodes are on disk."""
    (wayfare.folder / "hold").touch()
    process = wayfare.start("eval", *arguments)
    return process, wait_for_records(process, wayfare.folder / "runs")


def let_go(wayfare: Any) -> None:
    (wayfare.folder / "hold").unlink()


def kill_in_the_middle(wayfare: Any, *arguments: str) -> Path:
    """Start a run, kill it when some of its episodes are on disk, and return its folder."""
    process, folder = start_and_hold(wayfare, *arguments)
    process.kill()
    process.communicate(timeout=HANG_SECONDS)
    let_go(wayfare)
    return folder


def wait_for_records(process: subprocess.Popen[str], folder: Path) -> Path:
    """Wait until some episodes of the only run in `folder` are on disk; return the run's folder."""
    found: list[Path] = []

    def look() -> bool:
        files = folder.glob("*/episodes.frames")
        found.extend(file.parent for file in files if file.stat().st_size > SOME_RECORDS)
        assert found or process.poll() is None, process.communicate()
        return bool(found)

    wait_until(look)
    return found[0]
