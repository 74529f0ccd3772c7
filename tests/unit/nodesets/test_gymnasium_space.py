"""Gymnasium's spaces become ports, and what crosses those ports fits them."""

from __future__ import annotations

import importlib
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from nodeset import ContractError, PortDef
from nodeset.loading import load_nodeset
from nodeset.ports import accept

NODESETS = Path(__file__).resolve().parents[3] / "nodesets"

load_nodeset(str(NODESETS / "env_gymnasium"))
space = importlib.import_module("nodesets.env_gymnasium.space")

TAXI = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"
REAL = {
    "CartPole-v1": {"observation": "ARRAY"},
    "FrozenLake-v1": {"observation": "INT"},
    TAXI: {"observation": "INT"},
    "Pendulum-v1": {"observation": "ARRAY"},
    "MountainCar-v0": {"observation": "ARRAY"},
    "MountainCarContinuous-v0": {"observation": "ARRAY"},
    "Acrobot-v1": {"observation": "ARRAY"},
    "CliffWalking-v1": {"observation": "INT"},
    "Blackjack-v1": {"observation_0": "INT", "observation_1": "INT", "observation_2": "INT"},
    "MiniGrid-Empty-8x8-v0": {"direction": "INT", "image": "IMAGE", "mission": "TEXT"},
    "MiniGrid-FourRooms-v0": {"direction": "INT", "image": "IMAGE", "mission": "TEXT"},
    "BabyAI-GoToRedBall-v0": {"direction": "INT", "image": "IMAGE", "mission": "TEXT"},
}


def loaded(env_id):
    nodeset = load_nodeset(str(NODESETS / "env_gymnasium"), config={"id": env_id})
    nodeset.nodeset.initialize()
    return nodeset


def ports_of(observed):
    return [leaf.port for leaf in space.leaves_of_space(observed)]


def wire_types(ports):
    return {port.name: port.wire_type for port in ports}


@pytest.mark.parametrize("env_id", REAL)
def test_real_environments_show_their_observations_at_ports_that_take_them(env_id):
    nodeset = loaded(env_id)
    leaves = nodeset.tools["reset"].leaves
    nodeset.nodeset.rollout.begin(0)
    first = nodeset.nodeset.rollout.start()

    assert wire_types(leaf.port for leaf in leaves) == REAL[env_id]
    for leaf in leaves:
        accept(leaf.port, leaf.read(first.observation), "reset output")
    nodeset.nodeset.shutdown()


def test_dtype_and_shape_of_a_box_are_kept_and_the_array_is_a_copy():
    box = spaces.Box(-1.0, 1.0, (2, 3), np.float32)
    (leaf,) = space.leaves_of_space(box)
    observation = np.ones((2, 3), np.float64)

    value = leaf.read(observation)
    observation[:] = 0.0

    assert value.dtype == np.float32
    assert value.shape == (2, 3)
    assert value.all()


@pytest.mark.parametrize(
    ("box", "wire_type"),
    [
        (spaces.Box(0, 255, (4, 5, 3), np.uint8), "IMAGE"),
        (spaces.Box(0, 255, (4, 5, 4), np.uint8), "ARRAY"),
        (spaces.Box(0.0, 1.0, (4, 5, 3), np.float32), "ARRAY"),
        (spaces.MultiDiscrete([2, 3]), "ARRAY"),
        (spaces.MultiBinary(4), "ARRAY"),
        (spaces.Text(5), "TEXT"),
        (spaces.Discrete(3, start=-1), "INT"),
    ],
)
def test_each_simple_space_has_its_wire_type(box, wire_type):
    assert wire_types(ports_of(box)) == {"observation": wire_type}


def test_nested_spaces_are_flattened_into_one_port_per_leaf():
    nested = spaces.Dict(
        {
            "arm": spaces.Dict(
                {"joint angle": spaces.Box(-1, 1, (7,)), "grip": spaces.Discrete(2)}
            ),
            "cameras": spaces.Tuple((spaces.Box(0, 255, (8, 8, 3), np.uint8), spaces.Text(4))),
        }
    )
    leaves = space.leaves_of_space(nested)
    sample = nested.sample()

    assert wire_types(ports_of(nested)) == {
        "arm_grip": "INT",
        "arm_joint_angle": "ARRAY",
        "cameras_0": "IMAGE",
        "cameras_1": "TEXT",
    }
    assert leaves[0].read(sample) == sample["arm"]["grip"]


def test_a_key_named_like_another_port_is_kept_apart_from_it():
    ports = ports_of(spaces.Dict({"reward": spaces.Discrete(2)}))
    assert [port.name for port in ports] == ["observation_reward"]


def test_two_keys_that_give_one_name_are_refused():
    twins = spaces.Dict({"a b": spaces.Discrete(2), "a_b": spaces.Discrete(2)})
    with pytest.raises(ContractError, match=r"\['a_b', 'a_b'\].*rename its keys with a wrapper"):
        ports_of(twins)


@pytest.mark.parametrize(
    "unknown", [spaces.Sequence(spaces.Discrete(2)), spaces.Graph(spaces.Discrete(2), None)]
)
def test_a_space_that_no_port_carries_is_refused_by_name(unknown):
    with pytest.raises(ContractError, match=f"class {type(unknown).__name__}, which no port"):
        ports_of(spaces.Dict({"odd": unknown}))
    with pytest.raises(ContractError, match=f"class {type(unknown).__name__}"):
        space.describe_space(unknown)


def test_an_observation_of_another_shape_than_its_space_is_an_error():
    (leaf,) = space.leaves_of_space(spaces.Box(-1.0, 1.0, (2,)))
    with pytest.raises(ValueError, match=r"'observation' with shape \(3,\).*says \(2,\)"):
        leaf.read(np.zeros(3))


ACTIONS = [
    spaces.Discrete(3, start=5),
    spaces.MultiDiscrete([2, 3]),
    spaces.MultiBinary(3),
    spaces.Box(-2.0, 2.0, (2,), np.float32),
    spaces.Dict({"move": spaces.Discrete(2), "force": spaces.Box(0.0, 1.0, (1,))}),
    spaces.Tuple((spaces.Discrete(2), spaces.Text(3))),
]


@pytest.mark.parametrize("actions", ACTIONS, ids=lambda s: type(s).__name__)
def test_an_action_that_came_over_an_action_port_is_one_of_the_space(actions):
    actions.seed(3)
    for _ in range(20):
        arrived = accept(PortDef("action", "ACTION"), actions.sample(), "step input")
        assert actions.contains(space.action_of(actions, arrived))


@pytest.mark.parametrize(
    ("actions", "wrong"),
    [
        (spaces.Discrete(3, start=5), 4),
        (spaces.Discrete(3), 1.0),
        (spaces.Discrete(3), True),
        (spaces.Discrete(3), None),
        (spaces.Discrete(3), "1"),
        (spaces.Box(-2.0, 2.0, (1,)), np.array([2.5], np.float32)),
        (spaces.Box(-2.0, 2.0, (1,)), np.zeros(2, np.float32)),
        (spaces.MultiDiscrete([2, 3]), [1, 3]),
        (spaces.Dict({"move": spaces.Discrete(2)}), {"turn": 1}),
        (spaces.Tuple((spaces.Discrete(2),)), [1, 1]),
    ],
)
def test_an_action_outside_the_space_is_an_error_that_names_value_and_space(actions, wrong):
    with pytest.raises(ValueError, match="is not in the environment's action space") as raised:
        space.action_of(actions, wrong)
    assert repr(wrong) in str(raised.value)
    assert str(actions) in str(raised.value)


def test_bounds_that_are_missing_are_described_as_none():
    low = np.array([-1.0, -np.inf], np.float32)
    described = space.describe_space(spaces.Box(low, np.inf, (2,), np.float32))
    assert (described["low"], described["high"]) == ([-1.0, None], None)
    accept(PortDef("action_space", "JSON"), described, "reset output")


def test_info_becomes_json_and_what_cannot_is_named():
    dropped = []
    info = {"mask": np.array([1, 0], np.int8), "p": np.float64(0.5), 3: (1, 2), "odd": object()}

    plain = space.passive(info, dropped)

    assert plain == {"mask": [1, 0], "p": 0.5, "3": [1, 2], "odd": None}
    assert dropped == ["info.odd (object)"]
