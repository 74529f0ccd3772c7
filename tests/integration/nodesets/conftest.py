"""Build a simulator's environment before its tests, or skip them with what would help."""

from __future__ import annotations

import ctypes.util
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.deadline import HANG_SECONDS

LIBRARIES = ("EGL", "GL", "GLU")
PACKAGES = "libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri libglu1-mesa libopengl0"
NO_NETWORK = "without a network"
HABITAT_SCENES = ("habitat/simple_room.glb", "habitat/stage_floor1.glb")
QUIET = {"MAGNUM_LOG": "quiet", "HABITAT_SIM_LOG": "quiet", "GLOG_minloglevel": "2"}


@pytest.fixture(scope="session")
def built() -> dict[str, dict[str, Any]]:
    """Give what was built in this session, by name."""
    return {}


@pytest.fixture
def rendering(wayfare: Any, built: dict[str, dict[str, Any]]) -> Callable[[str], Any]:
    """Give a function from a simulator's name to the command, with its environment built."""

    def prepare(name: str) -> Any:
        missing = [library for library in LIBRARIES if not ctypes.util.find_library(library)]
        if missing:
            pytest.skip(f"no {', '.join(missing)} to render with: apt-get install {PACKAGES}")
        if name not in built:
            answer = wayfare.run("nodesets", name, "--build", "--json")
            (built[name],) = answer.document["nodesets"]
        entry = built[name]
        reason = entry["interpreter"]["reason"]
        if NO_NETWORK in reason:
            pytest.skip(f"{reason} Online, `wayfare nodesets --build {name}` builds it")
        assert entry["interpreter"]["state"] == "ready", reason
        assert entry["available"], entry["unavailable"]
        return wayfare

    return prepare


@pytest.fixture
def call_tools(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Give a function that calls tools in episode 0 and returns their arrays, as `TOOL.PORT`."""

    def call(wayfare: Any, *line: str) -> dict[str, Any]:
        folder = tmp_path / "arrays"
        answer = wayfare.run("call", *line, "--episode", "0", "--out", str(folder))
        assert answer.status == 0, answer.err
        arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
        return {name.partition("__")[2]: array for name, array in arrays.items()}

    return call


@pytest.fixture(scope="session")
def find_simulator() -> Callable[[str, str, str], Path]:
    """Give a function that finds the interpreter of `conda:NAME` which has a module, or skips."""

    def find(name: str, module: str, remedy: str) -> Path:
        for folder in os.environ.get("WAYFARE_PYTHONS", "").split(os.pathsep):
            python = Path(folder) / name / "bin/python"
            if folder and python.exists():
                probe = [str(python), "-c", f"import {module}"]
                if subprocess.run(probe, capture_output=True, timeout=HANG_SECONDS).returncode == 0:
                    return python
        pytest.skip(remedy)

    return find


@pytest.fixture(scope="session")
def mattersim(find_simulator: Callable[[str, str, str], Path]) -> Path:
    """Give the interpreter of the environment `mattersim`; skip where none has the simulator."""
    return find_simulator(
        "mattersim",
        "MatterSim",
        "no Matterport3DSimulator: build it from peteanderson80/Matterport3DSimulator for an "
        "interpreter FOLDER/mattersim/bin/python and add FOLDER to WAYFARE_PYTHONS",
    )


@pytest.fixture(scope="session")
def habitat(find_simulator: Callable[[str, str, str], Path]) -> Path:
    """Give the interpreter of the environment `habitat`; skip where none has the simulator."""
    return find_simulator(
        "habitat",
        "habitat_sim",
        "no Habitat-Sim: make FOLDER/habitat with `conda create -p FOLDER/habitat python=3.9 "
        "habitat-sim headless -c conda-forge -c aihabitat`, and add FOLDER to WAYFARE_PYTHONS",
    )


@pytest.fixture
def habitat_data(data_file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the data folder, in which Habitat's two test scenes lie."""
    folder = data_file(HABITAT_SCENES[0]).parent.parent
    monkeypatch.setenv("WAYFARE_DATA", str(folder))
    return folder


@pytest.fixture
def run_in_habitat(habitat: Path, repo_root: Path) -> Callable[..., str]:
    """Give a function that runs a script of the tree in the simulator's interpreter."""

    def run(script: str, *arguments: object) -> str:
        folders = os.pathsep.join([str(repo_root / "packages/nodeset/src"), str(repo_root)])
        done = subprocess.run(
            [str(habitat), str(repo_root / script), *map(str, arguments)],
            env={**os.environ, **QUIET, "PYTHONPATH": folders},
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return run


@pytest.fixture
def pointnav(
    run_in_habitat: Callable[..., str], habitat_data: Path, tmp_path: Path
) -> dict[str, Any]:
    """Give the configuration of 12 generated PointNav episodes over both scenes."""
    made = tmp_path / "test.json.gz"
    scenes = [habitat_data / scene for scene in HABITAT_SCENES]
    kinds = ("--count", "12", "--curved", "3", "--flat", "stage_floor1.glb")
    arguments = ("--out", made, "--prefix", "habitat/", *kinds)
    run_in_habitat("nodesets/env_habitat/generate.py", *scenes, *arguments)
    return {"env_habitat.episodes": str(tmp_path / "{split}.json.gz"), "env_habitat.gpu": -1}
