"""Give integration tests the `wayfare` command, in processes of its own as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.deadline import HANG_SECONDS

WORKSPACE = Path(__file__).resolve().parents[1] / "workspace"


@dataclass(frozen=True)
class Answer:
    """What one command came to."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that it printed."""
        document: dict[str, Any] = json.loads(self.out)
        return document


class Wayfare:
    """Runs commands on the tests' workspace; its runs lie in a folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[subprocess.Popen[str]] = []
        self.environment = {
            **os.environ,
            "WAYFARE_RUNS": str(folder / "runs"),
            "WAYFARE_WORKSPACE": str(WORKSPACE),
        }

    def run(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Answer:
        """Run one command to its end."""
        done = subprocess.run(
            self.command(*arguments),
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            env={**self.environment, **(environment or {})},
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start one command; what the test has not ended by its end is killed."""
        process = subprocess.Popen(
            self.command(*arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        """End what was started."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def evaluate(self, graph: str, *arguments: str, status: int = 0) -> dict[str, Any]:
        """Evaluate a graph and return the JSON document; the exit status must be `status`."""
        answer = self.run("eval", graph, "--json", *arguments)
        assert answer.status == status, answer.err
        return answer.document

    def show(self, run: str) -> dict[str, Any]:
        """Return what `wayfare show --json` says of a run."""
        answer = self.run("show", run, "--json")
        assert answer.status == 0, answer.err
        return answer.document

    @staticmethod
    def command(*arguments: str) -> list[str]:
        """Return the command line."""
        return [sys.executable, "-m", "wayfare", *arguments]


@pytest.fixture
def wayfare(tmp_path: Path) -> Iterator[Wayfare]:
    """Give the command."""
    command = Wayfare(tmp_path)
    yield command
    command.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Callable[[str, str], Path]:
    """Give a function that writes a nodeset's file into a workspace of the test's own."""

    def write(name: str, text: str) -> Path:
        folder = tmp_path / "workspace"
        for part in ("nodesets", "graphs"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / ("graphs" if name.endswith(".json") else "nodesets") / name).write_text(text)
        return folder

    return write
