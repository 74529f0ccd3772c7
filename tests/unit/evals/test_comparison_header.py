"""What two runs were told differently is named, and sorted into what forbids a comparison."""

import copy

import pytest

from wayfare.evals.comparison_header import find_agent_differences, find_term_differences
from wayfare.store.records import EpisodeKey, NodesetRecord, PlannedEpisode, RunHeader

HANDLES = ("source", "sourceHandle", "target", "targetHandle")


def wire(*texts):
    return [dict(zip(HANDLES, t.replace(" ", ".").split("."), strict=True)) for t in texts]


GRAPH = {
    "version": 1,
    "nodes": [
        {"id": "turn", "type": "iterIn", "config": {"ports": ["state", "memory"]}},
        {"id": "act", "type": "policy__act", "config": {"gain": 1}},
        {"id": "step", "type": "env__step"},
        {
            "id": "next",
            "type": "iterOut",
            "config": {"loop": "turn", "ports": ["state", "memory", "words"]},
        },
        {"id": "score", "type": "judge__score", "config": {"threshold": 3.0}},
        {"id": "success", "type": "graphOut", "config": {"portName": "success"}},
        {"id": "words", "type": "graphOut", "config": {"portName": "words"}},
        {"id": "turns", "type": "graphOut", "config": {"portName": "turns"}},
    ],
    "edges": wire(
        "turn.state act.state",
        "turn.memory act.memory",
        "act.memory next.memory",
        "act.words next.words",
        "act.action step.action",
        "step.state next.state",
        "step.done next.stop",
        "next.final_state score.state",
        "next.final_step turns.value",
        "next.final_words words.value",
        "score.success success.value",
    ),
}


def nodeset(**changes):
    fields = {
        "class_name": "C",
        "file": "f.py",
        "source_hash": "cc",
        "parallelism": "shared",
        "config": {"size": 4},
        "python": "3.11.7",
        "packages": {"numpy": "2.0.0"},
    }
    return NodesetRecord(**{**fields, **changes})


def header(changed_nodesets=None, config=None, **changes):
    """`config` lies over that of nodes, by id."""
    graph = copy.deepcopy(GRAPH)
    for node in graph["nodes"]:
        node.setdefault("config", {}).update((config or {}).get(node["id"], {}))
    key = EpisodeKey("env", "0123456789", "val", "scene", "0")
    names = ("env", "policy", "judge")
    fields = {
        "created": "2026-01-02T03:04:05Z",
        "graph": graph,
        "graph_hash": "aa",
        "graph_name": "agent",
        "seed": 7,
        "worker_count": 2,
        "split": "val",
        "episodes": (PlannedEpisode(key=key, index=0),),
        "episodes_hash": "bb",
        "nodesets": {name: nodeset() for name in names} | (changed_nodesets or {}),
        "versions": {"numpy": "2.0.0"},
    }
    return RunHeader(**{**fields, **changes})


def agent(**changes):
    return [str(found) for found in find_agent_differences(header(), header(**changes))]


def terms(**changes):
    return [str(found) for found in find_term_differences(header(), header(**changes))]


def test_the_same_agent_at_other_worker_counts_differs_in_nothing():
    assert agent(worker_count=8, created="2027-01-01T00:00:00Z") == []
    assert terms(worker_count=8) == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"config": {"act": {"gain": 2}}}, "~ gain of node 'act': 1 -> 2"),
        ({"seed": 8}, "~ seed: 7 -> 8"),
        ({"settings": {"step_budget": 30}}, "~ --step-budget: None -> 30"),
        ({"versions": {"numpy": "2.1.0"}}, "~ version of numpy: '2.0.0' -> '2.1.0'"),
        (
            {"changed_nodesets": {"policy": nodeset(source_hash="dd")}},
            "~ code of nodeset 'policy': 'cc' -> 'dd'",
        ),
        (
            {"changed_nodesets": {"policy": nodeset(config={"size": 5})}},
            "~ size of nodeset 'policy': 4 -> 5",
        ),
        (
            {"changed_nodesets": {"policy": nodeset(packages={"numpy": "1.0"})}},
            "~ package numpy of nodeset 'policy': '2.0.0' -> '1.0'",
        ),
        ({"changed_nodesets": {"more": nodeset()}}, "+ nodeset 'more': 'C'"),
    ],
)
def test_each_difference_of_agents_is_named_and_forbids_nothing(changes, line):
    assert agent(**changes) == [line]
    assert terms(**changes) == []


def test_a_nodeset_s_setting_from_the_graph_is_named_once():
    graph = {**GRAPH, "nodesets": {"policy": {"config": {"size": 5}}}}
    lines = agent(graph=graph, changed_nodesets={"policy": nodeset(config={"size": 5})})
    assert lines == ["+ entry of nodeset 'policy'", "+ size of nodeset 'policy': 5"]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"config": {"score": {"threshold": 2.0}}}, "~ threshold of node 'score': 3.0 -> 2.0"),
        (
            {"changed_nodesets": {"env": nodeset(source_hash="dd")}},
            "~ code of nodeset 'env': 'cc' -> 'dd'",
        ),
        (
            {"changed_nodesets": {"judge": nodeset(source_hash="dd")}},
            "~ code of nodeset 'judge': 'cc' -> 'dd'",
        ),
        ({"config": {"turns": {"portName": "length"}}}, "- metric 'turns': ['iterOut.final_step']"),
    ],
)
def test_what_a_metric_rests_on_forbids_a_comparison(changes, line):
    assert line in terms(**changes)


def test_what_an_agent_reports_of_itself_may_come_from_another_agent():
    # `words` is a metric that the policy makes, and its actions lead to the environment.
    assert terms(changed_nodesets={"policy": nodeset(source_hash="dd")}) == []


def test_a_metric_from_another_output_forbids_a_comparison():
    edges = [e for e in GRAPH["edges"] if e["target"] != "success"]
    graph = {**GRAPH, "edges": edges + wire("score.oracle_success success.value")}
    assert terms(graph=graph) == [
        "~ metric 'success': ['judge__score.success'] -> ['judge__score.oracle_success']"
    ]


def test_other_splits_and_lists_are_named():
    key = EpisodeKey("env", "ffff", "test", "scene", "0")
    changes = {"episodes": (PlannedEpisode(key=key, index=0),), "episodes_hash": "dd"}
    assert terms(**changes) == [
        "~ split: 'val' -> 'test'",
        "~ hash of the environment's list: '0123456789' -> 'ffff'",
    ]


@pytest.mark.parametrize(
    ("ours", "theirs", "lines"),
    [
        ({"unit": "m"}, {"unit": "cm"}, ["~ unit of metric 'spl': 'm' -> 'cm'"]),
        (
            {"better": "higher"},
            {"better": "lower"},
            ["~ better of metric 'spl': 'higher' -> 'lower'"],
        ),
        ({"undefined": "no path"}, {}, ["- undefined of metric 'spl': 'no path'"]),
        ({"threshold_m": 3}, {"threshold_m": 3.0}, ["~ threshold_m of metric 'spl': 3 -> 3.0"]),
        ({"unit": "m"}, {"unit": "m"}, []),
    ],
)
def test_a_metric_that_two_environments_define_otherwise_forbids_a_comparison(ours, theirs, lines):
    runs = [header(metric_definitions={"spl": facts}) for facts in (ours, theirs)]
    assert [str(found) for found in find_term_differences(*runs)] == lines


def test_what_only_one_run_says_of_a_metric_forbids_nothing():
    assert terms(metric_definitions={"spl": {"unit": "m"}}) == []
