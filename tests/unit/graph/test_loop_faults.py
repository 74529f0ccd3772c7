"""Faults of loops: cycles, ends that do not match, values that leave where they may not."""

from __future__ import annotations


def test_a_cycle_outside_a_loop(draft):
    draft.node("a", "policy__act").node("b", "policy__stamp")
    draft.edge("a.memory -> b.after", "b.turn -> a.turn", "loop.step -> b.turn")
    assert "the edges go round in a cycle outside a loop: a -> b -> a" in draft.only_fault()


def test_an_edge_from_a_loops_end_to_its_start_is_a_cycle(draft):
    draft.edge("end.final_memory -> loop.init_memory")
    assert "cycle outside a loop: loop -> act -> end -> loop" in draft.only_fault()


def test_iter_out_without_iter_in(draft):
    draft.config("end", loop="loup", ports=["memory"])
    texts = [str(fault) for fault in draft.faults()]
    assert (
        "iterOut names the loop 'loup', but no iterIn has that id. Did you mean 'loop'?" in texts[0]
    )


def test_iter_in_without_iter_out(empty):
    empty.node("loop", "iterIn", ports=[]).node("t", "env__stamp")
    empty.node("out", "graphOut", portName="m")
    empty.edge("loop.step -> t.turn", "t.turn -> out.value")
    assert "no iterOut ends the loop 'loop'. Add an iterOut with config loop='loop'." in (
        empty.only_fault()
    )


def test_two_ends_of_one_loop(draft):
    draft.node("end2", "iterOut", loop="loop").edge("step.done -> end2.stop")
    assert "loop 'loop' is already ended by 'end'" in draft.only_fault()


def test_an_empty_loop(draft):
    draft.node("l2", "iterIn").node("e2", "iterOut", loop="l2").node("no", "const", value=True)
    draft.edge("no.value -> e2.stop")
    assert "loop 'l2' is empty: no edge leads out of its iterIn" in draft.only_fault()


def test_a_graph_out_inside_a_loop(draft):
    draft.node("out", "graphOut", portName="r").edge("step.reward -> out.value")
    assert "graphOut 'out' stands inside loop 'loop'" in draft.only_fault()


def test_a_value_may_leave_a_loop_only_by_its_ends(draft):
    draft.node("late", "policy__act").edge("end.final_step -> late.turn")
    draft.edge("act.memory -> late.memory")
    text = draft.only_fault()
    assert text.startswith("edges[7] act.memory -> late.memory: a value leads out of loop 'loop'")
    assert "final_* port of the iterOut or by a collect" in text


def test_collect_leads_out_of_a_loop(draft):
    draft.node("all", "collect").node("out", "graphOut", portName="r")
    draft.node("act2", "policy__act")
    draft.edge(
        "step.reward -> all.value", "all.values -> act2.memory", "end.final_step -> act2.turn"
    )
    draft.data["nodes"] = [node for node in draft.data["nodes"] if node["id"] != "out"]
    assert draft.faults() == []


def test_collect_outside_a_loop(draft):
    draft.node("all", "collect").edge("end.final_step -> all.value", "all.values -> act2.memory")
    draft.node("act2", "policy__act").edge("end.final_step -> act2.turn")
    assert "collect 'all' stands outside loops" in draft.only_fault()


def test_an_inner_loop_needs_max_turns(draft):
    draft.node("in", "iterIn").node("t", "policy__stamp").node("out", "iterOut", loop="in")
    draft.edge("in.step -> t.turn", "act.memory -> t.after", "step.done -> out.stop")
    assert "loop 'in' is inside loop 'loop' and must have max_turns" in draft.only_fault()


def test_loops_that_cross(draft):
    draft.node("in", "iterIn").node("t", "policy__act").node("out", "iterOut", loop="in")
    draft.node("no", "const", value=True)
    draft.edge("in.step -> t.turn", "act.memory -> t.memory", "no.value -> out.stop")
    assert "stands in loops 'in' and 'loop', but neither is in the other" in draft.only_fault()


def test_what_is_collected_twice_leaves_two_loops_whatever_the_order_of_nodes(empty):
    empty.node("inner", "iterIn").node("all", "collect").node("outer", "iterIn")
    empty.node("t", "policy__stamp").node("each", "collect").node("out", "policy__act")
    empty.node("end", "iterOut", loop="inner", max_turns=2).node("last", "iterOut", loop="outer")
    empty.node("no", "const", value=False).node("n", "graphOut", portName="n")
    empty.edge("inner.step -> t.turn", "outer.step -> t.after", "t.turn -> each.value")
    empty.edge("each.values -> all.value", "all.values -> out.memory", "last.final_step -> n.value")
    empty.edge("outer.step -> inner.after", "no.value -> end.stop", "no.value -> last.stop")
    empty.edge("last.final_step -> out.turn")
    assert empty.faults() == []
