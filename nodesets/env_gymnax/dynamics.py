"""One environment of Gymnax as pure functions of one episode: how it starts, and one step.

Knows JAX and Gymnax; nothing of rows, bytes or workers.
"""

from __future__ import annotations

from typing import Any, Callable

import gymnax
import jax
import numpy as np
from jax import numpy as jnp


class Dynamics:
    """The functions of one environment, as they are; whoever uses them compiles them.

    A key is a row of `keys_of`; a state is a tree of arrays.
    """

    def __init__(self, name: str, limit: int | None) -> None:
        self.environment, parameters = gymnax.make(name)
        if limit is not None:
            parameters = parameters.replace(max_steps_in_episode=limit)
        self.parameters = parameters
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
