"""Every benchmark runs at a tiny size and prints what it promises."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
DEADLINE_SECONDS = 240


@pytest.mark.timeout(DEADLINE_SECONDS + 30)
@pytest.mark.parametrize("name", ["episodes", "stragglers", "startup", "scale", "memory"])
def test_benchmark_prints_its_figures_and_a_table(name, tmp_path):
    output = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / f"{name}.py"), "--tiny", "--output", str(output)],
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    document, _, tables = done.stdout.partition("\n")
    assert json.loads(document) == json.loads(output.read_text())
    assert {"benchmark", "machine", "repetitions", "figures"} <= set(json.loads(document))
    assert tables.strip().startswith("|")
