# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "jax>=0.4.30", "gymnax>=1.0", "six"]
# ///
"""One Gymnax environment per process, its state kept between calls: what `env_gymnax` is not.

Plays the episodes of `env_gymnax` by the same functions, compiled for one row.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef

SHIPPED = Path(__file__).resolve().parents[3] / "nodesets"


class Reset(BaseCanvasNode):
    node_type = "gymnax_copies__reset"
    input_ports = (PortDef("episode_index", "INT"),)
    output_ports = (PortDef("observation", "ARRAY"), PortDef("action_space", "JSON"))

    def __init__(self, nodeset: CopiesNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        observation = self.nodeset.reset(ctx.episode.seed)
        return {"observation": observation, "action_space": self.nodeset.dynamics.action_space}


class Step(BaseCanvasNode):
    node_type = "gymnax_copies__step"
    input_ports = (PortDef("action", "ACTION"),)
    output_ports = (
        PortDef("observation", "ARRAY"),
        PortDef("reward", "FLOAT"),
        PortDef("done", "BOOL"),
    )

    def __init__(self, nodeset: CopiesNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        observation, reward, done = self.nodeset.step(inputs["action"], ctx.seed)
        return {"observation": observation, "reward": reward, "done": done}


class Evaluate(BaseCanvasNode):
    node_type = "gymnax_copies__evaluate"
    output_ports = (PortDef("metrics", "METRICS"),)

    def __init__(self, nodeset: CopiesNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"metrics": {"return": self.nodeset.score, "length": self.nodeset.length}}


class CopiesNodeSet(BaseNodeSet):
    name = "gymnax_copies"
    description = "One Gymnax environment (JAX) per process."
    deployment = Deployment(
        env={"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    )
    default_config = {"id": "CartPole-v1", "max_steps": None}

    def __init__(self) -> None:
        self.score, self.length = 0.0, 0

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Reset(self), Step(self), Evaluate(self)]

    def initialize(self) -> None:
        """Load JAX, make the environment and compile its functions."""
        import jax  # noqa: PLC0415

        sys.path.append(str(SHIPPED))
        from env_gymnax.dynamics import Dynamics, keys_of  # noqa: PLC0415

        self.dynamics, self.keys_of = Dynamics(self.config["id"], self.config["max_steps"]), keys_of
        self.start, self.advance = jax.jit(self.dynamics.start), jax.jit(self.dynamics.advance)
        self.reset(0)
        for _ in range(2):  # the second step gets a state that a step made
            self.step(np.zeros(self.dynamics.action_shape), 0)

    def reset(self, seed: int) -> Any:
        observation, self.state = self.start(self.keys_of([seed])[0])
        self.score, self.length = 0.0, 0
        return np.asarray(observation)

    def step(self, action: Any, seed: int) -> tuple[Any, float, bool]:
        taken = np.asarray(action, self.dynamics.action_dtype)
        key = self.keys_of([seed])[0]
        observation, self.state, reward, done = self.advance(key, self.state, taken)
        self.score += float(reward)
        self.length += 1
        return np.asarray(observation), float(reward), bool(done)
