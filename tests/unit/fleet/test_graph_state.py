"""A graph can run where all its nodesets can, those of graphs within it included."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wayfare.fleet.graph_state import GraphState, inspect_graphs
from wayfare.fleet.registry import WorkspaceComponentRegistry

NODESET = "class A(BaseNodeSet):\n    name = {name!r}\n"
NEEDS = {"sim": "conda environment 'sim'", "policy": ""}


def look(folder: Path, graphs: dict[str, object]) -> dict[str, GraphState]:
    """Return the states of graphs in a workspace where `policy` can run and `sim` can't."""
    for kind in ("nodesets", "graphs"):
        (folder / kind).mkdir(parents=True)
    for name in NEEDS:
        (folder / "nodesets" / f"{name}.py").write_text(NODESET.format(name=name))
    for name, graph in graphs.items():
        (folder / "graphs" / f"{name}.json").write_text(json.dumps(graph))
    registry = WorkspaceComponentRegistry([], shipped=folder)
    needs = [(entry, NEEDS[entry.name]) for entry in registry.nodesets]
    return {state.entry.name: state for state in inspect_graphs(registry, needs)}


def graph(*types: str, **more: object) -> dict[str, object]:
    nodes = [{"id": f"n{index}", "type": kind} for index, kind in enumerate(types)]
    return {"version": 1, "nodes": nodes, **more}


def test_a_graph_whose_nodesets_can_all_run_lacks_nothing(tmp_path: Path) -> None:
    (state,) = look(tmp_path, {"plain": graph("policy__act", "loop", "policy__see")}).values()
    assert (state.can_run, state.nodesets, dict(state.lacks)) == (True, ("policy",), {})


def test_what_an_inner_or_aliased_nodeset_lacks_its_graph_lacks(tmp_path: Path) -> None:
    inner = {"id": "part", "type": "subgraph", "config": {"graph": "direct"}}
    states = look(
        tmp_path,
        {
            "direct": graph("policy__act", "sim__step"),
            "named": {"version": 1, "nodes": [inner]},
            "alias": graph("other__step", nodesets={"other": {"use": "sim"}}),
        },
    )
    for state in states.values():
        assert not state.can_run
        assert dict(state.lacks) == {"sim": "conda environment 'sim'"}


@pytest.mark.parametrize(
    ("document", "lacks", "fault"),
    [
        (graph("away__step"), {"away": "it is in no workspace"}, ""),
        ({"version": 1, "nodes": 3}, {}, "nodes"),
        (
            graph("subgraph") | {"nodes": [{"id": "a", "type": "map", "config": {"graph": "no"}}]},
            {},
            "no graph 'no' in any workspace",
        ),
    ],
    ids=["unknown nodeset", "no document", "unknown graph"],
)
def test_a_graph_that_could_not_begin_says_why(
    tmp_path: Path, document: dict[str, object], lacks: dict[str, str], fault: str
) -> None:
    (state,) = look(tmp_path, {"odd": document}).values()
    assert not state.can_run
    assert dict(state.lacks) == lacks
    assert fault in state.fault
