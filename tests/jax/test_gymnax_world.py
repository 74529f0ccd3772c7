"""States and names that `env_gymnax` refuses.

Runs in an interpreter with JAX and Gymnax; `tests/integration/nodesets` calls it there.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("gymnax", reason="needs Gymnax: wayfare nodesets --build env_gymnax")

from nodesets.env_gymnax.dynamics import Dynamics
from nodesets.env_gymnax.world import World

from nodeset import UnavailableError


@pytest.fixture(scope="module")
def world() -> World:
    return World(Dynamics("CartPole-v1", None))


def test_an_unknown_name_tells_the_close_ones() -> None:
    with pytest.raises(UnavailableError, match=r"no environment 'CartPole-v2'.*CartPole-v1"):
        Dynamics("CartPole-v2", None)


@pytest.mark.parametrize(("name", "limit"), [("Acrobot-v1", None), ("CartPole-v1", 7)])
def test_a_state_of_another_environment_is_refused(
    world: World, name: str, limit: int | None
) -> None:
    states, _ = World(Dynamics(name, limit)).reset([3])
    assert states.shape == world.reset([3])[0].shape, "what tells them apart is not the size"

    with pytest.raises(ValueError, match=r"state is of the environment .*'CartPole-v1' with"):
        world.step(states, [0], [0])


def test_a_state_of_another_dtype_is_named(world: World) -> None:
    states, _ = world.reset([3])

    with pytest.raises(ValueError, match=r"state is float32 .*this environment's are uint8"):
        world.tally_of(states.astype(np.float32))


def test_an_action_outside_the_space_is_refused_and_one_inside_is_taken(world: World) -> None:
    states, _ = world.reset([3, 4])

    with pytest.raises(ValueError, match="action is 7; this environment's are the whole numbers"):
        world.step(states, [0, 7], [0, 0])
    assert world.tally_of(world.step(states, [0, 1], [0, 0]).states)["length"].tolist() == [1, 1]


@pytest.mark.parametrize("name", ["Reacher-misc", "Pendulum-v1"])
def test_a_box_is_held_to_its_bounds_where_gymnax_does_not_clip(name: str) -> None:
    world = World(Dynamics(name, None))
    states, _ = world.reset([0])
    action = np.full((1, *world.dynamics.action_shape), 5.0)

    if world.dynamics.clips_actions:
        assert np.isfinite(world.step(states, action, [0]).rewards).all()
    else:
        with pytest.raises(ValueError, match="must lie within"):
            world.step(states, action, [0])
