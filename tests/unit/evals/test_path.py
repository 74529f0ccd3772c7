"""An empty text is no path, wherever a program hands one in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import wayfare
from wayfare.evals.errors import SetupError
from wayfare.evals.run import Run
from wayfare.graph.fault import GraphError
from wayfare.store.errors import RunNotFoundError


@pytest.mark.parametrize(
    "ask",
    [
        lambda: wayfare.evaluate("line", out=""),
        lambda: wayfare.evaluate("line", workspaces=[" "]),
        lambda: wayfare.evaluate("line", workspaces="nodesets"),
        lambda: wayfare.bake("env_none", out=""),
        lambda: wayfare.bake("env_none", out="store", workspaces=[""]),
        lambda: wayfare.read_manifests([], workspaces=[""]),
        lambda: Run.open("some", out=""),
    ],
)
def test_an_empty_path_is_refused_before_anything_is_read(
    ask: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SetupError, match=r"(out|workspaces) is .*it must be a"):
        ask()
    assert not list(tmp_path.iterdir())


def test_a_run_without_a_name_is_none() -> None:
    with pytest.raises(RunNotFoundError, match="the run is ''"):
        Run.open("")


@pytest.mark.parametrize("path", ["", "."])
def test_a_graph_is_not_written_where_no_file_is_named(path: str) -> None:
    with pytest.raises(GraphError, match="is no file to write"):
        wayfare.Graph().save(path)
