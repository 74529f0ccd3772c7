# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy", "jax>=0.4.30", "gymnax>=1.0", "six"]
# ///
"""Gymnax environments as pure functions: one process steps the episodes of all workers at once.

Knows its ports and its configuration; JAX is loaded by the copy that plays.
"""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, Episode, PortDef, UnavailableError

from .setting import read_setting

UNPADDED_TOLERANCE = 1e-5
STATE = PortDef("state", "ARRAY", "bytes: the environment's state, return, length, done")
OBSERVATION = PortDef("observation", "ARRAY", "as the environment gives it")


class GymnaxTool(BaseCanvasNode):
    category = "environment"
    batched = True

    def __init__(self, nodeset: GymnaxNodeSet) -> None:
        self.nodeset = nodeset
        self.pad_batch = nodeset.pad_batch  # type: ignore[misc]
        self.batch_tolerance = 0.0 if self.pad_batch else UNPADDED_TOLERANCE  # type: ignore[misc]


class Reset(GymnaxTool):
    node_type = "env_gymnax__reset"
    display_name = "Reset"
    description = "Begin the episode by its seed."
    batch_dim = "episode_index"
    input_ports = (PortDef("episode_index", "INT"),)
    output_ports = (STATE, OBSERVATION, PortDef("action_space", "JSON", "kind, n; or low, high"))

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        # An episode's start depends on its own seed alone, not on the node that asks.
        seeds = [row.episode.seed for row in ctx.rows]
        world = self.nodeset.get_world()
        states, observations = world.reset(seeds)
        space = world.dynamics.action_space
        return {"state": states, "observation": observations, "action_space": [space] * len(seeds)}


class Step(GymnaxTool):
    node_type = "env_gymnax__step"
    display_name = "Step"
    description = "Take one action."
    batch_dim = "action"
    input_ports = (STATE, PortDef("action", "ACTION", "a number, or an array for a box"))
    output_ports = (STATE, OBSERVATION, PortDef("reward", "FLOAT"), PortDef("done", "BOOL"))

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        seeds = [row.seed for row in ctx.rows]
        outcome = self.nodeset.get_world().step(inputs["state"], inputs["action"], seeds)
        return {
            "state": outcome.states,
            "observation": outcome.observations,
            "reward": outcome.rewards.tolist(),
            "done": outcome.done.tolist(),
        }


class Evaluate(GymnaxTool):
    node_type = "env_gymnax__evaluate"
    display_name = "Evaluate"
    description = "Tell the episode's return and length."
    batch_dim = "state"
    input_ports = (STATE,)
    output_ports = (PortDef("metrics", "METRICS", "return, length"),)

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        tally = self.nodeset.get_world().tally_of(inputs["state"])
        return {
            "metrics": [
                {"return": float(row["return"]), "length": int(row["length"])} for row in tally
            ]
        }


class GymnaxNodeSet(BaseNodeSet):
    """Every episode is a seed of one environment of Gymnax (Lange, 2022).

    `pad_batch` rows are always computed at once, so that a row's bits don't depend on how many
    workers there are; give it the largest number of workers that you use.
    """

    name = "env_gymnax"
    description = "Gymnax environments (JAX), stepped for all workers in one call."
    parallelism = "shared"
    deployment = Deployment(
        env={"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"},
        budgets={"first_call": 300},
    )
    default_config = {
        "id": "CartPole-v1",
        "episodes": 100,
        "split": "test",
        "max_steps": None,
        "pad_batch": 64,
    }

    def __init__(self) -> None:
        self.world: Any = None
        self.setting = read_setting(self.config)
        self.pad_batch, self.max_steps = self.setting.pad_batch, self.setting.max_steps

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Reset(self), Step(self), Evaluate(self)]

    def initialize(self) -> None:
        """Load JAX, make the environment and compile what is known to be called."""
        # Heavy, and not everywhere: whoever describes this nodeset does without JAX.
        try:
            from .dynamics import Dynamics  # noqa: PLC0415
            from .world import World  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise UnavailableError(
                f"env_gymnax needs the package {error.name!r}, which its interpreter lacks; "
                "'wayfare nodesets --build env_gymnax' makes an environment that has it"
            ) from error
        self.world = World(Dynamics(self.setting.id, self.max_steps))
        if self.pad_batch:
            self.world.compile(self.pad_batch)

    def get_world(self) -> Any:
        if self.world is None:
            raise RuntimeError("the environment is not made; initialize() makes it")
        return self.world

    def get_eval_metadata(self) -> dict[str, Any]:
        return {
            "splits": [self.setting.split],
            "default_split": self.setting.split,
            "metrics": ["return", "length"],
            "step_budget": self.max_steps,
        }

    def get_episodes(self, split: str) -> list[Episode]:
        """Return one episode per seed."""
        indexes = range(self.setting.episodes)
        return [Episode(str(index), scene_id=self.setting.id) for index in indexes]
