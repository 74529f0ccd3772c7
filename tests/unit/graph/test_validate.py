"""Every fault that a graph can have, with the message that it gives."""

from __future__ import annotations

import pytest

from wayfare.graph.document import read_graph
from wayfare.graph.fault import GraphError
from wayfare.graph.validate import validate


def test_a_valid_graph_has_no_faults(draft):
    assert draft.faults() == []
    assert draft.structure_faults() == []


def test_five_different_faults_give_five_messages_at_once(draft):
    draft.node("act", "const", value=1).node("lost", "switch").node("x", "polciy__act")
    draft.edge("act.nothing -> end.memory", "step.done -> nowhere.value")
    faults = draft.faults()
    assert [fault.kind for fault in faults] == [
        "node-type",
        "duplicate-id",
        "unknown-port",
        "dangling-edge",
        "unreachable",
    ]


def test_unknown_keys_are_reported_with_all_other_faults(draft):
    draft.set(step_buget=5)
    draft.data["nodes"][1]["color"] = "red"
    draft.edge("step.done -> nowhere.value")
    texts = [str(fault) for fault in draft.faults()]
    assert len(texts) == 3
    assert "key 'step_buget' is not known. Did you mean 'step_budget'?" in "\n".join(texts)
    assert "nodes[1]: key 'color' is not known" in "\n".join(texts)


def test_keys_have_one_name_each(draft):
    draft.set(editor_schema="x")
    edge = draft.data["edges"][5]
    edge["source_handle"] = edge["sourceHandle"]
    draft.config("length", portName="length", port_name="length")
    texts = "\n".join(str(fault) for fault in draft.faults())
    assert "key 'editor_schema' is not known" in texts
    assert "key 'source_handle' is not known. Did you mean 'sourceHandle'?" in texts
    assert "'graphOut' knows no config key 'port_name'. Did you mean 'portName'?" in texts


def test_duplicate_id(draft):
    draft.node("step", "env__step").edge("act.action -> step.hint")
    text = "\n".join(str(fault) for fault in draft.faults())
    assert "nodes[5] 'step': id 'step' is already that of nodes[2]" in text


@pytest.mark.parametrize("name", ["a/b", "a.b", ""])
def test_ids_that_would_break_paths(draft, name):
    draft.data["nodes"].append({"id": name, "type": "const", "config": {"value": 0}})
    text = "\n".join(str(fault) for fault in draft.faults())
    assert "a node's id must not be empty or contain '/' or '.'" in text
    assert f"(got {name!r})" in text


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("env__stepp", "nodeset 'env' has no tool 'stepp'. Did you mean 'env__step'?"),
        ("enw__step", "there is no nodeset 'enw'. Did you mean 'env__step'?"),
        ("mapp", "neither a built-in nor <nodeset>__<tool>. Did you mean 'map'?"),
        ("iterin", "neither a built-in nor <nodeset>__<tool>. Did you mean 'iterIn'?"),
    ],
)
def test_unknown_node_types_suggest_a_close_one(draft, kind, message):
    draft.node("new", kind).edge("loop.step -> new.turn")
    assert message in draft.only_fault()


def test_nothing_is_said_of_the_tools_of_a_nodeset_that_cannot_be_read(draft):
    draft.node("new", "enw__step").edge("loop.step -> new.turn")
    document = read_graph(draft.data)
    assert validate(document, draft.manifests, unreadable={"enw"}) == []
    assert len(validate(document, draft.manifests, unreadable={"other"})) == 1


def test_a_built_in_that_needs_config(empty):
    empty.node("c", "const").node("out", "graphOut", portName="m").edge("c.value -> out.value")
    assert empty.only_fault() == (
        "nodes[0] 'c' config.value: built-in 'const' must have it. "
        "Add 'value' to the node's config."
    )


@pytest.mark.parametrize(
    ("name", "config", "message"),
    [
        ("length", {"portName": 3}, "nodes[4] 'length' config.portName: input should be"),
        ("loop", {"ports": 3}, "config.ports: must be a list of names (got 3). Mend the value."),
        ("loop", {"ports": ["memory", "memory"]}, "port 'memory' stands twice"),
        ("loop", {"ports": ["step", "memory"]}, "port names after, step, stop are taken"),
        ("loop", {"ports": ["a.b", "memory"]}, "must not be empty or contain '/' or '.'"),
        (
            "end",
            {"loop": "loop", "ports": ["memory"], "max_turns": 0},
            "greater than or equal",
        ),
    ],
)
def test_ill_typed_config_of_a_built_in(draft, name, config, message):
    assert message in draft.config(name, **config).only_fault()


def test_unknown_config_key_of_a_built_in(draft):
    draft.config("end", loop="loop", ports=["memory"], max_turn=5)
    assert (
        "built-in 'iterOut' knows no config key 'max_turn'. Did you mean 'max_turns'?"
        in draft.only_fault()
    )


def test_unknown_config_key_of_a_tool(draft):
    draft.config("step", niose=1)
    assert draft.only_fault() == (
        "nodes[2] 'step': tool 'env__step' knows no config key 'niose' (got 1). "
        "Did you mean 'noise'?"
    )


def test_dangling_edge(draft):
    draft.edge("stepp.reward -> length.after")
    assert draft.only_fault() == (
        "edges[6] stepp.reward -> length.after: there is no node 'stepp'. Did you mean 'step'?"
    )


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        (
            "step.rewad -> act.after",
            "(env__step) has no output port 'rewad'. Did you mean 'reward'?",
        ),
        (
            "act.memory -> step.hnt",
            "'step' (env__step) has no input port 'hnt'. Did you mean 'hint'?",
        ),
        ("loop.mem -> step.after", "'loop' (iterIn) has no output port 'mem'"),
    ],
)
def test_unknown_ports(draft, edge, message):
    assert message in draft.edge(edge).only_fault()


def test_a_misspelt_port_is_one_fault_not_also_an_unwired_one(draft):
    draft.without_edge("act.action -> step.action").edge("act.action -> step.acton")
    assert "has no input port 'acton'" in draft.only_fault()


def test_two_edges_into_one_port(draft):
    draft.edge("act.action -> step.action")
    assert "input 'step.action' already has an edge: edges[2]" in draft.only_fault()


def test_after_takes_several_edges(draft):
    draft.edge("act.memory -> step.after", "loop.memory -> step.after")
    assert draft.faults() == []


def test_type_mismatch(draft):
    draft.edge("act.memory -> step.hint")
    assert draft.only_fault() == (
        "edges[6] act.memory -> step.hint: act.memory gives JSON, but input 'hint' takes TEXT. "
        "Wire a port of a type that fits."
    )


def test_types_are_followed_through_built_ins(draft):
    draft.node("yes", "const", value=True).node("s", "switch")
    draft.node("m", "merge", ports=["p", "q"])
    draft.edge("step.reward -> s.value", "yes.value -> s.condition", "s.true -> m.p")
    draft.edge("s.false -> m.q", "m.value -> step2.hint").node("step2", "env__step")
    draft.edge("act.action -> step2.action")
    assert "m.value gives FLOAT, but input 'hint' takes TEXT" in draft.only_fault()


def test_types_are_followed_round_a_loop(draft):
    draft.without_edge("act.memory -> end.memory").edge("step.reward -> end.memory")
    draft.without_edge("loop.memory -> act.memory").edge("loop.memory -> step.hint")
    assert "loop.memory gives FLOAT, but input 'hint' takes TEXT" in draft.only_fault()


def test_a_constant_is_checked_by_its_value(draft):
    draft.node("c", "const", value=7).edge("c.value -> step.hint")
    assert "const 'c' at input 'hint' (TEXT): got" in draft.only_fault()


def test_unwired_required_port(draft):
    draft.without_edge("act.action -> step.action").edge("act.action -> step.after")
    assert draft.only_fault() == (
        "nodes[2] 'step': required input 'action' (ACTION) of env__step is not wired. Wire it."
    )


def test_stop_must_be_wired(draft):
    draft.without_edge("step.done -> end.stop")
    assert "required input 'stop' (BOOL) of iterOut is not wired" in draft.only_fault()


def test_a_node_that_no_edge_touches_is_unreachable(draft):
    draft.node("lonely", "env__step")
    assert (
        "'lonely' is unreachable: no edge leads to it or from it (its required inputs: action)"
        in (draft.only_fault())
    )


def test_a_built_in_that_leads_nowhere(draft):
    draft.node("m", "merge", ports=["p"]).edge("step.reward -> m.p")
    assert "merge 'm' leads nowhere: no edge takes its output" in draft.only_fault()


def test_no_graph_out(draft):
    draft.data["nodes"].pop()
    draft.without_edge("end.final_step -> length.value")
    assert "the graph has no graphOut, so it has no result" in draft.only_fault()


def test_two_results_of_one_name(draft):
    draft.node("again", "graphOut", portName="length").edge("end.final_step -> again.value")
    assert "result 'length' is already that of graphOut 'length'" in draft.only_fault()


def test_a_result_must_be_a_metric(draft):
    draft.node("o", "env__observe").node("out", "graphOut", portName="m")
    draft.edge("o.rgb -> out.value")
    assert "o.rgb gives IMAGE, but a graphOut takes a number, BOOL or METRICS" in draft.only_fault()


@pytest.mark.parametrize(
    ("edges", "end"),
    [
        (["o.clock -> out.value"], "a graphOut"),
        (["o.is_lit -> s.condition", "o.pose -> s.value", "s.true -> act.after"], "a condition"),
        (["o.clock -> step2.action"], "an action port"),
        (["o.clock -> m.p", "m.value -> out.value"], "a graphOut"),
        (["o.is_lit -> e2.stop", "l2.step -> act2.turn"], "a stop"),
    ],
)
def test_volatile_values_may_not_decide(draft, edges, end):
    draft.node("o", "env__observe").edge(*edges)
    extra: dict[str, tuple[str, dict]] = {
        "out": ("graphOut", {"portName": "m"}),
        "s": ("switch", {}),
        "step2": ("env__step", {}),
        "m": ("merge", {"ports": ["p"]}),
        "e2": ("iterOut", {"loop": "l2"}),
        "l2": ("iterIn", {}),
        "act2": ("policy__act", {}),
    }
    for name, (kind, config) in extra.items():
        if any(f"{name}." in edge for edge in edges):
            draft.node(name, kind, **config)
    assert f"a volatile value reaches {end}" in draft.only_fault()


def test_a_nodeset_entry_that_no_node_uses(draft):
    draft.set(nodesets={"polcy": {"config": {}}})
    assert draft.only_fault() == (
        "nodesets.polcy: no node of the graph belongs to a nodeset 'polcy'. Did you mean 'policy'?"
    )


def test_an_unknown_key_of_a_nodesets_config(draft):
    draft.set(nodesets={"policy": {"config": {"scael": 2}}})
    assert (
        "nodeset 'policy' knows no config key 'scael'. Did you mean 'scale'?" in draft.only_fault()
    )


def test_an_environment_that_the_graph_has_not(draft):
    draft.set(environment="evn")
    assert "the graph has no nodeset 'evn'. Did you mean 'env'?" in draft.only_fault()


def test_the_structure_is_checked_without_manifests(draft):
    draft.edge("nobody.x -> act.after").node("out", "graphOut", portName="length")
    kinds = [fault.kind for fault in draft.structure_faults()]
    assert kinds == ["dangling-edge", "unreachable", "duplicate-result"]


def test_the_error_lists_every_fault(draft):
    draft.edge("nobody.x -> act.after").node("lonely", "env__step")
    text = str(GraphError(draft.faults()))
    assert text.startswith("the graph has 2 faults:\n  edges[6]")
    assert len(text.splitlines()) == 3
