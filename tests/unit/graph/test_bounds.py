"""Documents that are too large, too deep or hold what cannot be kept are refused by rule."""

from __future__ import annotations

import json

import pytest

from wayfare.graph import bounds
from wayfare.graph.document import load_graph, parse_graph, read_graph
from wayfare.graph.fault import Fault, GraphError
from wayfare.graph.flatten import embed_graphs
from wayfare.graph.validate import validate


def nested(levels):
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def faults_of(data):
    with pytest.raises(GraphError) as refused:
        read_graph(data)
    return refused.value.faults


def test_a_document_nested_too_deep_is_refused_with_its_place(draft):
    draft.node("deep", "const", value=nested(200))
    (fault,) = faults_of(draft.data)
    assert (fault.kind, fault.place) == ("size", "nodes[5].config")
    assert "deeper than 128 levels" in fault.rule


def test_a_document_that_holds_itself_is_refused(draft):
    draft.data["layout"] = draft.data
    assert [fault.kind for fault in faults_of(draft.data)] == ["size"]


@pytest.mark.parametrize(
    ("text", "rule"), [("1e999", "finite"), ("-1e999", "finite"), ("1" * 30, "64 bits")]
)
def test_numbers_that_can_not_be_kept_are_refused_with_their_place(draft, text, rule):
    document = json.dumps(draft.node("n", "const", value="HERE").data)
    with pytest.raises(GraphError, match=rule) as refused:
        parse_graph(document.replace('"HERE"', text))
    assert refused.value.faults[0].place == "nodes[5].config.value"


def test_a_document_of_too_many_values_is_refused(draft, monkeypatch):
    monkeypatch.setattr(bounds, "MAX_VALUES", 50)
    assert "at most 50" in str(faults_of(draft.set(layout=[0] * 60).data)[0])


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("w") as file:
        file.truncate(bounds.MAX_BYTES + 1)
    with pytest.raises(GraphError, match="a graph may have at most 67108864"):
        load_graph(path)


def test_graphs_that_name_each_other_a_million_times_over_are_refused(empty):
    def find(name):
        level = int(name.removeprefix("g"))
        inner = type(empty)()
        for copy in "ab":
            inner.node(copy, "subgraph", graph=f"g{level + 1}")
        return read_graph(inner.data if level < 30 else type(empty)().node("x", "const").data)

    with pytest.raises(GraphError, match="nodes; a graph may have at most 20000"):
        embed_graphs(find("g0"), find)


def test_too_many_nodes_are_one_fault(empty):
    for number in range(bounds.MAX_NODES + 5):
        empty.node(f"n{number}", "const", value=0)
    faults: list[Fault] = validate(read_graph(empty.data), empty.manifests)
    assert [fault.kind for fault in faults if fault.kind == "size"] == ["size"]
