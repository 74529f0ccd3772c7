"""What commands print where nobody can take it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.deadline import HANG_SECONDS

GRAPH = "line"


def test_a_full_disk_under_stdout_keeps_the_run_and_is_one_sentence(wayfare) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            wayfare.command("eval", GRAPH, "--episodes", "2", "--json"),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=HANG_SECONDS,
            env=wayfare.environment,
        )
    assert done.returncode == 3
    last = done.stderr.splitlines()[-1]
    assert last.startswith("wayfare: standard output can't be written: No space left on device.")
    assert "Traceback" not in done.stderr
    (run,) = (wayfare.folder / "runs").iterdir()
    assert wayfare.show(run.name)["episodes"]["completed"] == 2
