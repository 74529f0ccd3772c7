"""What `diff` says of two agents."""

from __future__ import annotations

import copy
import random

import pytest

from wayfare.graph.difference import diff, render
from wayfare.graph.document import read_graph
from wayfare.graph.identity import semantic_hash


@pytest.fixture
def compare(draft):
    """Give a function that applies a change and returns what is said of it."""
    before = read_graph(copy.deepcopy(draft.data))

    def run(change=None):
        if change:
            change(draft)
        after = read_graph(draft.data)
        changes = diff(before, after)
        assert bool(changes) == (semantic_hash(before) != semantic_hash(after))
        return render(changes)

    return run


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda d: d.node("x", "policy__act"), "+ node 'x' (policy__act)"),
        (lambda d: d.data["nodes"].pop(), "- node 'length' (graphOut)"),
        (lambda d: d.config("step", noise=0.5), "+ noise of node 'step': 0.5"),
        (
            lambda d: d.config("end", loop="loop", ports=["a"]),
            "~ ports of node 'end': ['memory'] -> ['a']",
        ),
        (lambda d: d.config("end", loop="loop"), "- ports of node 'end': ['memory']"),
        (
            lambda d: d.data["nodes"][1].update(type="policy__stamp"),
            "~ type of node 'act': 'policy__act' -> 'policy__stamp'",
        ),
        (lambda d: d.edge("act.memory -> step.after"), "+ edge act.memory -> step.after"),
        (lambda d: d.data["edges"].pop(), "- edge end.final_step -> length.value"),
        (lambda d: d.set(step_budget=5), "~ step_budget: None -> 5"),
        (lambda d: d.set(environment="env"), "~ environment: None -> 'env'"),
    ],
)
def test_one_change_is_one_line(compare, change, text):
    assert compare(change) == text


def test_nodesets_are_compared_by_their_keys(compare):
    change = {"env": {"use": "Other", "config": {"scale": 2}}}
    assert compare(lambda d: d.set(nodesets=change)).splitlines() == [
        "+ entry of nodeset 'env'",
        "~ use of nodeset 'env': None -> 'Other'",
        "+ scale of nodeset 'env': 2",
    ]


def test_what_means_nothing_to_a_run_is_no_difference(compare):
    def change(draft):
        draft.data["edges"].reverse()
        draft.set(name="walker", layout={"act": [1, 2]})

    assert compare(change) == ""


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0, False)])
def test_values_differ_as_they_do_in_the_hash(compare, draft, one, other):
    draft.config("step", noise=one)
    before = read_graph(copy.deepcopy(draft.data))
    after = read_graph(draft.config("step", noise=other).data)
    assert render(diff(before, after)) == f"~ noise of node 'step': {one} -> {other}"


def test_an_order_of_nodes_that_decides_who_is_called_first(compare, draft):
    draft.node("look", "env__observe").edge("loop.step -> look.after", "act.memory -> look.after")
    before = read_graph(copy.deepcopy(draft.data))
    draft.data["nodes"].insert(0, draft.data["nodes"].pop())
    changes = diff(before, read_graph(draft.data))
    assert (
        render(changes)
        == "^ calls of nodeset 'env' in 'loop': ['step', 'look'] -> ['look', 'step']"
    )


def test_an_order_of_nodes_that_decides_nothing(compare):
    text = compare(lambda d: d.data["nodes"].insert(0, d.data["nodes"].pop()))
    assert text.startswith("^ nodes (no calls of one nodeset change their order): ['loop', 'act'")


@pytest.mark.parametrize("kind", ["subgraph", "map"])
def test_graphs_within_the_graph_are_compared_by_paths(draft, empty, kind):
    empty.node("a", "env__observe").node("b", "env__observe").edge("a.rgb -> b.after")
    before = read_graph(copy.deepcopy(draft.node("sub", kind, graph=empty.data).data))
    empty.config("a", far=1).edge("b.rgb -> a.after")
    empty.set(layout={"a": 1}, step_budget=2)
    assert render(diff(before, read_graph(draft.data))).splitlines() == [
        "+ far of node 'sub/a': 1",
        "+ edge sub/b.rgb -> sub/a.after",
        "~ step_budget of the graph of node 'sub': None -> 2",
    ]


def test_a_graph_that_was_only_named_is_another_value(draft, empty):
    before = read_graph(copy.deepcopy(draft.node("sub", "subgraph", graph="walker").data))
    draft.config("sub", graph=empty.data)
    assert render(diff(before, read_graph(draft.data))).startswith(
        "~ graph of node 'sub': 'walker' -> {"
    )


def test_no_difference_is_no_change_of_the_hash(draft):
    rnd = random.Random(0)
    before = read_graph(copy.deepcopy(draft.data))
    data = draft.data
    mutations = [
        lambda: rnd.shuffle(data["nodes"]),
        lambda: rnd.shuffle(data["edges"]),
        lambda: data["edges"].append(dict(rnd.choice(data["edges"]))),
        lambda: data["edges"].pop(),
        lambda: rnd.choice(data["nodes"])["config"].update(k=rnd.randint(0, 2)),
        lambda: data.update(step_budget=rnd.choice([None, 1])),
    ]
    for _ in range(60):
        rnd.choice(mutations)()
        after = read_graph(copy.deepcopy(data))
        assert bool(diff(before, after)) == (semantic_hash(before) != semantic_hash(after))
        before = after
