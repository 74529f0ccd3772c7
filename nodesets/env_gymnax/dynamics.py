"""One environment of Gymnax as pure functions of one episode: how it starts, and one step.

Knows JAX and Gymnax; nothing of rows, bytes or workers.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Callable

import gymnax
import jax
import numpy as np
from jax import numpy as jnp

from nodeset import UnavailableError

# The environments with a box of actions that clip to it what they are given; the others don't.
CLIPPING = ("Pendulum-v1", "MountainCarContinuous-v0", "PointRobot-misc")
LIMIT = "max_steps_in_episode"


class Dynamics:
    """The functions of one environment, as they are; whoever uses them compiles them.

    A key is a row of `keys_of`; a state is a tree of arrays.
    """

    def __init__(self, name: str, limit: int | None) -> None:
        check_name(name)
        self.name = name
        self.environment, parameters = gymnax.make(name)
        if limit is not None:
            parameters = set_limit(name, parameters, limit)
        self.parameters = parameters
        self.limit: int | None = getattr(parameters, LIMIT, None)
        self.clips_actions = name in CLIPPING
        space = self.environment.action_space(parameters)
        self.action_space = describe_space(space)
        self.action_shape: tuple[int, ...] = tuple(space.shape)
        self.action_dtype: np.dtype[Any] = jax.dtypes.canonicalize_dtype(space.dtype)

    def start(self, key: Any) -> tuple[Any, Any]:
        """Return the first observation and state."""
        observation, state = self.environment.reset_env(
            jax.random.wrap_key_data(key), self.parameters
        )
        return observation, state

    def advance(self, key: Any, state: Any, action: Any) -> tuple[Any, Any, Any, Any]:
        """Return observation, state, reward, and whether the episode has ended."""
        observation, following, reward, terminated, _ = self.environment.step_env(
            jax.random.wrap_key_data(key), state, action, self.parameters
        )
        truncated = self.environment.is_truncated(following, self.parameters)
        return observation, following, reward, jnp.logical_or(terminated, truncated)


def check_name(name: Any) -> None:
    """Raise UnavailableError for what is no environment of Gymnax; it tells the close names."""
    known = list(gymnax.registered_envs)
    if name in known:
        return
    close = get_close_matches(str(name), known, n=3, cutoff=0.4) or known
    raise UnavailableError(
        f"Gymnax has no environment {name!r}; 'id' must be the name of one, such as: "
        f"{', '.join(close)}: set --set nodesets.env_gymnax.id=NAME"
    )


def set_limit(name: str, parameters: Any, limit: int) -> Any:
    """Return parameters with another limit of steps. Raises UnavailableError if they have none."""
    if not hasattr(parameters, LIMIT):
        raise UnavailableError(
            f"'max_steps' is {limit!r}, and Gymnax's {name!r} has no limit of steps; it must be "
            "null there: leave 'max_steps' out"
        )
    return parameters.replace(**{LIMIT: limit})


def keys_of(seeds: list[int]) -> Any:
    """Return one Threefry key per 64-bit seed, (B, 2) uint32."""
    words = np.array(seeds, np.uint64)
    return np.stack([words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)], 1).astype("u4")


def describe_space(space: Any) -> dict[str, Any]:
    """Return an action space as policies read it. Raises ValueError for an unknown kind."""
    kind = type(space).__name__
    describe: Callable[[Any], dict[str, Any]] | None = DESCRIPTIONS.get(kind)
    if describe is None:
        raise ValueError(
            f"the action space is a {kind}; env_gymnax describes {', '.join(sorted(DESCRIPTIONS))}"
        )
    return describe(space)


def describe_discrete(space: Any) -> dict[str, Any]:
    return {"kind": "discrete", "n": int(space.n), "start": 0}


def describe_box(space: Any) -> dict[str, Any]:
    shape = tuple(int(size) for size in space.shape)
    low, high = (
        np.broadcast_to(np.asarray(bound, np.float64), shape) for bound in (space.low, space.high)
    )
    return {
        "kind": "box",
        "low": low.tolist(),
        "high": high.tolist(),
        "shape": list(shape),
        "dtype": np.dtype(space.dtype).str,
    }


DESCRIPTIONS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "Discrete": describe_discrete,
    "Box": describe_box,
}
