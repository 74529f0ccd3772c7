"""Many episodes of one environment in one call: states come in as bytes and go out as bytes.

Knows JAX; nothing of ports or workers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import numpy.typing as npt
from jax import numpy as jnp

from .action import read_actions
from .dynamics import Dynamics, keys_of

Bytes = npt.NDArray[np.uint8]
# What an episode has come to, beside the environment's own state, and which environment's it is.
TALLY = np.dtype(
    [("return", "<f8"), ("length", "<i8"), ("done", "u1"), ("environment", "<u8")], align=False
)


@dataclass(frozen=True)
class Leaf:
    """One array of an environment's state: where its bytes stand in a row."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    start: int

    @property
    def stop(self) -> int:
        return self.start + int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


class World:
    """The functions of one environment, compiled for any number of rows at once."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics = dynamics
        self.start = jax.jit(jax.vmap(dynamics.start))
        self.advance = jax.jit(jax.vmap(dynamics.advance))
        example = jax.eval_shape(dynamics.start, jax.ShapeDtypeStruct((2,), jnp.uint32))
        leaves, self.structure = jax.tree.flatten(example[1])
        self.leaves = place_leaves(leaves)
        self.row_bytes = self.leaves[-1].stop if self.leaves else 0
        self.identity = identify(dynamics, self.leaves)

    def compile(self, rows: int) -> None:
        """Compile the functions for `rows` rows now, for which the first calls would wait."""
        seeds = [0] * rows
        states, _ = self.reset(seeds)
        shape = (rows, *self.dynamics.action_shape)
        self.step(states, np.zeros(shape), seeds)

    def reset(self, seeds: list[int]) -> tuple[Bytes, Any]:
        """Begin one episode per seed; return states (B, n) uint8 and observations."""
        observations, states = self.start(keys_of(seeds))
        tally = np.zeros(len(seeds), TALLY)
        tally["environment"] = self.identity
        return self.pack(states, tally), np.asarray(observations)

    def step(self, states: Bytes, actions: Any, seeds: list[int]) -> Outcome:
        """Take one action per row.

        Raises ValueError for a row that has ended or whose action is outside the action space.
        """
        tally = self.tally_of(states)
        if tally["done"].any():
            raise ValueError("the episode has ended; wire 'done' to the loop's 'stop'")
        space = self.dynamics.action_space
        taken = read_actions(actions, space, is_clipped=self.dynamics.clips_actions)
        observations, following, rewards, done = self.advance(
            keys_of(seeds), self.unpack(states), taken.astype(self.dynamics.action_dtype)
        )
        tally["return"] += np.asarray(rewards, np.float64)
        tally["length"] += 1
        tally["done"] = np.asarray(done)
        return Outcome(
            states=self.pack(following, tally),
            observations=np.asarray(observations),
            rewards=np.asarray(rewards, np.float64),
            done=np.asarray(done, np.bool_),
        )

    def tally_of(self, states: Bytes) -> npt.NDArray[Any]:
        """Return what each episode has come to, (B,) of TALLY, as a copy.

        Raises ValueError for a state that is not of this environment.
        """
        due = (self.row_bytes + TALLY.itemsize,)
        if states.dtype != np.uint8 or states.shape[1:] != due:
            raise ValueError(
                f"state is {states.dtype} {states.shape[1:]}; this environment's are uint8 {due}: "
                "carry what 'reset' and 'step' gave"
            )
        tail = np.ascontiguousarray(states[:, self.row_bytes :])
        tally = tail.view(TALLY)[:, 0].copy()
        is_foreign = tally["environment"] != self.identity
        if is_foreign.any():
            found = int(tally["environment"][is_foreign][0])
            raise ValueError(
                f"state is of the environment {found:016x}; {self.dynamics.name!r} with at most "
                f"{self.dynamics.limit} steps is {self.identity:016x}: carry what this "
                "environment's 'reset' and 'step' gave"
            )
        return tally

    def pack(self, states: Any, tally: npt.NDArray[Any]) -> Bytes:
        rows = np.empty((len(tally), self.row_bytes + TALLY.itemsize), np.uint8)
        for leaf, value in zip(self.leaves, jax.tree.leaves(states)):
            flat = np.ascontiguousarray(np.asarray(value, leaf.dtype)).reshape(len(tally), -1)
            rows[:, leaf.start : leaf.stop] = flat.view(np.uint8)
        rows[:, self.row_bytes :] = tally[:, None].view(np.uint8)
        return rows

    def unpack(self, rows: Bytes) -> Any:
        values = []
        for leaf in self.leaves:
            flat = np.ascontiguousarray(rows[:, leaf.start : leaf.stop])
            values.append(flat.view(leaf.dtype).reshape(len(rows), *leaf.shape))
        return jax.tree.unflatten(self.structure, values)


@dataclass(frozen=True)
class Outcome:
    """One step of B episodes: states (B, n) uint8, observations, rewards (B,), done (B,)."""

    states: Bytes
    observations: Any
    rewards: npt.NDArray[np.float64]
    done: npt.NDArray[np.bool_]


def place_leaves(leaves: list[Any]) -> list[Leaf]:
    placed: list[Leaf] = []
    start = 0
    for leaf in leaves:
        placed.append(Leaf(tuple(leaf.shape), np.dtype(leaf.dtype), start))
        start = placed[-1].stop
    return placed


def identify(dynamics: Dynamics, leaves: list[Leaf]) -> int:
    """Return 64 bits that tell environments, layouts of state and limits of steps apart."""
    layout = [(leaf.shape, leaf.dtype.str) for leaf in leaves]
    limit = None if dynamics.limit is None else int(dynamics.limit)
    text = repr((dynamics.name, layout, limit))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
