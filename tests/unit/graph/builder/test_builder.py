"""How nodes are added and wired, and what is refused at once."""

from __future__ import annotations

import pytest

from wayfare.graph.builder import Graph
from wayfare.graph.document import EdgeSpec
from wayfare.graph.draft import PortNameError
from wayfare.graph.fault import GraphError


def edges_of(graph):
    return [
        f"{e.source}.{e.source_handle} -> {e.target}.{e.target_handle}"
        for e in graph.document.edges
    ]


def test_an_agent_in_python_is_the_document_in_json(draft):
    graph = Graph()
    with graph.loop(ports=["memory"], end="end") as loop:
        act = graph.add("policy__act", memory=loop.memory, turn=loop.step)
        step = graph.add("env__step", action=act.action)
        loop.carry(memory=act.memory)
        loop.stop(step.done)
    graph.output("length", loop.final_step)

    built = graph.document.to_json()
    assert built["edges"] == draft.data["edges"]
    assert built["nodes"] == [
        {key: value for key, value in node.items() if value} for node in draft.data["nodes"]
    ]


def test_an_output_wires_and_any_other_value_configures(graph):
    reset = graph.add("env__reset")
    graph.add("policy__act", state=reset.state, greedy=True)

    assert edges_of(graph) == ["reset.state -> act.state"]
    assert graph.document.nodes[1].config == {"greedy": True}


def test_a_name_that_is_input_and_configuration_must_say_which(graph):
    with pytest.raises(GraphError, match=r"'scale' is both an input and a configuration key"):
        graph.add("policy__act", scale=2.0)

    graph.add("policy__act", config={"scale": 2.0}, inputs={"scale": 3.0})

    const, act = graph.document.nodes
    assert (const.config, act.config) == ({"value": 3.0}, {"scale": 2.0})
    assert edges_of(graph) == ["const.value -> act.scale"]


def test_ids_are_what_a_node_is_with_a_number_where_it_is_taken():
    graph = Graph()
    for _ in range(2):
        step = graph.add("env__step")
    graph.output("reward", step.reward)
    graph.output("reward", step.reward, id="again")

    assert [node.id for node in graph.document.nodes] == ["step", "step_2", "reward", "again"]


def test_an_id_that_is_taken_is_refused(graph):
    graph.add("env__reset", "first")
    with pytest.raises(GraphError, match=r"'first' is already that of a env__reset"):
        graph.add("env__step", "first")


@pytest.mark.parametrize(
    ("node_type", "keywords", "message"),
    [
        ("env__rest", {}, "Did you mean 'env__reset'"),
        ("evn__reset", {}, "Did you mean 'env__reset'"),
        ("swich", {}, "Did you mean 'switch'"),
        ("env__step", {"nose": 1}, "Did you mean 'noise'"),
        ("policy__act", {"goal": "door"}, "'goal' is an input: wire an output"),
        ("env__step", {"noise": object()}, "config.noise: is no JSON value"),
        ("merge", {"ports": []}, "config.ports"),
        ("env__reset", {"id": "a/b"}, "must not be empty or contain"),
    ],
)
def test_a_node_that_can_not_be_right_is_refused(graph, node_type, keywords, message):
    with pytest.raises(GraphError, match=message):
        graph.add(node_type, **keywords)
    assert graph.document.nodes == []


def test_an_output_that_is_not_there_is_named_with_the_closest(graph):
    reset = graph.add("env__reset")
    with pytest.raises(PortNameError, match=r"no output port 'sate'. Did you mean 'state'"):
        _ = reset.sate
    assert not hasattr(reset, "reward")


def test_an_input_that_is_not_there_is_named_with_the_closest(graph):
    reset = graph.add("env__reset")
    step = graph.add("env__step")
    with pytest.raises(GraphError, match=r"no input port 'stat'. Did you mean 'state'"):
        step.connect(stat=reset.state)


def test_types_are_checked_as_they_are_wired(graph):
    reset = graph.add("env__reset")
    with pytest.raises(GraphError, match=r"reset.rgb gives IMAGE, but input 'action' takes ACTION"):
        graph.add("env__step", action=reset.rgb)
    assert [node.id for node in graph.document.nodes] == ["reset"]


def test_a_second_edge_to_an_input_is_refused(graph):
    step = graph.add("env__step", state=graph.add("env__reset").state)
    with pytest.raises(GraphError, match=r"'step.state' already has an edge, from 'reset.state'"):
        step.connect(state=step.state)


def test_after_takes_several_outputs(graph):
    reset = graph.add("env__reset")
    graph.add("env__reset", after=[reset.state, reset.rgb])
    assert edges_of(graph) == ["reset.state -> reset_2.after", "reset.rgb -> reset_2.after"]


def test_a_whole_node_can_not_be_wired(graph):
    reset = graph.add("env__reset")
    with pytest.raises(GraphError, match=r"got the whole node 'reset'.*Did you mean 'state'"):
        graph.add("env__step", state=reset)


def test_an_output_of_another_graph_is_refused(graph):
    other = Graph().add("env__reset")
    with pytest.raises(GraphError, match="belongs to another graph"):
        graph.add("env__step", state=other.state)


def test_an_output_has_no_value_while_the_graph_is_built(graph):
    step = graph.add("env__step")
    with pytest.raises(TypeError, match=r"use graph\.switch"):
        bool(step.done)


def test_handles_complete_what_the_manifest_names(graph):
    step = graph.add("env__step")
    assert {"state", "done", "reward", "connect"} <= set(dir(step))
    assert step.reward.wire_type == "FLOAT"
    assert (repr(step), repr(step.done)) == (
        "<node step outputs: state, done, reward>",
        "<output step.done BOOL>",
    )


def test_a_port_that_is_no_attribute_is_an_item():
    node = Graph().add("env__odd")
    assert node["connect"].port == "connect"
    assert node["my port"].port == "my port"
    assert not hasattr(node, "_repr_html_")


def test_switch_merge_and_constants():
    graph = Graph()
    node = graph.add("env__reset")
    way = graph.switch(node.state, node.done)
    both = graph.merge(left=way.true, right=way["false"])
    graph.output("result", both)
    graph.output("one", graph.const(1, id="unit"))

    types = [node.type for node in graph.document.nodes]
    assert types == ["env__reset", "switch", "merge", "graphOut", "const", "graphOut"]
    assert graph.document.nodes[2].config == {"ports": ["left", "right"]}


def test_without_manifests_validation_names_the_wrong_port(manifests):
    graph = Graph()
    graph.output("metrics", graph.add("env__evaluate", state=graph.add("env__reset").sate).metrics)
    graph.validate()

    with pytest.raises(GraphError, match=r"no output port 'sate'"):
        graph.validate(manifests)


def test_a_further_instance_has_the_tools_of_its_class(graph):
    graph.nodeset("second", use="Env", config={"size": 3})
    graph.add("second__reset")
    with pytest.raises(GraphError, match=r"no nodeset has a class 'Enw'. Did you mean 'Env'"):
        graph.nodeset("third", use="Enw")
    spec = graph.document.nodesets["second"]
    assert (spec.use, spec.config) == ("Env", {"size": 3})


def test_the_order_of_edges_can_be_given():
    graph = Graph()
    reset = graph.add("env__reset")
    graph.add("env__step", state=reset.state, action=reset.action)
    graph.sort_edges([1, 0])
    assert edges_of(graph) == ["reset.action -> step.action", "reset.state -> step.state"]
    with pytest.raises(ValueError, match="each of 2 edges once"):
        graph.sort_edges([0, 0])


def test_edges_are_the_documents_own_model(graph):
    graph.add("env__step", state=graph.add("env__reset").state)
    (edge,) = graph.document.edges
    assert edge == EdgeSpec(
        source="reset", source_handle="state", target="step", target_handle="state"
    )
