"""How documents are read, hashed and overridden."""

from __future__ import annotations

import json

import pytest

from wayfare.graph.document import load_graph, parse_graph, read_graph
from wayfare.graph.fault import GraphError
from wayfare.graph.identity import semantic_hash
from wayfare.graph.override import apply_overrides


def test_a_document_survives_its_way_through_json(draft):
    document = read_graph(draft.data)
    assert read_graph(json.loads(json.dumps(document.to_json()))) == document


def test_a_file_is_read(draft, tmp_path):
    path = tmp_path / "agent.json"
    path.write_text(json.dumps(draft.data), encoding="utf-8")
    assert load_graph(path) == read_graph(draft.data)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(GraphError, match="cannot be read: No such file"):
        load_graph(tmp_path / "agent.json")


def test_a_file_that_is_not_text(tmp_path):
    (tmp_path / "agent.json").write_bytes(b"\xff\xfe")
    with pytest.raises(GraphError, match=r"agent.json: is not UTF-8: .* Save it as UTF-8."):
        load_graph(tmp_path / "agent.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON: Expecting property name"),
        ('{"version": 1, "version": 1}', "key 'version' stands twice in one object"),
        ('{"version": NaN}', "NaN is no JSON number"),
        ("[]", "must be a JSON object"),
        ('{"version": 2, "nodes": []}', r"version must be 1 for this Wayfare \(got 2\). Upgrade"),
        ('{"nodes": []}', "version: is missing"),
        ('{"version": 1, "nodes": [{"type": "const"}]}', r"nodes\[0\].id: is missing"),
    ],
)
def test_what_is_no_document_is_refused_with_its_place(text, message):
    with pytest.raises(GraphError, match=message):
        parse_graph(text, where="agent.json")


def test_all_that_does_not_fit_the_schema_is_reported_at_once():
    with pytest.raises(GraphError) as caught:
        read_graph({"version": 1, "nodes": [{"id": 3, "type": "const"}], "edges": [{}]})
    assert len(caught.value.faults) == 5


def test_the_hash_ignores_layout_names_and_the_order_of_keys_and_edges(draft):
    before = semantic_hash(read_graph(draft.data))
    draft.data["edges"].reverse()
    draft.data["nodes"] = [dict(reversed(node.items())) for node in draft.data["nodes"]]
    draft.set(layout={"act": [1, 2]}, name="agent", description="walks")
    draft.data["$schema"] = "graph.schema.json"
    assert semantic_hash(read_graph(draft.data)) == before


def test_the_hash_ignores_the_same_in_graphs_within_the_graph(draft, empty):
    empty.node("a", "const", value=1).node("b", "graphOut", portName="b").edge("a.value -> b.value")
    before = semantic_hash(read_graph(draft.node("sub", "subgraph", graph=empty.data).data))
    empty.set(layout={"a": [1, 2]}, step_budget=None, name="inner")
    assert semantic_hash(read_graph(draft.data)) == before
    empty.config("a", value=2)
    assert semantic_hash(read_graph(draft.data)) != before


@pytest.mark.parametrize(
    "change",
    [
        lambda draft: draft.data["nodes"].reverse(),
        lambda draft: draft.data["edges"].pop(),
        lambda draft: draft.config("step", noise=1),
        lambda draft: draft.set(step_budget=3),
        lambda draft: draft.set(nodesets={"env": {"config": {"scale": 2}}}),
    ],
)
def test_the_hash_changes_with_the_meaning(draft, change):
    before = semantic_hash(read_graph(draft.data))
    change(draft)
    assert semantic_hash(read_graph(draft.data)) != before


def test_overrides_set_nodes_and_nodesets(draft):
    document = apply_overrides(
        read_graph(draft.data),
        ["nodes.step.noise=0.5", "nodesets.env.scale=[1, 2]", "policy.name=a=b", "env.scale=3"],
    )
    assert document.nodes[2].config == {"noise": 0.5}
    assert document.nodesets["env"].config == {"scale": 3}
    assert document.nodesets["policy"].config == {"name": "a=b"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes.stepp.noise=1", "no node 'stepp'. Did you mean 'step'?"),
        ("envv.scale=1", "no nodeset 'envv'. Did you mean 'env'?"),
        ("nodesets.arm.scale=1", "no nodeset 'arm'. There is: env, policy."),
        ("scale=1", "must read nodes.ID.KEY=VALUE, nodesets.NAME.KEY=VALUE or NAME.KEY=VALUE"),
        ("nodes.step.noise", "must read nodes.ID.KEY=VALUE"),
        ("nodes.step.noise.deep=1", "must read nodes.ID.KEY=VALUE"),
    ],
)
def test_an_override_that_names_nothing_says_what_there_is(draft, text, message):
    with pytest.raises(GraphError) as caught:
        apply_overrides(read_graph(draft.data), [text])
    assert message in str(caught.value)


@pytest.mark.parametrize("kind", ["subgraph", "map"])
def test_overrides_reach_into_graphs_by_path(draft, empty, kind):
    deep = {"version": 1, "nodes": [{"id": "act", "type": "policy__act"}]}
    empty.node("in", kind, graph=deep)
    document = read_graph(draft.node("sub", kind, graph=empty.data).data)
    changed = apply_overrides(document, ["nodes.sub/in/act.speed=2", "nodes.sub.note=x"])
    inner = changed.nodes[5].config["graph"]["nodes"][0]["config"]["graph"]
    assert inner["nodes"][0]["config"] == {"speed": 2}
    assert changed.nodes[5].config["note"] == "x"
    assert document.nodes[5].config["graph"]["nodes"][0]["config"]["graph"] == deep


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes.sub/atc.k=1", "no node 'sub/atc'. Did you mean 'sub/act'?"),
        ("nodes.step/act.k=1", "no node 'step/act'. Did you mean 'sub/act'?"),
        ("nodes.named/act.k=1", "graph 'walker' of node 'named' is only named in the graph"),
        ("nodes.odd/act.k=1", "no node 'odd/act'"),
    ],
)
def test_an_override_that_names_nothing_in_a_graph_within_the_graph(draft, empty, text, message):
    draft.node("sub", "subgraph", graph=empty.node("act", "policy__act").data)
    draft.node("named", "subgraph", graph="walker").node("odd", "map", graph={"nodes": 3})
    with pytest.raises(GraphError) as caught:
        apply_overrides(read_graph(draft.data), [text])
    assert message in str(caught.value)


def test_no_overrides_leave_the_document_as_it_is(draft):
    document = read_graph(draft.data)
    assert apply_overrides(document, []) is document


def test_overrides_keep_what_reading_found_wrong(draft):
    draft.set(step_buget=5)
    document = apply_overrides(read_graph(draft.data), ["env.scale=1"])
    assert len(document.reading_faults) == 1


@pytest.mark.parametrize("budget", [0, -1])
def test_a_step_budget_below_one_is_refused(budget):
    with pytest.raises(GraphError, match=rf"step_budget: .* or equal to 1 \(got {budget}\)"):
        read_graph({"version": 1, "nodes": [], "step_budget": budget})


def test_text_that_no_file_can_hold_is_refused_with_every_place():
    nodes = [{"id": "a\ud800", "type": "const", "config": {"value": {"\udfff": 1}}}]
    with pytest.raises(GraphError) as caught:
        read_graph({"version": 1, "nodes": nodes})
    assert [fault.place for fault in caught.value.faults] == [
        "nodes[0].config.value",
        "nodes[0].id",
    ]
    assert str(caught.value).encode("utf-8")
