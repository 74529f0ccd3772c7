"""The transport benchmark runs; what it measures at this size means nothing."""

import json
import subprocess
import sys
from pathlib import Path

from tests.deadline import HANG_SECONDS

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "transport.py"


def test_it_prints_its_figures_and_their_table():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--tiny"],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    line, table = done.stdout.split("\n", 1)
    figures = json.loads(line)["figures"]
    assert set(figures) == {"scalars_us", "rgbd_us", "main_process_us"}
    assert figures["scalars_us"]["Wayfare, one call"]["median"] > 0
    assert "| Wayfare, one turn of a graph |" in table
