"""Show that wheels, installed outside the checkout, bring the shipped nodesets and graphs.

Knows nothing of what the nodesets do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS


@dataclass(frozen=True)
class Installation:
    """An environment with both wheels, and an empty folder to run from."""

    folder: Path
    away: Path

    def run(self, *command: str) -> str:
        """Run one of its programs from outside the checkout and give its standard output."""
        keep = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
        answer = subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=self.away,
            env={**keep, "HOME": str(self.away)},
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
        assert answer.returncode == 0, answer.stdout[-2000:] + answer.stderr[-4000:]
        return answer.stdout


@pytest.fixture(scope="module")
def installation(repo_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Build both wheels and install them, without their requirements.

    Those come from this interpreter's own site-packages by a `.pth` file, whose own `.pth` files
    (which name the checkout) are not read, so nothing of the checkout is on the path.
    """
    work = tmp_path_factory.mktemp("wheel")
    uv(["build", "--wheel", "--no-build-isolation", "--out-dir", str(work), str(repo_root)])
    package = str(repo_root / "packages" / "nodeset")
    uv(["build", "--wheel", "--no-build-isolation", "--out-dir", str(work), package])
    folder = work / "venv"
    uv(["venv", "--python", sys.executable, str(folder)])
    python = str(folder / "bin" / "python")
    uv(["pip", "install", "--no-deps", "--python", python, *map(str, sorted(work.glob("*.whl")))])
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "requirements.pth").write_text(sysconfig.get_path("purelib") + "\n")
    away = work / "away"
    away.mkdir()
    return Installation(folder, away)


def uv(arguments: list[str]) -> None:
    environment = {
        **os.environ,
        "PATH": str(Path(sys.executable).parent) + ":" + os.environ["PATH"],
    }
    environment["VIRTUAL_ENV"] = sys.prefix
    answer = subprocess.run(
        ["uv", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert answer.returncode == 0, answer.stderr


def test_wheels_are_imported_from_outside_the_checkout(installation: Installation) -> None:
    show = "import nodeset, wayfare; print(nodeset.__file__); print(wayfare.__file__)"

    paths = installation.run("python", "-c", show).split()

    assert all(Path(path).is_relative_to(installation.folder) for path in paths)


def test_an_installed_wayfare_finds_the_shipped_nodesets(
    installation: Installation, repo_root: Path
) -> None:
    listed = installation.run("wayfare", "nodesets", "--json")

    text = json.dumps(json.loads(listed))
    assert "env_gymnasium" in text
    assert "policy_planner" in text
    assert str(repo_root) not in text


def test_an_installed_wayfare_runs_a_shipped_graph(installation: Installation) -> None:
    answer = installation.run("wayfare", "eval", "minigrid_planner", "--episodes", "2", "--json")

    assert json.loads(answer)["episodes"]["completed"] == 2
