"""The random agent draws what a space contains, by the call's own generator alone."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

from nodeset.context import BatchContext, Context
from nodeset.loading import load_nodeset
from nodeset.rows import check_inputs

NODESETS = Path(__file__).resolve().parents[3] / "nodesets"
LOADED = load_nodeset(str(NODESETS / "policy_planner"))
load_nodeset(str(NODESETS / "env_gymnasium"))
space = importlib.import_module("nodesets.env_gymnasium.space")
TOOL = LOADED.tools["random_action"]

SPACES = [
    spaces.Discrete(3, start=5),
    spaces.MultiDiscrete([2, 3]),
    spaces.MultiDiscrete(np.array([[2, 3], [4, 5]])),
    spaces.MultiBinary((2, 3)),
    spaces.Box(-2.0, 2.0, (1,), np.float32),
    spaces.Box(
        np.array([-1.0, -np.inf, 0.0, -np.inf]),
        np.array([1.0, np.inf, np.inf, 3.0]),
        dtype=np.float64,
    ),
    spaces.Box(0, 255, (2, 2), np.uint8),
    spaces.Box(-3, 3, (), np.int64),
    spaces.Text(5, min_length=2),
    spaces.Dict({"move": spaces.Discrete(2), "force": spaces.Box(0.0, 1.0, (1,))}),
    spaces.Tuple((spaces.Discrete(2), spaces.MultiBinary(2))),
]


def test_the_sampled_inputs_are_what_the_ports_take():
    samples = LOADED.nodeset.sample_inputs(np.random.default_rng(0))
    assert samples is not None
    assert set(samples) <= set(LOADED.tools)
    for name, inputs in samples.items():
        check_inputs(LOADED.tools[name], inputs)


def draw(described, seeds):
    context = BatchContext({}, [Context({}, seed=seed) for seed in seeds])
    inputs = {"action_space": [described for _ in seeds]}
    return TOOL.forward(inputs, context)["action"]


def test_the_nodeset_is_shared_and_every_tool_of_it_is_batched():
    assert LOADED.parallelism == "shared"
    assert all(tool.batched for tool in LOADED.tools.values())


@pytest.mark.parametrize("actions", SPACES, ids=str)
def test_what_is_drawn_lies_in_the_space(actions):
    for action in draw(space.describe_space(actions), range(100)):
        assert actions.contains(space.action_of(actions, action))


def test_all_of_a_discrete_space_is_drawn():
    described = space.describe_space(spaces.Discrete(3, start=5))
    assert set(draw(described, range(100))) == {5, 6, 7}


def test_an_action_depends_on_its_rows_seed_and_not_on_the_batch():
    described = space.describe_space(spaces.Box(-2.0, 2.0, (3,)))
    together = draw(described, [1, 2, 3])
    alone = [draw(described, [seed])[0] for seed in (1, 2, 3)]
    assert np.array_equal(together, alone)
    assert not np.array_equal(alone[0], alone[1])


@pytest.mark.parametrize(("low", "high"), [(2.0, 1.0), (-1.7e308, 1.7e308)])
def test_a_box_that_one_cannot_draw_from_is_named(low, high):
    described = {"kind": "box", "low": [low], "high": [high], "shape": [1], "dtype": "<f8"}
    with pytest.raises(ValueError, match="each high bound must be at or above its low one"):
        draw(described, [0])


def test_a_bounded_box_is_drawn_from_as_numpy_does_it():
    described = {"kind": "box", "low": [-2.0], "high": [3.0], "shape": [1], "dtype": "<f8"}
    for seed in range(20):
        assert draw(described, [seed])[0] == Context({}, seed=seed).rng.uniform(-2.0, 3.0)


def test_an_unknown_kind_of_space_is_named():
    with pytest.raises(ValueError, match="kind 'graph'; it must be one of discrete"):
        draw({"kind": "graph"}, [0])


def test_the_action_space_that_the_tutorial_shows_is_drawn_from():
    page_example = NODESETS.parent / "docs" / "snippets" / "action_space.json"
    described = json.loads(page_example.read_text())
    ctx = BatchContext({}, [Context({}, seed=seed) for seed in range(20)])

    drawn = TOOL.forward({"action_space": [described] * 20}, ctx)["action"]

    assert {action["turn"] for action in drawn} == {0, 1, 2}
    assert all(-1 <= action["push"][0] <= 0.5 and action["push"][1] >= -1 for action in drawn)
    assert {action["push"].dtype for action in drawn} == {np.dtype("<f4")}
