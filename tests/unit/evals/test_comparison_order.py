"""Firings stand in the order in which values flow, turn by turn."""

from wayfare.evals.comparison_order import FiringOrder
from wayfare.graph.document import read_graph


def edge(source, target):
    return dict(
        zip(
            ("source", "sourceHandle", "target", "targetHandle"),
            (*source.split("."), *target.split(".")),
            strict=True,
        )
    )


def document(nodes, edges):
    return read_graph(
        {"version": 1, "nodes": nodes, "edges": [edge(*text.split(" ")) for text in edges]}
    )


LOOP = document(
    [
        {"id": "score", "type": "env__score"},
        {"id": "step", "type": "env__step"},
        {"id": "act", "type": "policy__act"},
        {"id": "task", "type": "env__task"},
        {"id": "turn", "type": "iterIn", "config": {"ports": ["state"]}},
        {"id": "next", "type": "iterOut", "config": {"loop": "turn", "ports": ["state"]}},
    ],
    [
        "task.state turn.init_state",
        "turn.state act.state",
        "act.action step.action",
        "step.state next.state",
        "step.done next.stop",
        "next.final_state score.state",
    ],
)


def in_order(order, firings):
    return sorted(firings, key=lambda firing: order.key(*firing))


def test_turns_come_first_and_what_follows_a_loop_last():
    expected = [("task", ()), ("act", (0,)), ("step", (0,)), ("act", (1,)), ("step", (1,))]
    expected.append(("score", ()))
    assert in_order(FiringOrder([LOOP]), expected[::-1]) == expected


def test_nodes_that_only_the_second_graph_has_stand_where_it_has_them():
    shorter = document([{"id": "task", "type": "env__task"}], [])
    order = FiringOrder([shorter, LOOP])
    assert in_order(order, [("step", (0,)), ("act", (0,))]) == [("act", (0,)), ("step", (0,))]


def test_nodes_that_no_graph_has_come_last_by_turns():
    order = FiringOrder([LOOP])
    firings = [("lost", (1,)), ("lost", (0,)), ("score", ())]
    assert in_order(order, firings) == [("score", ()), ("lost", (0,)), ("lost", (1,))]


def test_an_input_is_known_by_what_it_is_wired_to():
    order = FiringOrder([LOOP])
    assert order.source_of("step", "action") == "act.action"
    assert order.source_of("act", "nothing") == ""


def test_items_of_a_map_come_in_their_order_within_it():
    inner = {
        "version": 1,
        "nodes": [
            {"id": "in", "type": "graphIn", "config": {"portName": "item"}},
            {"id": "late", "type": "env__late"},
            {"id": "early", "type": "env__early"},
            {"id": "out", "type": "graphOut", "config": {"portName": "value"}},
        ],
        "edges": [
            edge("in.value", "early.x"),
            edge("early.x", "late.x"),
            edge("late.x", "out.value"),
        ],
    }
    nodes = [
        {"id": "many", "type": "map", "config": {"graph": inner}},
        {"id": "task", "type": "env__task"},
    ]
    order = FiringOrder([document(nodes, ["task.list many.items"])])
    expected = [("task", ()), ("many/early", (0,)), ("many/late", (0,)), ("many/early", (1,))]
    assert in_order(order, expected[::-1]) == expected
