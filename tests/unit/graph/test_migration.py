"""How documents of older versions become present ones, and what is said of it."""

from __future__ import annotations

import json

import pytest

from wayfare.graph.document import read_graph
from wayfare.graph.fault import GraphError
from wayfare.graph.flatten import embed_graphs
from wayfare.graph.migration import FORMAT, FORMAT_VERSION, Format
from wayfare.graph.override import apply_overrides


def rename(data):
    """From 1 to 2: edges' ends get other names; nothing is lost, so nothing need be said."""
    names = {"from": "source", "out": "sourceHandle", "to": "target", "in": "targetHandle"}
    edges = [{names[key]: value for key, value in edge.items()} for edge in data["edges"]]
    return {**data, "edges": edges}, []


def drop(data):
    """From 2 to 3: `comment` goes and an edge to `old` goes; only of the first it says so."""
    edges = [edge for edge in data["edges"] if edge["target"] != "old"]
    kept = {key: value for key, value in data.items() if key not in ("comment", "edges")}
    return {**kept, "edges": edges}, [f"the comment {data.get('comment')!r} has no place any more"]


def old(*edges, **more):
    keys = ("from", "out", "to", "in")
    return {
        "version": 1,
        "nodes": [{"id": "a", "type": "const", "config": {"value": 1}}],
        "edges": [dict(zip(keys, edge, strict=True)) for edge in edges],
        **more,
    }


THIRD = Format(3, ((1, rename), (2, drop)))


def test_steps_lead_from_each_version_to_the_present_one():
    document = read_graph(old(("a", "value", "b", "x"), comment="hi"), "agent.json", target=THIRD)
    assert document.version == 3
    assert document.edges[0].target_handle == "x"
    assert document.notes == ("agent.json, version 2 to 3: the comment 'hi' has no place any more",)


def test_what_a_step_drops_without_a_word_is_noted_all_the_same():
    data = old(("a", "value", "b", "x"), ("a", "value", "old", "y"), comment="hi")
    notes = read_graph(data, "agent.json", target=THIRD).notes
    assert notes[1:] == (
        "agent.json, version 2 to 3: edges[1].source: 'a' is gone",
        "agent.json, version 2 to 3: edges[1].sourceHandle: 'value' is gone",
        "agent.json, version 2 to 3: edges[1].target: 'old' is gone",
        "agent.json, version 2 to 3: edges[1].targetHandle: 'y' is gone",
    )


def test_a_value_that_changes_its_type_is_noted():
    step = Format(2, ((1, lambda data: ({**data, "step_budget": int(data["step_budget"])}, [])),))
    data = {"version": 1, "nodes": [], "step_budget": "5"}
    notes = read_graph(data, target=step).notes
    assert notes == ("graph, version 1 to 2: step_budget: '5' is gone",)


@pytest.mark.parametrize("kind", ["subgraph", "map"])
def test_graphs_within_the_graph_are_migrated_with_it(kind):
    inner = old(("a", "value", "b", "x"), comment="within")
    outer = old(comment="around", nodes=[{"id": "s", "type": kind, "config": {"graph": inner}}])
    document = read_graph(outer, "agent.json", target=THIRD)
    assert document.nodes[0].config["graph"]["version"] == 3
    assert "agent.json node 's', version 2 to 3: the comment 'within' has no" in document.notes[1]
    assert inner["version"] == 1


def test_notes_of_a_graph_come_to_the_one_that_it_is_embedded_in():
    document = read_graph({"version": 1, "nodes": []})
    document._notes = ("note",)
    nodes = [{"id": "s", "type": "map", "config": {"graph": "walker"}}]
    outer = read_graph({"version": 1, "nodes": nodes})
    assert embed_graphs(outer, lambda name: document).notes == ("note",)


def test_overrides_keep_the_notes():
    document = read_graph({"version": 1, "nodes": [{"id": "a", "type": "policy__act"}]})
    document._notes = ("note",)
    assert apply_overrides(document, ["nodes.a.k=1"]).notes == ("note",)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (4, "agent.json version: document version must be 3 for this Wayfare (got 4). Upgrade"),
        (0, "document version must be 1 to 3 for this Wayfare (got 0). Versions start at 1."),
        ("1", "version: input should be a valid integer (got '1')"),
        (True, "version: input should be a valid integer (got True)"),
    ],
)
def test_versions_that_cannot_be_read_are_refused_with_a_sentence(version, message):
    with pytest.raises(GraphError) as caught:
        read_graph({"version": version, "nodes": []}, "agent.json", target=THIRD)
    assert message in str(caught.value)


def test_steps_must_leave_no_gap():
    with pytest.raises(ValueError, match=r"steps start at \[1\]; they must lead to 3 by ones"):
        Format(3, ((1, rename),))


def test_the_present_format_reads_what_it_writes(draft):
    document = read_graph(draft.data)
    assert FORMAT.version == FORMAT_VERSION == document.version
    assert read_graph(json.loads(json.dumps(document.to_json()))).notes == ()
