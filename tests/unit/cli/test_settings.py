"""What the surroundings say: workspaces, runs, data."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayfare.cli.settings import Settings


def test_the_current_folder_is_a_workspace_if_it_holds_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings.read({}).workspaces == ()
    (tmp_path / "nodesets").mkdir()
    named = Settings.read({"WAYFARE_WORKSPACE": "/a:/b"}, [Path("/c")]).workspaces
    assert named == (Path(), Path("/a"), Path("/b"), Path("/c"))


def test_data_is_named_absolutely_since_copies_may_run_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "WAYFARE_DATA" not in Settings.read({}).environment
    assert Settings.read({"WAYFARE_DATA": "d"}).environment["WAYFARE_DATA"] == str(tmp_path / "d")


def test_runs_lie_in_the_current_folder_unless_named() -> None:
    assert Settings.read({}).runs == Path("runs")
    assert Settings.read({"WAYFARE_RUNS": "/r"}).runs == Path("/r")


@pytest.mark.parametrize("text", ["", " "])
def test_a_variable_that_is_empty_counts_as_not_set(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("WAYFARE_RUNS", "WAYFARE_WORKSPACE", "WAYFARE_DATA")
    settings, unset = Settings.read(dict.fromkeys(names, text)), Settings.read({})
    assert (settings.runs, settings.workspaces) == (unset.runs, unset.workspaces)
