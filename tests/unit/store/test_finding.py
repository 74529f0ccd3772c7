"""A run is found by its id among the runs, or by a path; an id never leads anywhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayfare.store.errors import RunNotFoundError
from wayfare.store.folder import HEADER_FILE, find_folder
from wayfare.store.listing import list_runs
from wayfare.store.resumption import resume_command


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Give a folder with a run in it and one beside it; the current folder is neither's."""
    for folder in ("runs/mine", "other"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / HEADER_FILE).touch()
    (tmp_path / "here" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here" / "below")
    return tmp_path / "runs"


def test_an_id_names_a_run(runs):
    assert find_folder("mine", runs) == runs / "mine"


def test_a_path_is_taken_from_the_current_folder(runs):
    assert find_folder("../../runs/mine", runs) == Path("../../runs/mine")
    assert find_folder(runs / "mine", runs) == runs / "mine"


@pytest.mark.parametrize(
    "run",
    ["../other", "mine/../../other", "mine/.", "", ".", "..", "/", "x" * 300, "a\0b", "\udcff"],
)
def test_what_is_no_id_leads_nowhere_from_the_runs(runs, run):
    (runs / HEADER_FILE).touch()
    with pytest.raises(RunNotFoundError, match=r"run folder \(one with a run.json\)"):
        find_folder(run, runs)


def test_a_folder_of_runs_that_no_name_can_have_is_refused(runs):
    with pytest.raises(RunNotFoundError, match="is no folder of runs: File name too long"):
        list_runs(Path("x" * 300))


def test_the_command_that_goes_on_names_a_folder_that_no_id_goes_before(runs):
    assert resume_command("../../other") == "wayfare eval --resume ../../other"
    assert resume_command("mine") == f"wayfare eval --resume {Path.cwd() / 'mine'}"
