"""Large graphs are checked and compiled by work that grows with their size, not faster."""

from __future__ import annotations

import sys

import pytest

from wayfare.graph.document import read_graph
from wayfare.graph.plan import compile_plan
from wayfare.graph.validate import validate

NODES = 500


def chain(empty, count):
    """Give a chain of tools and switches in a loop."""
    empty.node("loop", "iterIn").node("yes", "const", value=True)
    last = "loop.step"
    for number in range(count):
        if number % 3:
            empty.node(f"n{number}", "policy__stamp").edge(f"{last} -> n{number}.turn")
            last = f"n{number}.turn"
        else:
            empty.node(f"n{number}", "switch")
            empty.edge(f"{last} -> n{number}.value", f"yes.value -> n{number}.condition")
            last = f"n{number}.true"
    empty.node("end", "iterOut", loop="loop", ports=["n"]).node("n", "graphOut", portName="n")
    empty.edge(f"{last} -> end.n", "yes.value -> end.stop", "end.final_n -> n.value")
    return empty


def rings(empty, count):
    """Give loops one after another, half of them inside the one before."""
    empty.node("no", "const", value=False).node("n", "graphOut", portName="n")
    empty.node("l0", "iterIn", ports=["p"]).edge("no.value -> l0.init_p")
    for number in range(count):
        empty.node(f"l{number + 1}", "iterIn", ports=["p"])
        empty.edge(f"l{number}.p -> l{number + 1}.init_p")
    for number in range(count, -1, -1):
        empty.node(f"e{number}", "iterOut", loop=f"l{number}", ports=["p"], max_turns=2)
        inner = f"e{number + 1}.final_p" if number < count else f"l{number}.p"
        empty.edge(f"{inner} -> e{number}.p", f"no.value -> e{number}.stop")
    return empty.edge("e0.final_p -> n.value")


def calls_of(function, *arguments):
    """Count the calls of Python functions that a function makes."""
    count = 0

    def note(frame, event, _):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return count


def test_a_document_of_500_nodes_is_validated_by_few_calls_a_node(empty):
    document = read_graph(chain(empty, NODES).data)
    assert validate(document, empty.manifests) == []
    assert calls_of(validate, document, empty.manifests) < 200 * NODES


def test_twice_the_nodes_are_twice_the_work(empty, twice):
    small, large = read_graph(chain(empty, NODES).data), read_graph(chain(twice, 2 * NODES).data)
    manifests = empty.manifests
    work = [calls_of(validate, document, manifests) for document in (small, large)]
    assert work[1] < 2.5 * work[0]


def test_500_faults_are_500_sentences(empty):
    for number in range(NODES):
        empty.node(f"n{number}", "policy__stanp")
    assert len(validate(read_graph(empty.data), empty.manifests)) >= NODES


@pytest.mark.parametrize("depth", [5, 40])
def test_loops_may_nest_deeply(empty, depth):
    document = read_graph(rings(empty, depth).data)
    assert validate(document, empty.manifests) == []
    plan = compile_plan(document, empty.manifests, frozenset({"policy"}))
    assert len(plan.scopes) == depth + 2
    assert calls_of(validate, document, empty.manifests) < 1000 * depth
    assert calls_of(compile_plan, document, empty.manifests, frozenset({"policy"})) < 3000 * depth


@pytest.fixture
def twice(empty):
    """Give a second empty draft."""
    return type(empty)()
