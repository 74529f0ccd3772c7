"""Every benchmark runs at a tiny size and prints what it promises."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


def run_tiny(name, folder):
    """Return what a benchmark printed: its document, and its tables."""
    output = folder / "figures.json"
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / f"{name}.py"), "--tiny", "--output", str(output)],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    line, _, tables = done.stdout.partition("\n")
    document = json.loads(line)
    assert document == json.loads(output.read_text())
    assert {"benchmark", "machine", "repetitions", "figures"} <= set(document)
    return document, tables.strip()


@pytest.mark.parametrize("name", ["episodes", "stragglers", "startup", "scale", "memory"])
def test_benchmark_prints_its_figures_and_a_table(name, tmp_path):
    _, tables = run_tiny(name, tmp_path)

    assert tables.startswith("|")


def test_pure_environments_measure_the_same_in_one_process_and_in_many(tmp_path):
    document, tables = run_tiny("pure_environments", tmp_path)

    reason = document["figures"].get("not_measured", "")
    if "without a network" in reason:
        pytest.skip(reason)
    assert set(document["figures"]) == {"CartPole-v1", "Pendulum-v1"}
    assert tables.startswith("|")
    assert "2 processes" in tables
