"""The shipped Room-to-Room agents are sound, and only those that calibrate see the goal."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeset.loading import load_nodeset
from nodeset.manifest import build_manifest
from wayfare.graph.document import load_graph
from wayfare.graph.validate import validate


@pytest.mark.parametrize(
    "name", ["r2r_oracle", "r2r_random", "r2r_reference", "r2r_route", "r2r_stop"]
)
def test_a_shipped_agent_has_no_faults(name: str, repo_root: Path) -> None:
    nodesets = ("env_r2r", "policy_planner")
    manifests = {
        nodeset: build_manifest(load_nodeset(str(repo_root / "nodesets" / nodeset)))
        for nodeset in nodesets
    }
    document = load_graph(repo_root / "graphs" / f"{name}.json")
    assert validate(document, manifests) == []
    sees_goal = any(node.type == "env_r2r__task" for node in document.nodes)
    assert sees_goal == (name in {"r2r_oracle", "r2r_reference", "r2r_route"})


def test_the_agent_that_scores_panoramas_has_no_faults_and_sees_no_goal(repo_root: Path) -> None:
    document = load_graph(repo_root / "graphs" / "r2r_panorama.json")
    manifests = {}
    for name, spec in document.nodesets.items():
        nodeset = "policy_planner" if spec.use else name
        manifests[name] = build_manifest(load_nodeset(str(repo_root / "nodesets" / nodeset)))
    assert validate(document, manifests) == []
    assert not any(node.type == "env_panorama__task" for node in document.nodes)
