"""A document turned into code and run is the same document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.graph.builder import Graph
from wayfare.graph.codegen import to_code
from wayfare.graph.document import load_graph, read_graph
from wayfare.graph.fault import GraphError

GRAPHS = sorted((Path(__file__).resolve().parents[4] / "graphs").glob("*.json"))


def document(nodes, edges=(), **more):
    keys = ("source", "sourceHandle", "target", "targetHandle")
    return read_graph(
        {
            "version": 1,
            "nodes": [{"id": name, "type": kind, "config": config} for name, kind, config in nodes],
            "edges": [dict(zip(keys, edge, strict=True)) for edge in edges],
            **more,
        }
    )


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_a_shipped_graph_is_itself_again(path, rebuild):
    shipped = load_graph(path)
    assert rebuild(shipped) == shipped
    assert rebuild(shipped).to_json() == json.loads(path.read_text())


def test_code_reads_as_one_would_write_it():
    graph = Graph("agent", environment="env")
    graph.nodeset("env", config={"size": 3})
    start = graph.add("env__reset")
    with graph.loop("turn", state=start.state) as turn:
        step = graph.add("env__step", state=turn.state, noise=0.5)
        turn.carry(state=step.state)
        turn.stop(step.done)
    graph.output("success", turn.final.state)

    assert graph.to_code().splitlines()[4:] == [
        'graph = Graph("agent", environment="env")',
        'graph.nodeset("env", config={"size": 3})',
        "",
        'reset = graph.add("env__reset")',
        'with graph.loop("turn", state=reset.state) as turn:',
        '    step = graph.add("env__step", noise=0.5, state=turn.state)',
        "    turn.carry(state=step.state)",
        "    turn.stop(step.done)",
        'graph.output("success", turn.final.state)',
    ]


def test_nodes_that_are_wired_before_they_are_there(rebuild):
    backwards = document(
        [
            ("out", "graphOut", {"portName": "m"}),
            ("step", "e__step", {}),
            ("reset", "e__reset", {}),
        ],
        [("step", "m", "out", "value"), ("reset", "state", "step", "state")],
    )
    assert "out.connect(value=step.m)" in to_code(backwards)
    assert rebuild(backwards) == backwards


def test_edges_in_another_order_than_code_makes_them(rebuild):
    shuffled = document(
        [("a", "e__a", {}), ("b", "e__b", {}), ("c", "e__c", {})],
        [("b", "y", "c", "x"), ("a", "y", "c", "after"), ("a", "y", "b", "x")],
    )
    assert "graph.sort_edges([1, 2, 0])" in to_code(shuffled)
    assert rebuild(shuffled) == shuffled


def test_loops_that_cross_are_written_node_by_node(rebuild):
    crossing = document(
        [
            ("a", "iterIn", {"ports": []}),
            ("b", "iterIn", {"ports": []}),
            ("a_end", "iterOut", {"loop": "a", "ports": []}),
            ("b_end", "iterOut", {"loop": "b", "ports": [], "max_turns": 2}),
        ]
    )
    code = to_code(crossing)
    assert "with graph.loop() as" not in code
    assert 'graph.add("iterOut", loop="b", ports=[], max_turns=2)' in code
    assert rebuild(crossing) == crossing


def test_more_loops_inside_each_other_than_python_nests(rebuild):
    names = [f"loop{number}" for number in range(25)]
    ends = [(f"end of {n}", "iterOut", {"loop": n, "ports": ["x"]}) for n in reversed(names)]
    deep = document([*((name, "iterIn", {"ports": ["x"]}) for name in names), *ends])
    assert rebuild(deep) == deep


def test_names_that_are_no_python_names(rebuild):
    odd = document(
        [
            ("graph", "e__make", {"class": 1, "id": "x", "state": {"deep": [1, None, "é\u2028"]}}),
            ("class", "e__use", {}),
            ("my node", "e__use", {"self": 1, "node_type": 2, "inputs": 3, "ﬁ": 4}),
            ("my_node", "e__use", {}),
        ],
        [
            ("graph", "connect", "class", "id"),
            ("graph", "two words", "class", "import"),
            ("graph", "_private", "my node", "config"),
            ("class", "y", "my node", "self"),
            ("my node", "y", "my_node", "after"),
            ("graph", "y", "my_node", "after"),
        ],
    )
    assert rebuild(odd) == odd


def test_a_subgraph_and_what_stands_at_the_top(rebuild):
    inner = document(
        [
            ("in", "graphIn", {"portName": "x", "type": "INT"}),
            ("out", "graphOut", {"portName": "y"}),
        ],
        [("in", "value", "out", "value")],
        name="inner",
    )
    outer = document(
        [
            ("one", "const", {"value": 1}),
            ("here", "subgraph", {"graph": inner.to_json()}),
            ("there", "subgraph", {"graph": "elsewhere"}),
            ("m", "graphOut", {"portName": "m"}),
        ],
        [
            ("one", "value", "here", "x"),
            ("here", "y", "there", "whatever"),
            ("there", "z", "m", "value"),
        ],
        nodesets={"second": {"use": "First", "config": {"k": [1.5, True]}}, "plain": {}},
        environment="second",
        step_budget=7,
        description='of two lines,\none of them "quoted"',
        layout={"one": {"x": -1.25, "y": 1e300}},
        **{"$schema": "graph.schema.json"},
    )
    assert rebuild(outer) == outer
    assert rebuild(inner) == inner


def test_a_document_that_no_builder_would_let_through_is_refused():
    dangling = document([("a", "e__a", {})], [("a", "y", "b", "x")])
    with pytest.raises(GraphError, match="there is no node 'b'"):
        to_code(dangling)


TEXT = st.text(alphabet="ab_9 é'\"\\\n\U0001f600", max_size=3)
NAME = TEXT.filter(bool)
LEAF = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT
)
JSON = LEAF.filter(lambda leaf: leaf not in (float("inf"), float("-inf"))) | st.just({"a": [1, {}]})
KEY = st.sampled_from(["id", "config", "inputs", "class", "state", "self", "noise"]) | NAME
PORTS = st.lists(KEY, min_size=1, max_size=3, unique=True)
KINDS = {
    "e__tool": (st.dictionaries(KEY, JSON, max_size=3), ["state", "id", "a b"], ["y", "_y"]),
    "switch": (st.just({}), ["value"], ["true", "false"]),
    "collect": (st.just({}), ["value"], ["values"]),
    "episode": (st.just({}), [], ["seed", "split"]),
    "const": (st.fixed_dictionaries({"value": JSON}), [], ["value"]),
    "merge": (st.just({"ports": ["a", "id"]}), ["a", "id"], ["value"]),
    "graphIn": (st.fixed_dictionaries({"portName": NAME}), [], ["value"]),
    "graphOut": (st.fixed_dictionaries({"portName": NAME}), ["value"], []),
}


def loop(number, ports, budget):
    ends = [f"final_{name}" for name in ports]
    entry = ("iterIn", {"ports": ports}, [f"init_{name}" for name in ports], [*ports, "step"])
    exit_ = ("iterOut", {"loop": f"loop {number}", "ports": ports, **budget}, ports, ends)
    return [(f"loop {number}", *entry), (f"end {number}", *exit_)]


@st.composite
def documents(draw):
    """Draw documents that a builder lets through, whatever they lack."""
    budgets = st.sampled_from([{}, {"max_turns": 3}])
    loops = draw(st.lists(st.tuples(PORTS, budgets), max_size=3))
    nodes = [node for number, pair in enumerate(loops) for node in loop(number, *pair)]
    for number, kind in enumerate(draw(st.lists(st.sampled_from(sorted(KINDS)), max_size=6))):
        config, inputs, outputs = KINDS[kind]
        name = draw(st.sampled_from([f"{kind} {number}", f"tool_{number}"]))
        nodes.append((name, kind, draw(config), inputs, outputs))
    nodes = draw(st.permutations(nodes))
    sources = [(name, port) for name, *_, outputs in nodes for port in outputs]
    targets = [
        (name, port) for name, *_, inputs, _ in nodes for port in [*inputs, "after", "after"]
    ]
    edges = []
    if sources and targets:
        positions = st.sampled_from(range(len(targets)))
        chosen = draw(st.lists(positions, max_size=8, unique=True))
        edges = [(*draw(st.sampled_from(sources)), *targets[position]) for position in chosen]
    return document([node[:3] for node in nodes], edges, name=draw(TEXT), layout=draw(JSON))


@settings(max_examples=60)
@given(drawn=documents())
def test_any_document_is_itself_again(rebuild, drawn):
    assert rebuild(drawn) == drawn
