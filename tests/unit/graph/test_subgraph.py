"""How subgraphs are named, embedded, checked and laid open."""

from __future__ import annotations

import pytest

from wayfare.graph.document import read_graph
from wayfare.graph.fault import GraphError
from wayfare.graph.flatten import embed_graphs, flatten
from wayfare.graph.identity import semantic_hash
from wayfare.graph.tooltype import nodesets_of


@pytest.fixture
def inner(empty):
    """Give a subgraph from `turn` to `action`."""
    return (
        empty.node("turn", "graphIn", portName="turn", type="INT")
        .node("act", "policy__act")
        .node("action", "graphOut", portName="action")
        .edge("turn.value -> act.turn", "act.action -> action.value")
        .data
    )


def with_subgraph(draft, graph, *edges):
    draft.node("sub", "subgraph", graph=graph).node("step2", "env__step")
    return draft.edge("sub.action -> step2.action", *edges)


def test_inner_ids_become_paths(draft, inner):
    flat = flatten(read_graph(with_subgraph(draft, inner, "loop.step -> sub.turn").data))
    assert [node.path for node in flat.nodes][-4:] == [
        "sub/turn",
        "sub/act",
        "sub/action",
        "step2",
    ]
    assert draft.faults() == []


def test_nodesets_of_subgraphs_are_named(inner, empty, draft):
    document = read_graph(
        {
            "version": 1,
            "nodes": [
                {"id": "sub", "type": "subgraph", "config": {"graph": inner}},
            ],
        }
    )
    assert nodesets_of(document) == ["policy"]


def test_an_input_of_a_subgraph_that_is_not_wired(draft, inner):
    with_subgraph(draft, inner)
    assert "required input 'turn' (INT) of subgraph 'sub' is not wired" in draft.only_fault()


def test_types_are_checked_into_and_out_of_a_subgraph(draft, inner):
    with_subgraph(draft, inner, "act.memory -> sub.turn", "sub.action -> step2.hint")
    texts = [str(fault) for fault in draft.faults()]
    assert "act.memory gives JSON, but input 'value' takes INT" in texts[0]
    assert "sub/action.value gives ACTION, but input 'hint' takes TEXT" in texts[1]


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        ("loop.step -> sub.trun", "subgraph 'sub' has no input port 'trun'. Did you mean 'turn'?"),
        (
            "sub.acton -> step.after",
            "subgraph 'sub' has no output port 'acton'. Did you mean 'action'?",
        ),
    ],
)
def test_unknown_ports_of_a_subgraph(draft, inner, edge, message):
    with_subgraph(draft, inner, "loop.step -> sub.turn", edge)
    assert message in draft.only_fault()


def test_faults_inside_a_subgraph_show_both_places(draft, inner):
    inner["nodes"][1]["type"] = "policy__atc"
    with_subgraph(draft, inner, "loop.step -> sub.turn")
    assert draft.only_fault().startswith("nodes[5] 'sub' graph.nodes[1] 'act': node type")


@pytest.mark.parametrize(
    ("key", "value"), [("nodesets", {"policy": {}}), ("environment", "env"), ("step_budget", 5)]
)
def test_what_stands_only_at_the_top(draft, inner, key, value):
    inner[key] = value
    with_subgraph(draft, inner, "loop.step -> sub.turn")
    assert f"{key!r} stands only at the top of a graph" in draft.only_fault()


def test_unknown_keys_of_a_subgraph_and_of_its_graph(draft, inner):
    inner["step_buget"] = 5
    with_subgraph(draft, inner, "loop.step -> sub.turn")
    draft.config("sub", graph=inner, portName="x")
    texts = [str(fault) for fault in draft.faults()]
    assert "built-in 'subgraph' knows no config key 'portName'" in texts[0]
    assert "config.graph: key 'step_buget' is not known" in texts[1]
    assert len(texts) == 2


def test_a_graph_of_a_newer_version_within_the_graph(draft, inner):
    inner["version"] = 9
    with_subgraph(draft, inner, "loop.step -> sub.turn")
    assert draft.only_fault() == (
        "nodes[5] 'sub' config.graph version: document version must be 1 for this Wayfare (got 9). "
        "Upgrade Wayfare."
    )


def test_a_graph_in_at_the_top(draft):
    draft.node("in", "graphIn", portName="x").edge("in.value -> step.hint")
    assert "graphIn is an input of a subgraph" in draft.only_fault()


def test_a_named_graph_is_embedded_and_part_of_the_hash(draft, inner):
    document = read_graph(with_subgraph(draft, "walker", "loop.step -> sub.turn").data)
    embedded = embed_graphs(document, lambda name: read_graph(inner))
    assert embedded.nodes[5].config["graph"]["nodes"][1]["id"] == "act"
    inner["nodes"][1]["id"] = "other"
    inner["edges"] = []
    changed = embed_graphs(document, lambda name: read_graph(inner))
    assert semantic_hash(changed) != semantic_hash(embedded)


def test_a_graph_that_contains_itself_is_refused(draft):
    document = read_graph(with_subgraph(draft, "walker").data)
    with pytest.raises(GraphError, match="graph 'walker' contains itself: walker -> walker"):
        embed_graphs(document, lambda name: document)


def test_a_graph_that_contains_itself_by_way_of_a_map_is_refused(draft):
    inner = {"version": 1, "nodes": [{"id": "m", "type": "map", "config": {"graph": "walker"}}]}
    document = read_graph(with_subgraph(draft, inner).data)
    walker = read_graph(inner)
    with pytest.raises(GraphError, match="graph 'walker' contains itself: walker -> walker"):
        embed_graphs(document, lambda name: walker)


def test_a_name_that_was_not_embedded(draft):
    with_subgraph(draft, "walker", "loop.step -> sub.turn")
    assert "or the name of one; graph 'walker' is not known here" in draft.only_fault()


def test_what_depends_on_a_subgraph_that_is_not_known_is_no_further_fault(draft):
    with_subgraph(draft, "walker", "loop.step -> sub.turn")
    draft.node("all", "collect").node("use", "policy__act").edge("loop.step -> use.turn")
    draft.edge("sub.action -> all.value", "all.values -> use.memory")

    assert "graph 'walker' is not known here" in draft.only_fault()


def test_loops_that_a_subgraph_which_is_not_known_may_nest_do_not_cross(draft):
    with_subgraph(draft, "walker", "loop.step -> sub.turn")
    draft.node("in", "iterIn", ports=["x"]).node("out", "iterOut", loop="in", ports=["x"])
    draft.config("out", loop="in", ports=["x"], max_turns=2)
    draft.node("look", "env__stamp").node("both", "policy__act")
    draft.edge("sub.action -> in.init_x", "in.step -> look.turn", "in.x -> out.x")
    draft.edge("in.step -> both.turn", "act.memory -> both.memory", "step2.done -> out.stop")

    assert "graph 'walker' is not known here" in draft.only_fault()


def test_a_subgraph_with_the_id_of_another_node(draft, inner):
    with_subgraph(draft, inner, "loop.step -> sub.turn").node("sub", "env__step")
    text = str(draft.faults()[0])
    assert text.startswith("nodes[5] 'sub': id 'sub' is that of 2 nodes")
