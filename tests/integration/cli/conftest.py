"""Give command lines as they are typed, in a folder of the test's own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS


class Shell:
    """Runs `wayfare …` lines one after the other in one folder, with nothing else configured."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = {k: v for k, v in os.environ.items() if k not in ("WAYFARE_WORKSPACE",)}
        self.environment = {**kept, "COLUMNS": "80"}

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run one line to its end, whatever its status."""
        command, *arguments = shlex.split(line)
        assert command == "wayfare", line
        return subprocess.run(
            [sys.executable, "-m", "wayfare", *arguments],
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            cwd=self.folder,
            env=self.environment,
        )

    def __call__(self, line: str) -> str:
        """Run one line, which must succeed; return what it printed."""
        done = self.run(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def find_commands(text: str) -> list[str]:
    """Return the lines of a text that are commands to type."""
    return [line.strip() for line in text.splitlines() if line.strip().startswith("wayfare ")]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Give the shell."""
    return Shell(tmp_path)


@pytest.fixture
def commands_of():
    """Give a function from a text to the commands that it shows."""
    return find_commands
