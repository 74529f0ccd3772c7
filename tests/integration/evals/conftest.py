"""Give tests of damage runs to damage."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def made() -> dict[str, Path]:
    """Keep runs that several tests damage copies of."""
    return {}


@pytest.fixture
def run(wayfare: Any, made: dict[str, Path], tmp_path_factory: Any, tmp_path: Path) -> Any:
    """Give a function from a graph and `--record` to a copy of such a run, to be damaged."""

    def copy(graph: str = "camera", record: str = "actions") -> Path:
        if f"{graph} {record}" not in made:
            folder = tmp_path_factory.mktemp(graph)
            wayfare.environment["WAYFARE_RUNS"] = str(folder)
            made[f"{graph} {record}"] = Path(wayfare.evaluate(graph, "--record", record)["out"])
        target = tmp_path / "runs" / "copy"
        shutil.copytree(made[f"{graph} {record}"], target)
        return target

    return copy
