"""Run nodeset's own tests under the oldest and the newest interpreter that it promises.

Knows nothing of what those tests check.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

DEADLINE_SECONDS = 1100


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_nodeset_passes_its_tests_under(
    version: str, foreign_python: Callable[[str], Path], repo_root: Path, tmp_path: Path
) -> None:
    python = foreign_python(version)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\ntimeout = 600\n")
    command = [
        str(python),
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
    ]
    tests = str(repo_root / "tests/unit/nodeset")
    command += [
        "--import-mode=importlib",
        "-c",
        str(tmp_path / "pytest.ini"),
        "--confcutdir",
        tests,
        tests,
    ]
    folders = os.pathsep.join([str(repo_root / "packages/nodeset/src"), str(repo_root)])
    environment = {**os.environ, "PYTHONPATH": folders, "PYTHONSAFEPATH": "1"}

    answer = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
    )

    assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-2000:]
    assert " passed" in answer.stdout
