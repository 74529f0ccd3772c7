"""The shipped Minigrid and CartPole agents fit their nodesets and play an episode to its end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from nodeset.context import BatchContext, Context, EpisodeContext
from nodeset.loading import load_nodeset
from nodeset.manifest import build_manifest
from nodeset.rows import check_inputs, check_outputs, split, stack
from wayfare.engine.executor import Executor
from wayfare.graph.document import load_graph
from wayfare.graph.plan import compile_plan
from wayfare.graph.validate import validate

ROOT = Path(__file__).resolve().parents[3]
GRAPHS = ["minigrid_planner", "cartpole_random"]


def load(graph):
    document = load_graph(ROOT / "graphs" / f"{graph}.json")
    configs = {name: spec.config for name, spec in document.nodesets.items()}
    names = ("env_gymnasium", "policy_planner")
    nodesets = {
        name: load_nodeset(str(ROOT / "nodesets" / name), config=configs.get(name, {}))
        for name in names
    }
    return document, nodesets, {n: build_manifest(loaded) for n, loaded in nodesets.items()}


class Direct:
    """Answers calls in this process, one row at a time."""

    def __init__(self, nodesets):
        self.nodesets = nodesets

    async def invoke(self, call):
        tool = self.nodesets[call.nodeset].tools[call.tool]
        row = check_inputs(tool, call.inputs)
        config = {**tool.default_config, **call.config}
        context = Context(config, turns=call.turns, step=call.step, seed=call.seed)
        if not tool.batched:
            return check_outputs(tool, tool.forward(row, context))
        result = tool.forward(stack(tool, [row]), BatchContext(config, [context]))
        return next(split(tool, result, 1, count=1))


def play(graph, index, seed=0):
    document, nodesets, manifests = load(graph)
    episode = EpisodeContext(index, str(index), seed=seed)
    environment = nodesets["env_gymnasium"].nodeset
    environment.initialize()
    environment.begin_episode(episode)
    plan = compile_plan(document, manifests, frozenset({"env_gymnasium"}))
    try:
        return asyncio.run(Executor(plan, Direct(nodesets), episode, step_budget=1000).run())
    finally:
        environment.shutdown()


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_shipped_graph_has_no_fault(graph):
    document, _, manifests = load(graph)
    assert validate(document, manifests) == []


def test_the_minigrid_planner_reaches_the_goal():
    result = play("minigrid_planner", 0)
    assert result.metrics["success"] is True
    assert result.metrics["return"] > 0
    assert result.metrics["length"] == result.steps


def test_the_random_agents_cartpole_falls_and_claims_no_success():
    result = play("cartpole_random", 0)
    assert result.metrics["return"] == result.metrics["length"] == result.steps
    assert result.undefined == {"success": "the environment reports no success"}


def test_the_random_agent_varies_with_the_episodes_seed_alone():
    lengths = [play("cartpole_random", 0, seed).steps for seed in (1, 1, 2, 3)]
    assert lengths[0] == lengths[1]
    assert len(set(lengths)) > 1
