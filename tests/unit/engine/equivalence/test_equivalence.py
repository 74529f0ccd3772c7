"""Random graphs give what a plain sequential interpreter of the graph language gives."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeset.context import EpisodeContext
from nodeset.digest import hash64
from nodeset.errors import AuthorError
from wayfare.engine.errors import NodeFailure
from wayfare.engine.executor import Executor
from wayfare.graph.plan import compile_plan
from wayfare.graph.validate import validate

EPISODE = EpisodeContext(index=0, id="e", seed=5)


class Delayed:
    """Answers after a random number of passes of the event loop; fails on every n-th hash."""

    def __init__(self, rnd, answer, fails_at=0):
        self.answer = answer
        self.rnd = rnd
        self.fails_at = fails_at
        self.calls = []

    async def invoke(self, call):
        self.calls.append((call.nodeset, call.path, call.turns, dict(call.inputs)))
        for _ in range(self.rnd.randint(0, 6)):
            await asyncio.sleep(0)
        if self.fails_at and hash64(call.path, list(call.turns)) % self.fails_at == 0:
            raise AuthorError(f"{call.path} broke in {call.turns}")
        return self.answer(call.path, call.turns, call.inputs)


@pytest.mark.timeout(60)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_random_graphs_equal_a_sequential_interpreter(bench, language, seed):
    rnd = random.Random(seed)
    draw = language.draw(rnd)
    data = draw.graph()
    document = bench.read(data)
    assert validate(document, language.manifests) == []
    plan = compile_plan(document, language.manifests, language.ordered)
    plain = language.sequential(data, draw.loop_of_collect)
    metrics, undefined = plain.run()
    for _ in range(3):
        invoker = Delayed(rnd, language.answer)
        executor = Executor(plan, invoker, EPISODE, step_budget=language.budget)
        result = asyncio.run(asyncio.wait_for(executor.run(), 10))
        assert (result.metrics, result.undefined) == (metrics, undefined)
        assert result.steps == plain.steps
        for nodeset in "AB":
            assert [c for c in invoker.calls if c[0] == nodeset] == [
                c for c in plain.calls if c[0] == nodeset
            ]
        assert sorted(map(repr, invoker.calls)) == sorted(map(repr, plain.calls))


@pytest.mark.timeout(60)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_random_failures_do_not_depend_on_what_finished_first(bench, language, seed):
    rnd = random.Random(seed)
    document = bench.read(language.draw(rnd).graph())
    plan = compile_plan(document, language.manifests, language.ordered)
    ends = set()
    for _ in range(4):
        invoker = Delayed(rnd, language.answer, fails_at=6)
        executor = Executor(plan, invoker, EPISODE, step_budget=language.budget)
        try:
            end: object = asyncio.run(asyncio.wait_for(executor.run(), 10)).metrics
        except NodeFailure as failure:
            end = (failure.path, failure.turns, str(failure.error))
        ends.add(repr((end, sorted(map(repr, invoker.calls)))))
    assert len(ends) == 1
