"""env_mp3d on a real Matterport3DSimulator, where an interpreter has one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.deadline import HANG_SECONDS

import wayfare

VIEWS_OF_VAL_UNSEEN = 34_272


def test_pure_and_simulated_views_agree_at_every_viewpoint(
    mattersim: Path, data_file: Callable[[str], Path], repo_root: Path
) -> None:
    data = data_file("connectivity/scans.txt").parent.parent
    folders = os.pathsep.join([str(repo_root / "packages/nodeset/src"), str(repo_root)])
    script = str(repo_root / "tests/simulators/matterport_views.py")

    answer = subprocess.run(
        [str(mattersim), script, str(data)],
        env={**os.environ, "PYTHONPATH": folders},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )

    report = json.loads(answer.stdout)
    assert (report["views"], report["differing"]) == (VIEWS_OF_VAL_UNSEEN, 0)
    assert report["angle"] < 1e-6
    assert report["distance"] < 1e-6


@pytest.mark.usefixtures("mattersim")
def test_results_do_not_depend_on_the_number_of_simulators(
    data_file: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = data_file("r2r/R2R_val_unseen.json").parent.parent
    monkeypatch.setenv("WAYFARE_DATA", str(data))

    digests = {
        wayfare.evaluate(
            "mp3d_random",
            workers=workers,
            episodes=24,
            out=tmp_path / str(workers),
        ).digest
        for workers in (1, 2, 4)
    }

    assert len(digests) == 1


@pytest.mark.usefixtures("mattersim")
def test_the_oracle_scores_as_on_the_pure_environment(
    data_file: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = data_file("r2r/R2R_val_unseen.json").parent.parent
    monkeypatch.setenv("WAYFARE_DATA", str(data))

    simulated, pure = (
        wayfare.evaluate(graph, workers=2, episodes=60, out=tmp_path / graph)
        for graph in ("mp3d_oracle", "r2r_oracle")
    )

    assert [episode.outcome for episode in simulated.episodes] == ["completed"] * 60
    assert simulated.metrics == pure.metrics
