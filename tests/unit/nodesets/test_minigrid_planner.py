"""The planner reaches Minigrid's goal from what it has seen, and keeps nothing between calls."""

from __future__ import annotations

import importlib
from pathlib import Path

import gymnasium
import minigrid  # noqa: F401  # registers its ids
import numpy as np
import pytest
from minigrid.wrappers import FullyObsWrapper

from nodeset.context import BatchContext, Context
from nodeset.loading import load_nodeset

NODESETS = Path(__file__).resolve().parents[3] / "nodesets"
TOOL = load_nodeset(str(NODESETS / "policy_planner")).tools["minigrid_action"]
planner = importlib.import_module("nodesets.policy_planner.minigrid")


def play(env, seed, map_size=51):
    """Return (success, steps) of one episode; the memory is all that is carried."""
    observation, _ = env.reset(seed=seed)
    memory = planner.start_memory(map_size)
    for steps in range(1, 10_000):
        action, memory = planner.plan(observation["image"], int(observation["direction"]), memory)
        observation, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return terminated and reward > 0, steps
    raise AssertionError("the environment never ended the episode")


@pytest.mark.parametrize(
    ("env_id", "seeds"),
    [
        ("MiniGrid-Empty-8x8-v0", 2),
        ("MiniGrid-Empty-Random-6x6-v0", 50),
        ("MiniGrid-Empty-16x16-v0", 1),
        ("MiniGrid-FourRooms-v0", 50),
        ("MiniGrid-DoorKey-5x5-v0", 50),
        ("MiniGrid-DoorKey-6x6-v0", 50),
        ("MiniGrid-DoorKey-8x8-v0", 50),
        ("MiniGrid-DoorKey-16x16-v0", 5),
        ("MiniGrid-MultiRoom-N6-v0", 5),
        ("MiniGrid-LavaGapS7-v0", 20),
        ("MiniGrid-SimpleCrossingS9N3-v0", 20),
        ("MiniGrid-LavaCrossingS11N5-v0", 20),
    ],
)
def test_the_goal_is_reached_from_the_partial_view(env_id, seeds):
    env = gymnasium.make(env_id, disable_env_checker=True)
    failed = [seed for seed in range(seeds) if not play(env, seed)[0]]
    assert failed == []


@pytest.mark.parametrize("env_id", ["MiniGrid-FourRooms-v0", "MiniGrid-DoorKey-8x8-v0"])
def test_the_goal_is_reached_from_the_whole_grid(env_id):
    env = FullyObsWrapper(gymnasium.make(env_id, disable_env_checker=True))
    failed = [seed for seed in range(20) if not play(env, seed)[0]]
    assert failed == []


def test_the_whole_grid_gives_the_shortest_way():
    env = FullyObsWrapper(gymnasium.make("MiniGrid-Empty-8x8-v0", disable_env_checker=True))
    assert play(env, 0) == (True, 11)  # 5 right, a turn, 5 down


def as_batch(observations, memories=None):
    inputs = {
        "image": np.stack([o["image"] for o in observations]),
        "direction": [int(o["direction"]) for o in observations],
    }
    if memories is not None:
        inputs["map"] = np.stack([m["map"] for m in memories])
        inputs["body"] = [m["body"] for m in memories]
    return inputs


def call(inputs):
    rows = [Context({}) for _ in inputs["direction"]]
    output = TOOL.forward(inputs, BatchContext(TOOL.default_config, rows))
    return [dict(zip(output, row, strict=True)) for row in zip(*output.values(), strict=True)]


def test_rows_of_a_batch_do_not_depend_on_each_other():
    envs = [gymnasium.make("MiniGrid-FourRooms-v0", disable_env_checker=True) for _ in range(4)]
    observations = [env.reset(seed=seed)[0] for seed, env in enumerate(envs)]
    memories = None
    for _ in range(5):
        together = call(as_batch(observations, memories))
        for i, row in enumerate(together):
            (alone,) = call(as_batch([observations[i]], memories and [memories[i]]))
            assert row["action"] == alone["action"]
            assert row["body"] == alone["body"]
            assert np.array_equal(row["map"], alone["map"])
        observations = [env.step(row["action"])[0] for env, row in zip(envs, together, strict=True)]
        memories = together


def test_inputs_are_left_as_they_came():
    env = gymnasium.make("MiniGrid-DoorKey-5x5-v0", disable_env_checker=True)
    observation, _ = env.reset(seed=0)
    (first,) = call(as_batch([observation]))
    inputs = as_batch([observation], [first])
    inputs["map"].flags.writeable = inputs["image"].flags.writeable = False
    assert call(inputs)[0]["action"] == call(inputs)[0]["action"]


def view_with(**cells):
    """Return a view that is empty but for cells given as cX_Y=(object, colour, state)."""
    view = np.zeros((7, 7, 3), np.uint8)
    view[:, :, 0] = planner.EMPTY
    for place, cell in cells.items():
        x, y = (int(number) for number in place[1:].split("_"))
        view[x, y] = cell
    return view


def act(view, carrying=0):
    memory = planner.start_memory(21)
    return planner.plan(view, 3, planner.Memory(memory.cells, memory.x, memory.y, carrying))[0]


def test_lava_in_the_way_is_gone_round():
    view = view_with(c3_5=(planner.LAVA, 0, 0), c3_4=(planner.GOAL, 1, 0))
    assert act(view) in (planner.LEFT, planner.RIGHT)


def test_a_closed_door_is_opened_and_a_locked_one_only_with_its_key():
    walls = {f"c{x}_5": (planner.WALL, 5, 0) for x in range(7) if x != 3}
    goal = {"c3_4": (planner.GOAL, 1, 0)}
    yellow_key = {"c3_6": (planner.KEY, 4, 0)}
    red_key = {"c3_6": (planner.KEY, 0, 0)}
    closed = {"c3_5": (planner.DOOR, 4, planner.DOOR_CLOSED)}
    locked = {"c3_5": (planner.DOOR, 4, planner.DOOR_LOCKED)}
    assert act(view_with(**walls, **goal, **closed)) == planner.TOGGLE
    assert act(view_with(**walls, **goal, **locked, **yellow_key)) == planner.TOGGLE
    assert act(view_with(**walls, **goal, **locked, **red_key)) != planner.TOGGLE


def test_the_key_of_a_locked_door_is_picked_up():
    walls = {f"c{x}_4": (planner.WALL, 5, 0) for x in range(7) if x != 3}
    locked = {"c3_4": (planner.DOOR, 4, planner.DOOR_LOCKED)}
    assert act(view_with(**walls, **locked, c3_5=(planner.KEY, 4, 0))) == planner.PICK_UP


def test_with_nothing_left_to_do_the_planner_says_done():
    grid = np.zeros((3, 3, 3), np.uint8)
    grid[:, :, 0] = planner.WALL
    grid[1, 1, 0] = planner.AGENT
    assert act(grid) == planner.DONE
