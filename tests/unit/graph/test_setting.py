"""What a node's configuration may be: the keys of its tool, values of their defaults' kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wayfare.graph.builder import Graph
from wayfare.graph.document import read_graph
from wayfare.graph.fault import GraphError
from wayfare.graph.override import apply_overrides
from wayfare.graph.setting import value_faults
from wayfare.graph.validate import validate

DEFAULTS: dict[str, Any] = {
    "flag": False,
    "count": 1,
    "ratio": 1.0,
    "name": "",
    "items": [],
    "table": {},
    "any": None,
    "array": np.zeros(2),
}


def list_faults(**config: Any) -> list[str]:
    faults = value_faults("env__step", config, DEFAULTS, place="at ", option="--set nodes.step.")
    return [str(fault) for fault in faults]


FITTING: dict[str, tuple[Any, ...]] = {
    "flag": (True, False),
    "count": (0, -3, 0.7, 10**400),
    "ratio": (0.5, 2, -(10**400)),
    "name": ("", "x"),
    "items": ([], [1, "x"], (1, 2)),
    "table": ({}, {"a": [1]}),
    "any": (None, True, 1, 0.5, "x", [1], {"a": 1}),
    "array": (None, True, 1, 0.5, "x", [1], {"a": 1}),
}
EVERY: tuple[Any, ...] = (None, True, 1, 0.5, "x", [1], {"a": 1})


@pytest.mark.parametrize("key", DEFAULTS)
def test_a_value_must_be_of_its_defaults_kind(key):
    for value in FITTING[key]:
        assert list_faults(**{key: value}) == []
    kinds = {type(value) for value in FITTING[key]}
    for value in EVERY:
        assert bool(list_faults(**{key: value})) == (type(value) not in kinds), value


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("count", "abc", "a number as 'count', like its default 1 (got 'abc'). Write a number."),
        ("flag", "True", "(got 'True'). Write true or false."),
        ("ratio", True, "a number as 'ratio', like its default 1.0 (got True). Write a number."),
        ("name", 5, 'put it in quotes: "5", or --set nodes.step.name=\'"5"\'.'),
        ("name", True, 'put it in quotes: "true", or --set nodes.step.name=\'"true"\'.'),
        ("name", None, "(got None). Write a text."),
        ("items", "[1,", "Write a list in JSON, such as [1, 2]."),
        ("table", [], 'Write an object in JSON, such as {"key": 1}.'),
    ],
)
def test_a_wrong_kind_is_told_with_default_value_and_remedy(key, value, told):
    (fault,) = list_faults(**{key: value})
    assert fault.startswith(f"at {key}: tool 'env__step' takes ")
    assert told in fault


def test_a_node_with_a_value_of_another_kind_is_a_fault_of_the_graph(draft):
    draft.config("step", noise="loud")
    assert draft.only_fault() == (
        "nodes[2] 'step' config.noise: tool 'env__step' takes a number as 'noise', like its "
        "default 0.0 (got 'loud'). Write a number."
    )


def test_what_is_set_over_a_graph_is_checked_with_it(draft):
    changed = apply_overrides(read_graph(draft.data), ["nodes.step.noise=true"])
    assert ["got True" in str(fault) for fault in validate(changed, draft.manifests)] == [True]


@pytest.mark.parametrize("kind", ["subgraph", "map"])
def test_nodes_of_graphs_within_are_checked_and_go_by_their_paths(draft, kind):
    inner = {
        "version": 1,
        "nodes": [{"id": "loud", "type": "env__step", "config": {"noise": "loud"}}],
        "edges": [],
    }
    draft.node("sub", kind, graph=inner)
    told = [str(fault) for fault in draft.faults()]
    place = "nodes[5] 'sub' graph.nodes[0] 'loud' config.noise: "
    assert [text for text in told if "(got 'loud')" in text and text.startswith(place)]


def test_a_key_of_the_nodeset_is_told_where_to_go(draft):
    draft.config("step", scale=2)
    assert draft.only_fault().endswith(
        "knows no config key 'scale' (got 2). Nodeset 'env' does: --set nodesets.env.scale=VALUE "
        "sets it."
    )


def test_a_tool_without_configuration_says_so(draft):
    draft.config("act", noise=2)
    assert draft.only_fault().endswith("(got 2). It has none: leave the key out.")


def test_a_graph_under_construction_refuses_a_wrong_kind_at_once(draft):
    graph = Graph(manifests=draft.manifests)
    with pytest.raises(GraphError, match="takes a number as 'noise'"):
        graph.add("env__step", config={"noise": "loud"})
