"""How loops are built as blocks, and subgraphs as nodes."""

from __future__ import annotations

import pytest

from wayfare.graph.builder import Graph
from wayfare.graph.fault import GraphError


def test_nested_loops_and_what_they_end_with(graph):
    reset = graph.add("env__reset")
    with graph.loop("outer", state=reset.state) as outer:
        with graph.loop("inner", state=outer.state, max_turns=3) as inner:
            act = graph.add("policy__act", state=inner.state, inputs={"scale": 1.0})
            step = graph.add("env__step", state=inner.state, action=act.action)
            inner.carry(state=step.state)
            inner.stop(step.done)
        outer.carry(state=inner.final.state)
        outer.stop(inner.truncated)
    result = graph.add("env__evaluate", state=outer.final.state)
    graph.output("metrics", result.metrics)
    graph.output("turns", outer.final_step)

    graph.validate()
    ids = [node.id for node in graph.document.nodes]
    assert ids[:3] == ["reset", "outer", "inner"]
    assert ids[-5:] == ["inner_end", "outer_end", "evaluate", "metrics", "turns"]


def test_a_plain_value_is_what_a_port_begins_with():
    graph = Graph()
    with graph.loop(memory={}, ports=["image"]) as loop:
        loop.stop(True)
    begin = next(node for node in graph.document.nodes if node.type == "iterIn")
    assert begin.config == {"ports": ["image", "memory"]}
    assert [node.config for node in graph.document.nodes if node.type == "const"] == [
        {"value": {}},
        {"value": True},
    ]


def test_a_port_that_the_loop_does_not_carry_is_named_with_the_closest():
    graph = Graph()
    with graph.loop(ports=["state"]) as loop:
        with pytest.raises(GraphError, match=r"no output port 'stat'. Did you mean 'state'"):
            _ = loop.stat
        with pytest.raises(GraphError, match=r"no input port 'memory'"):
            loop.carry(memory=loop.state)
        with pytest.raises(GraphError, match=r"no output port 'final_stat'"):
            _ = loop.final.stat


def test_an_open_loop_makes_no_document():
    graph = Graph()
    with graph.loop("turn"), pytest.raises(GraphError, match=r"loop 'turn': is still open"):
        _ = graph.document
    assert [node.id for node in graph.document.nodes] == ["turn", "turn_end"]


def test_ports_whose_names_are_taken_are_items():
    graph = Graph()
    with graph.loop(initial={"carry": 1, "end": 2}, ports=["id"]) as loop:
        loop.carry({"carry": loop["carry"], "end": loop["end"]}, id=loop.id)
        loop.stop(False)
    graph.output("carry", loop.final["carry"])
    graph.output("last", loop.end["final_end"])
    graph.validate()


def test_a_loop_can_be_wired_on_after_its_end():
    graph = Graph()
    with graph.loop("turn", ports=["memory"]) as turn:
        step = graph.add("env__step", action=turn.step)
    turn.end.connect(memory=step.memory, stop=step.done)
    turn.begin.connect(init_memory=0)
    graph.output("turns", turn.final_step)
    graph.validate()


def test_values_are_collected_over_the_turns():
    graph = Graph()
    with graph.loop() as loop:
        step = graph.add("env__step", after=loop.step)
        rewards = graph.collect(step.reward)
        loop.stop(step.done)
    graph.output("rewards", graph.add("env__sum", values=rewards).total)
    graph.validate()


def inner_graph(**options):
    inner = Graph("two_steps", **options)
    state = inner.input("state", "JSON")
    speed = inner.input("speed", optional=True)
    step = inner.add("env__step", state=state, inputs={"action": speed})
    inner.output("state", step.state)
    return inner


def test_a_subgraphs_ports_are_known(graph, manifests):
    node = graph.subgraph(inner_graph(manifests=manifests), state=graph.add("env__reset").state)
    assert graph.document.nodes[1].id == "two_steps"
    assert "state" in dir(node)
    with pytest.raises(GraphError, match="no output port 'stat'"):
        _ = node.stat
    with pytest.raises(GraphError, match=r"no input port 'sped'. Did you mean 'speed'"):
        node.connect(sped=1)


def test_a_subgraphs_result_may_be_what_a_metric_may_not(graph):
    graph.output("rgb", graph.add("env__reset").rgb)
    with pytest.raises(GraphError, match="a graphOut takes a number, BOOL or METRICS"):
        graph.validate()


def test_types_are_checked_into_a_subgraph(graph):
    reset = graph.add("env__reset")
    with pytest.raises(GraphError, match=r"reset.rgb gives IMAGE, but input '.*' takes JSON"):
        graph.subgraph(inner_graph(), state=reset.rgb)


def test_a_subgraph_by_name_is_looked_up_when_the_graph_runs():
    graph = Graph()
    graph.output("x", graph.subgraph("plan", start=graph.const(1)).anything)
    assert graph.document.nodes[1].config == {"graph": "plan"}
