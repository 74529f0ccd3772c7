"""The batching benchmark runs; what it measures at this size means nothing."""

import json
import subprocess
import sys
from pathlib import Path

from tests.deadline import HANG_SECONDS

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "batching.py"


def test_it_prints_its_figures_and_their_tables():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--tiny", "--peers"],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    line, tables = done.stdout.split("\n", 1)
    figures = json.loads(line)["figures"]
    assert figures["1 callers, 5 ms handler"]["rows_per_batch"]["Wayfare"]["median"] == 1.0
    assert "4 callers that think 5 ms (exponential), 5 ms handler" in figures
    assert "| Wayfare, flushing when idle |" in tables
