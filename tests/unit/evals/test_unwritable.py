"""A number that no file of a run can hold is refused with its place before a run begins."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from wayfare.evals.library import resolve_graph
from wayfare.fleet.registry import WorkspaceComponentRegistry
from wayfare.graph.document import GraphDocument, NodesetSpec, NodeSpec
from wayfare.graph.fault import GraphError
from wayfare.store.document import read_document, write_document
from wayfare.store.errors import StorageWriteError


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 2**64])
def test_a_document_that_was_made_is_held_to_what_files_can_hold(value: float) -> None:
    nodes = [NodeSpec(id="one", type="const", config={"value": [1, value]})]
    nodesets = {"env_line": NodesetSpec(config={"gain": value})}
    document = GraphDocument(version=1, nodes=nodes, nodesets=nodesets)
    with pytest.raises(GraphError) as caught:
        resolve_graph(document, WorkspaceComponentRegistry([]))
    places = [fault.place for fault in caught.value.faults]
    assert places == ["nodes[0].config.value[1]", "nodesets.env_line.config.gain"]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_document_of_a_run_names_the_number_that_it_can_not_hold(
    tmp_path: Path, value: float
) -> None:
    path = tmp_path / "run.json"
    write_document(path, {"a": 1})
    with pytest.raises(StorageWriteError, match=rf"run\.json can't be .*: a\[0\]\.b is {value}"):
        write_document(path, {"a": [{"b": value}]})
    assert read_document(path) == {"a": 1}
