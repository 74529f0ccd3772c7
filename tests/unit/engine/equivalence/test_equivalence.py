"""Random graphs give what a plain sequential interpreter of the graph language gives."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.deadline import HANG_SECONDS
from tests.unit.engine.equivalence.drawing import Draw
from tests.unit.engine.equivalence.sequential import OFF, Sequential
from tests.unit.engine.equivalence.world import BUDGET, MANIFESTS, STATEFUL, Copies

from nodeset.context import EpisodeContext
from wayfare.engine.errors import NodeFailure
from wayfare.engine.executor import Executor
from wayfare.graph.document import read_graph
from wayfare.graph.plan import compile_plan
from wayfare.graph.validate import validate

EPISODES = [EpisodeContext(index=index, id=f"e{index}", seed=100 + index) for index in range(3)]


@dataclass
class World:
    """What the sequential interpreter is given."""

    copies: Copies
    seed: int
    loop_of_collect: dict[str, str]
    budget: int = BUDGET

    def answer(self, call):
        return self.copies.answer(call)


class Worker:
    """Runs episodes one after another; its calls end after a random number of passes."""

    def __init__(self, plan, rnd, fails_at=0):
        self.plan = plan
        self.rnd = rnd
        self.copies = Copies(fails_at)

    async def invoke(self, call):
        delays = [self.rnd.randint(0, 6), self.rnd.randint(0, 6)]
        if call.nodeset in STATEFUL:
            delays[0] = 0  # a copy takes its calls in the order in which they are sent
        await passes(delays[0])
        outputs = self.copies.answer(call)
        await passes(delays[1])
        return outputs

    async def run(self, episode):
        self.copies.begin_episode()
        executor = Executor(self.plan, self, episode, step_budget=BUDGET)
        try:
            result = await executor.run()
        except NodeFailure as failure:
            return failure.path, failure.turns, str(failure.error), self.calls()
        ends = (result.metrics, result.undefined, result.steps, result.truncated)
        return *ends, self.calls()

    def calls(self):
        return calls_of(self.copies)


async def passes(count):
    for _ in range(count):
        await asyncio.sleep(0)


def calls_of(copies):
    """Return the calls of each stateful copy in their order, and those of the pure one sorted."""
    sent = {name: [call for call in copies.calls if call[0] == name] for name in "ABS"}
    return sent | {"S": sorted(sent["S"], key=repr)}


async def run_all(workers, episodes):
    """Have the workers take the episodes from one queue, all at the same time."""
    queue, results = list(episodes), {}

    async def work(worker):
        while queue:
            episode = queue.pop(0)
            results[episode.id] = await worker.run(episode)

    async with asyncio.timeout(HANG_SECONDS), asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(work(worker))
    return results


def run_sequentially(graph, draw, episode):
    world = World(Copies(), episode.seed, draw.loop_of_collect)
    plain = Sequential(graph, world)
    came = plain.run({})
    metrics = {name: value for name, value in came.items() if value is not OFF}
    undefined = {name: "not produced" for name in came if name not in metrics}
    return metrics, undefined, plain.steps, plain.truncated, calls_of(world.copies)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_random_graphs_equal_a_sequential_interpreter_at_any_number_of_workers(seed):
    rnd = random.Random(seed)
    draw = Draw(rnd)
    graph = draw.graph()
    assert validate(read_graph(graph), MANIFESTS) == []
    plan = compile_plan(read_graph(graph), MANIFESTS, STATEFUL)
    expected = {e.id: run_sequentially(graph, draw, e) for e in EPISODES}
    for worker_count in range(1, 5):
        workers = [Worker(plan, rnd) for _ in range(worker_count)]
        assert asyncio.run(run_all(workers, EPISODES)) == expected


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_random_failures_do_not_depend_on_what_finished_first(seed):
    rnd = random.Random(seed)
    document = read_graph(Draw(rnd).graph())
    plan = compile_plan(document, MANIFESTS, STATEFUL)
    first, *others = (
        asyncio.run(run_all([Worker(plan, rnd, fails_at=6) for _ in range(count)], EPISODES))
        for count in (1, 1, 2, 4)
    )
    assert all(results == first for results in others)
