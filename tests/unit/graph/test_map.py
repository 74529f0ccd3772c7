"""How maps are checked: their ports, their graphs, and what is followed into and out of these."""

from __future__ import annotations

import pytest

from wayfare.graph.document import read_graph
from wayfare.graph.plan import compile_plan
from wayfare.graph.tooltype import nodesets_of


@pytest.fixture
def inner(empty):
    """Give a map's graph: a turn per item, and a memory for all of them."""
    return (
        empty.node("item", "graphIn", portName="item", type="INT")
        .node("memory", "graphIn", portName="memory", optional=True)
        .node("act", "policy__act")
        .node("notes", "graphOut", portName="notes")
        .edge("item.value -> act.turn", "memory.value -> act.memory", "act.memory -> notes.value")
    )


@pytest.fixture
def mapped(draft, inner):
    """Give a valid agent with a map over the turns of its loop."""
    draft.node("turns", "collect").node("m", "map", graph=inner.data)
    draft.node("last", "policy__act").edge("m.notes -> last.memory", "end.final_step -> last.turn")
    return draft.edge("loop.step -> turns.value", "turns.values -> m.items")


def test_a_map_is_one_node_whose_graph_has_paths(mapped):
    assert mapped.faults() == []
    plan = compile_plan(read_graph(mapped.data), mapped.manifests, frozenset({"policy"}))
    unit = next(unit for unit in plan.units.values() if unit.path == "m")
    assert "m/act" in [inner.path for inner in unit.map.plan.units.values()]
    assert ("m", "last") not in plan.position_pairs
    assert nodesets_of(read_graph(mapped.data)) == ["policy", "env"]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("walker", "a map's 'graph' must be a graph document or the name of one; graph 'walker'"),
        ({"version": 1, "nodes": [], "nodesets": {}}, "'nodesets' stands only at the top"),
        ({"version": 1, "nodes": [{"id": 3, "type": "const"}]}, "nodes[0].id: input should be"),
        (
            {"version": 1, "nodes": []},
            "the graph of map 'm' has no graphIn 'item', to which each item comes. Give it",
        ),
    ],
)
def test_a_map_needs_a_graph_with_an_item(draft, graph, message):
    draft.node("m", "map", graph=graph).node("list", "const", value=[1])
    draft.edge("list.value -> m.after", "list.value -> act.after")
    assert message in "\n".join(str(fault) for fault in draft.faults())


def test_an_input_of_a_maps_graph_may_not_have_the_name_of_the_list(mapped, inner):
    inner.node("items", "graphIn", portName="items")
    assert "has a graphIn 'items', the name of the whole list" in mapped.only_fault()


def test_two_inputs_of_a_maps_graph_of_one_name(mapped, inner):
    inner.node("again", "graphIn", portName="memory")
    assert mapped.only_fault() == (
        "nodes[6] 'm' graph.nodes[4] 'again' config.portName: input 'm/memory' is already that of "
        "graphIn 'm/memory'. Every graphIn needs its own portName."
    )


def test_the_list_of_a_map_must_be_wired(mapped):
    mapped.without_edge("turns.values -> m.items").edge("turns.values -> act.after")
    mapped.without_edge("turns.values -> act.after").edge("turns.values -> m.after")
    assert "required input 'items' (LIST[INT]) of map is not wired" in mapped.only_fault()


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        ("turns.values -> m.itmes", "'m' (map) has no input port 'itmes'. Did you mean 'items'?"),
        ("m.ntoes -> last.after", "'m' (map) has no output port 'ntoes'"),
    ],
)
def test_unknown_ports_of_a_map(mapped, edge, message):
    assert message in mapped.edge(edge).only_fault()


def test_a_list_of_another_type_does_not_fit(mapped):
    mapped.without_edge("loop.step -> turns.value").edge("step.reward -> turns.value")
    assert "turns.values gives LIST[FLOAT], but input 'items' takes LIST[INT]" in (
        mapped.only_fault()
    )


def test_types_are_followed_into_a_map_and_out_of_it(mapped, inner):
    inner.config("item", portName="item").node("echo", "graphOut", portName="echo")
    inner.edge("item.value -> echo.value")
    mapped.without_edge("loop.step -> turns.value").edge("step.reward -> turns.value")
    mapped.node("step2", "env__step").edge("m.echo -> step2.hint", "last.action -> step2.action")
    texts = [str(fault) for fault in mapped.faults()]
    assert "m/item.value gives FLOAT, but input 'turn' takes INT" in "\n".join(texts)
    assert "m.echo gives LIST[FLOAT], but input 'hint' takes TEXT" in "\n".join(texts)
    assert len(texts) == 2


def test_a_volatile_value_may_not_decide_in_a_map(mapped, inner):
    inner.node("s", "switch").edge("item.value -> s.value", "memory.value -> s.condition")
    inner.edge("s.true -> act.after")
    mapped.node("o", "env__observe").edge("o.is_lit -> m.memory")
    assert "a volatile value reaches a condition" in mapped.only_fault()


def test_a_volatile_value_that_a_map_passes_on_is_no_result(mapped, inner):
    inner.node("echo", "graphOut", portName="echo").edge("memory.value -> echo.value")
    mapped.node("o", "env__observe").edge("o.clock -> m.memory", "m.echo -> out.value")
    mapped.node("out", "graphOut", portName="clocks")
    texts = "\n".join(str(fault) for fault in mapped.faults())
    assert "m.echo gives LIST[FLOAT], but a graphOut takes a number" in texts
    assert "a volatile value reaches a graphOut" in texts


def test_faults_in_a_maps_graph_show_both_places(mapped, inner):
    inner.config("act", speed=1)
    assert mapped.only_fault().startswith("nodes[6] 'm' graph.nodes[2] 'act': tool 'policy__act'")


def test_a_broken_end_is_one_fault_and_not_also_an_unknown_port(mapped, inner):
    inner.config("notes", portName=3)
    assert mapped.only_fault().startswith("nodes[6] 'm' graph.nodes[3] 'notes' config.portName")


def test_a_loop_in_a_map_needs_max_turns(mapped, inner):
    inner.node("l", "iterIn").node("t", "policy__stamp").node("e", "iterOut", loop="l")
    inner.node("no", "const", value=False)
    inner.edge("l.step -> t.turn", "item.value -> t.after", "no.value -> e.stop")
    assert "loop 'm/l' is inside map 'm' and must have max_turns" in mapped.only_fault()


def test_an_output_of_a_map_stands_outside_the_loops_of_its_graph(mapped, inner):
    inner.node("l", "iterIn").node("e", "iterOut", loop="l", max_turns=2)
    inner.node("no", "const", value=False).node("out", "graphOut", portName="n")
    inner.edge("l.step -> out.value", "no.value -> e.stop")
    assert "graphOut 'm/out' stands inside loop 'm/l'" in mapped.only_fault()
