"""The torch and JAX nodesets in the environments that their headers ask for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import FOREIGN_PACKAGES, find_uv

pytestmark = pytest.mark.timeout(1500)
TORCH = "torch==2.13.0"
WORKSPACE = Path(__file__).resolve().parents[2] / "torch"
DEADLINE_SECONDS = 600


def find_wheels() -> str:
    """Return the folder of a CPU build of torch; skip without one: the index's takes gigabytes."""
    named = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS", "")
    if not any(Path(folder).glob("torch-*.whl") for folder in named.split()):
        pytest.skip("no CPU build of torch: name a folder that holds its wheel in UV_FIND_LINKS")
    return named


@pytest.fixture
def with_torch(wayfare: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the command, with the environment of the torch nodesets built."""
    monkeypatch.setenv("UV_FIND_LINKS", find_wheels())
    answer = wayfare.run("nodesets", "policy_cma", "--build", "--json")
    (entry,) = answer.document["nodesets"]
    assert entry["interpreter"]["state"] == "ready", entry["interpreter"]["reason"]
    return wayfare


def run_own_tests(folder: Path, place: Path, *packages: str) -> None:
    """Run the tests of a folder in a fresh environment that has the packages."""
    uv = find_uv()
    assert uv is not None
    root = folder.parents[1]
    environment = {**os.environ, "VIRTUAL_ENV": str(place), "JAX_PLATFORMS": "cpu"}
    environment["PYTHONPATH"] = os.pathsep.join([str(root / "packages/nodeset/src"), str(root)])
    python = str(place / "bin/python")
    tests = [str(folder), "--confcutdir", str(folder)]

    for command in (
        [str(uv), "venv", "--quiet", "--python", "3.11", str(place)],
        [str(uv), "pip", "install", "--quiet", *packages, *FOREIGN_PACKAGES],
        [python, "-m", "pytest", "-q", "-c", os.devnull, "--import-mode=importlib", *tests],
    ):
        answer = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS
        )
        assert answer.returncode == 0, answer.stdout[-3000:] + answer.stderr[-2000:]


def test_the_networks_own_tests_pass(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_FIND_LINKS", find_wheels())

    run_own_tests(repo_root / "tests/torch", tmp_path / "torch", TORCH)


def test_the_jax_environments_own_tests_pass(wayfare: Any, repo_root: Path, tmp_path: Path) -> None:
    require_network(wayfare)

    run_own_tests(repo_root / "tests/jax", tmp_path / "jax", "jax>=0.4.30", "gymnax>=1.0", "six")


def test_cma_gives_each_episode_what_it_gets_alone(with_torch: Any) -> None:
    runs = {
        workers: with_torch.evaluate(
            "cma_snapshots", "--workspace", str(WORKSPACE), "--workers", workers
        )
        for workers in ("1", "8")
    }

    assert len({run["digest"] for run in runs.values()}) == 1
    assert runs["8"]["invariance"]["claimed"]
    assert len(runs["8"]["nodesets"]["policy_cma"]["copies"]) == 1


def test_memory_on_the_wire_passes_a_check_and_on_the_nodeset_does_not(with_torch: Any) -> None:
    shipped = with_torch.run("check", "policy_recurrent", "--json")
    twin = with_torch.run("check", "policy_hidden_state", "--json", "--workspace", str(WORKSPACE))

    failing = {p["name"]: p for p in twin.document["properties"] if p["verdict"] == "fail"}
    assert (shipped.status, shipped.document["result"]) == (0, "pass")
    assert (twin.status, set(failing)) == (1, {"purity"})
    assert "HiddenStateNodeSet.hidden" in str(failing["purity"]["examples"][0]["state"])


def test_the_recurrent_policy_finds_the_box(
    with_torch: Any, rendering: Callable[[str], Any]
) -> None:
    rendering("env_miniworld")

    runs = [
        with_torch.evaluate("miniworld_recurrent", "--episodes", "4", "--workers", workers)
        for workers in ("1", "4")
    ]

    assert runs[0]["digest"] == runs[1]["digest"]
    assert runs[0]["metrics"]["success"]["mean"] == 1.0


def require_network(wayfare: Any) -> None:
    """Build the environment of `env_gymnax`; skip where its packages cannot be fetched."""
    answer = wayfare.run("nodesets", "env_gymnax", "--build", "--json")
    (entry,) = answer.document["nodesets"]
    if "without a network" in entry["interpreter"]["reason"]:
        pytest.skip(entry["interpreter"]["reason"])


def test_gymnax_does_not_feel_the_number_of_workers(wayfare: Any) -> None:
    require_network(wayfare)

    runs = [
        wayfare.evaluate("gymnax_random", "--episodes", "24", "--workers", workers)
        for workers in ("1", "8")
    ]

    assert runs[0]["digest"] == runs[1]["digest"]
    assert runs[0]["metrics"]["length"]["mean"] > 5
