"""Nodesets with script headers and conda environments, as `wayfare` commands run them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

OWN = "{}.{}".format(*sys.version_info)
VERSIONS = {"old": "3.8", "own": OWN, "new": "3.13"}
NODESET = """{header}
import sys

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode, PortDef


class Minor(BaseCanvasNode):
    node_type = "env_{name}__minor"
    output_ports = [PortDef("minor", "INT")]

    def forward(self, inputs, ctx):
        return {{"minor": sys.version_info[1]}}


class OneNodeSet(BaseNodeSet):
    name = "env_{name}"
    deployment = Deployment(python={python!r})

    def get_tools(self):
        return [Minor()]

    def get_eval_metadata(self):
        return {{"splits": ["test"], "default_split": "test", "metrics": ["{name}"]}}

    def get_episodes(self, split):
        return [Episode("a"), Episode("b")]
"""
HEADER = '# /// script\n# requires-python = "=={}.*"\n# dependencies = ["six"]\n# ///\nimport six'


def graph_of(*names: str) -> str:
    nodes: list[dict[str, Any]] = []
    edges = []
    for name in names:
        nodes.append({"id": name, "type": f"env_{name}__minor"})
        nodes.append({"id": f"m_{name}", "type": "graphOut", "config": {"portName": name}})
        ends = {"source": name, "sourceHandle": "minor", "target": f"m_{name}"}
        edges.append({**ends, "targetHandle": "value"})
    document = {"version": 1, "environment": f"env_{names[0]}", "nodes": nodes, "edges": edges}
    return json.dumps(document)


@pytest.fixture
def sims(wayfare: Any, workspace: Any, foreign_python: Callable[[str], Path]) -> Any:
    """Give the command with three nodesets, each with a header for a Python of its own."""
    for name, version in VERSIONS.items():
        text = NODESET.format(header=HEADER.format(version), name=name, python=None)
        workspace(f"env_{name}.py", text)
    folder = workspace("three.json", graph_of(*VERSIONS))
    workspace("one.json", graph_of("own"))
    pythons = [foreign_python(version).parent for version in ("3.8", "3.13")]
    wayfare.environment |= {
        "WAYFARE_WORKSPACE": str(folder),
        "WAYFARE_CACHE": str(wayfare.folder / "cache"),
        "WAYFARE_PYTHONS": os.pathsep.join(map(str, pythons)),
    }
    return wayfare


def build(sims: Any) -> str:
    """Build all environments; return what was said."""
    answer = sims.run("nodesets", "--build", "env_old", "env_own", "env_new")
    if "without a network" in answer.err + answer.out:
        pytest.skip("the packages of an environment can't be had without a network")
    assert answer.status == 0, answer.out + answer.err
    said: str = answer.err
    return said


def states(sims: Any, *names: str) -> dict[str, dict[str, Any]]:
    answer = sims.run("nodesets", "--json", *names)
    assert answer.status == 0, answer.err
    return {row["name"]: row["interpreter"] for row in answer.document["nodesets"]}


def test_one_graph_runs_in_three_pythons_at_once_each_with_its_header(sims: Any) -> None:
    assert "environment of env_old: building for Python 3.8" in build(sims)
    first = sims.evaluate("three", "--workers", "2")
    means = {name: metric["mean"] for name, metric in first["metrics"].items()}
    assert means == {"old": 8, "own": sys.version_info[1], "new": 13}
    assert sims.evaluate("three", "--workers", "1")["digest"] == first["digest"]
    header = json.loads((Path(first["out"]) / "run.json").read_text())
    for name in VERSIONS:
        assert len(header["nodesets"][f"env_{name}"]["environment"]) == 64
        assert header["nodesets"][f"env_{name}"]["packages"]["six"]


def test_the_first_use_builds_and_tells_so(sims: Any) -> None:
    assert states(sims, "env_own")["env_own"]["state"] == "not built"
    answer = sims.run("eval", "one", "--json")
    if "without a network" in answer.err:
        pytest.skip("the packages of an environment can't be had without a network")
    assert answer.status == 0, answer.err
    assert f"environment of env_own: building for Python {OWN}" in answer.err
    assert states(sims, "env_own")["env_own"]["state"] == "ready"


def test_the_list_shows_each_interpreter_and_builds_nothing(sims: Any) -> None:
    answer = sims.run("nodesets", "env_own", "env_old")
    assert answer.status == 0
    assert "its environment: wayfare nodesets --build env_old" in answer.out
    assert "The first use of a nodeset builds its environment, too." in answer.out
    assert not (sims.folder / "cache").exists()
    build(sims)
    found = states(sims, "env_old", "env_own")
    assert [found[name]["state"] for name in ("env_old", "env_own")] == ["ready", "ready"]
    assert found["env_old"]["version"].startswith("3.8.")


def fake_conda(sims: Any, name: str, python: Path) -> None:
    """Lay out a conda installation with one environment."""
    prefix = sims.folder / "conda" / "envs" / name
    (prefix / "conda-meta").mkdir(parents=True)
    (prefix / "bin").mkdir()
    (prefix / "bin" / "python").symlink_to(python)
    (prefix / "pyvenv.cfg").write_text((python.parent.parent / "pyvenv.cfg").read_text())
    (prefix / "lib").symlink_to(python.parent.parent / "lib")
    sims.environment["MAMBA_ROOT_PREFIX"] = str(sims.folder / "conda")


def test_a_nodeset_runs_in_the_conda_environment_that_it_names(
    sims: Any, workspace: Any, foreign_python: Callable[[str], Path]
) -> None:
    fake_conda(sims, "sim", foreign_python("3.8"))
    workspace("env_sim.py", NODESET.format(header="", name="sim", python="conda:sim"))
    workspace("sim.json", graph_of("sim"))
    run = sims.evaluate("sim")
    assert run["metrics"]["sim"]["mean"] == 8
    found = states(sims, "env_sim")["env_sim"]
    assert (found["wish"], found["state"]) == ("conda:sim", "ready")


@pytest.mark.parametrize(
    ("header", "python", "words"),
    [
        ("", "conda:gone", "no conda environment 'gone' found; there are: sim"),
        ("", "3.9", "no Python 3.9 found: looked in WAYFARE_PYTHONS"),
        ("", "/opt/none/python", "the interpreter '/opt/none/python' is no executable file"),
        (HEADER.format(OWN), "conda:sim", "there is a script header, and deployment.python is"),
        (HEADER.format("3.9"), None, "no Python that fits requires-python '==3.9.*' found"),
        (HEADER.format("3.7"), None, "`nodeset` runs in Python 3.8 to 3.13"),
        ("# /// script\n# dependencies = [\n# ///", None, "the script block is not TOML"),
    ],
    ids=["conda", "version", "path", "both", "no Python", "old Python", "no TOML"],
)
def test_what_can_not_be_had_gets_its_sentence_and_the_rest_is_listed(
    sims: Any,
    workspace: Any,
    foreign_python: Callable[[str], Path],
    *,
    header: str,
    python: str | None,
    words: str,
) -> None:
    fake_conda(sims, "sim", foreign_python("3.8"))
    workspace("env_bad.py", NODESET.format(header=header, name="bad", python=python))
    workspace("bad.json", graph_of("bad"))
    hermetic = {"PATH": str(sims.folder), "UV_PYTHON_INSTALL_DIR": str(sims.folder / "uv")}
    sims.environment |= {**hermetic, "UV_PYTHON_DOWNLOADS": "never", "UV_OFFLINE": "1"}
    answer = sims.run("nodesets", "--json")
    assert answer.status == 0
    rows = {row["name"]: row for row in answer.document["nodesets"]}
    assert rows["env_bad"]["interpreter"]["state"] == "missing"
    assert words in rows["env_bad"]["interpreter"]["reason"]
    assert rows["policy_planner"]["available"]
    refused = sims.run("eval", "bad")
    assert refused.status == 2
    assert words in refused.err
    assert "Traceback" not in refused.err
