"""Build a simulator's environment before its tests, or skip them with what would help."""

from __future__ import annotations

import ctypes.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

LIBRARIES = ("EGL", "GL", "GLU")
PACKAGES = "libegl1 libegl-mesa0 libgl1 libgl1-mesa-dri libglu1-mesa libopengl0"
NO_NETWORK = "without a network"


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
