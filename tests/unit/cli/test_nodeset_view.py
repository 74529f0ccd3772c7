"""The list of nodesets has a line for each, however narrow the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from nodeset.contract import Deployment
from nodeset.source import Declaration
from wayfare.cli.nodeset_view import Listed, render_nodesets
from wayfare.fleet.catalogue import NodeSetDescription
from wayfare.fleet.interpreter_state import InterpreterState
from wayfare.fleet.registry import NodeSetEntry


def make_listed(name: str, *, is_here: bool) -> Listed:
    path, words = Path(f"{name}.py"), "many words " * 20
    declaration = Declaration(name, "A", path, 1, words, "shared", Deployment())
    entry = NodeSetEntry(declaration, path, is_shipped=False)
    manifest, reason = ({}, "") if is_here else (None, words)
    description = NodeSetDescription(entry, manifest, reason, "conda environment 'sim'")
    return Listed(description, InterpreterState("Wayfare's own", "ready", version="3.11.7"))


def test_a_long_description_takes_one_line_and_a_long_reason_none() -> None:
    listed = [make_listed("here", is_here=True), make_listed("afar", is_here=False)]
    console = Console(width=80)
    with console.capture() as capture:
        console.print(render_nodesets(listed, None, []))
    lines = [line.rstrip() for line in capture.get().splitlines()]
    (row,) = (line for line in lines if line.startswith("here"))
    assert row.endswith("…")
    assert "afar     shared  conda environment 'sim'" in lines
    assert sum("many words" in line for line in lines) == 1
