"""Run every example as its page says, with one worker and with several.

Knows nothing of what an example is meant to teach.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

import wayfare

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted([*EXAMPLES.glob("*.py"), *(ROOT / "docs" / "snippets").glob("*.py")])
MAX_LINES = 59
SUBGRAPHS = {"look_ahead", "score_view"}

MEANS = {
    "hello": {"six": 0.16},
    "corridor": {"success": 0.5},
    "corridor_pure": {"success": 0.5},
    "corridor_recurrent": {"success": 1.0},
    "two_replicated": {"distance": 23.0, "success": None},
    "nested": {"success": 1.0},
    "panorama": {"success": 1.0},
    "custom_metric": {
        "SPL": pytest.approx(0.694, abs=1e-3),
        "reversals": pytest.approx(1 / 34),
        "success": None,
    },
    "controller": {"success": 0.5},
}
"""The means of each agent's metrics over all its episodes; none of one that is declared only."""


@pytest.fixture
def evaluate(tmp_path):
    def run(graph, workers):
        return wayfare.evaluate(graph, workers=workers, workspaces=[EXAMPLES], out=tmp_path)

    return run


@pytest.mark.parametrize("graph", MEANS)
def test_an_example_runs_and_the_number_of_workers_changes_nothing(evaluate, graph):
    one, three = evaluate(graph, workers=1), evaluate(graph, workers=3)

    assert {name: metric.mean for name, metric in one.metrics.items()} == MEANS[graph]
    assert three.digest == one.digest
    assert three.summary.invariance.claimed


def test_the_shared_policy_sees_batches(evaluate):
    run = evaluate("corridor_recurrent", workers=4)

    assert run.summary.nodesets["policy_corridor"].mean_batch > 1


def test_the_items_of_a_map_come_as_one_batch(evaluate):
    run = evaluate("panorama", workers=1)

    assert run.summary.nodesets["policy_red"].mean_batch == 8


def test_two_replicated_nodesets_have_a_copy_per_worker_each(evaluate):
    nodesets = evaluate("two_replicated", workers=2).summary.nodesets

    assert {name: [copy.tag for copy in report.copies] for name, report in nodesets.items()} == {
        "env_corridor": ["env_corridor#0", "env_corridor#1"],
        "odometer": ["odometer#0", "odometer#1"],
        "policy_corridor": ["policy_corridor"],
    }


def test_the_first_page_shows_what_its_command_prints(wayfare):
    run = wayfare.evaluate("hello", "--workspace", str(EXAMPLES), "--workers", "4")

    assert run["digest"] in (ROOT / "docs" / "index.md").read_text()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_runs(script, tmp_path):
    command = [sys.executable, str(script)]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=HANG_SECONDS
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_every_graph_is_run_or_is_a_subgraph():
    assert {path.stem for path in EXAMPLES.glob("graphs/*.json")} == MEANS.keys() | SUBGRAPHS


def test_every_example_is_short():
    files = [path for path in EXAMPLES.rglob("*") if path.suffix in (".py", ".json")]

    assert [path.name for path in files if path.read_text().count("\n") > MAX_LINES] == []
