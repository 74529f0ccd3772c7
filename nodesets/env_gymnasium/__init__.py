"""Any Gymnasium environment as a nodeset: its spaces become ports, its seeds become episodes.

Knows no particular environment, except that Minigrid's ids need `minigrid` and how it pays success.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from nodeset import (
    Action,
    BaseCanvasNode,
    BaseController,
    BaseNodeSet,
    Episode,
    Field,
)
from nodeset.context import EpisodeContext

from .rollout import Outcome, Rollout, step_limit
from .setting import DEFAULT_CONFIG, read_setting
from .space import describe_space, leaves_of_space, passive
from .tool import Evaluate, Render, Reset, Step


class GymnasiumController(BaseController):
    """Pick an episode, begin it, and step through it by hand."""

    fields = (
        Field("split", "select", "Split"),
        Field("episode_index", "number", "Episode", min=0, step=1),
    )
    actions = (Action("play", "Begin the episode"), Action("step", "Take a step"))
    nodeset: GymnasiumNodeSet

    def __init__(self) -> None:
        self.split = self.nodeset.setting.split
        self.episode_index = 0

    def on_load(self) -> dict[str, Any]:
        """Return the choice, what can be chosen, and what a step may be given as `action`."""
        setting = self.nodeset.setting
        return {
            "split": self.split,
            "episode_index": self.episode_index,
            "episodes": setting.episodes,
            "environment": setting.id,
            "action_space": describe_space(self.nodeset.rollout.env.action_space),
        }

    def on_field_change(self, name: str, value: Any) -> dict[str, Any]:
        """Choose a split or an episode; nothing begins before `play`."""
        if name == "split":
            self.split = self._checked(name, value, value in self.get_options("split"))
        elif name == "episode_index":
            is_index = isinstance(value, int) and 0 <= value < self.nodeset.setting.episodes
            self.episode_index = self._checked(name, value, is_index)
        else:
            raise ValueError(f"{self.nodeset.name}'s controller has no field {name!r}")
        return {name: value}

    def _checked(self, name: str, value: Any, is_allowed: bool) -> Any:
        if is_allowed:
            return value
        setting = self.nodeset.setting
        rule = f"split {setting.split!r} has the episodes 0 to {setting.episodes - 1}"
        raise ValueError(f"{self.nodeset.name}: {name} {value!r} does not exist; {rule}")

    def on_action(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """`play` begins the chosen episode; `step` takes `params["action"]`, or a random action."""
        if name == "play":
            return self._play()
        if name == "step":
            return self._step(params)
        raise ValueError(f"{self.nodeset.name}'s controller has no action {name!r}")

    def get_options(self, field: str) -> list[str]:
        """Return the splits."""
        return [self.nodeset.setting.split] if field == "split" else []

    def _play(self) -> dict[str, Any]:
        """Begin the chosen episode, unless `begin_episode` has just done it with the run's seed."""
        rollout = self.nodeset.rollout
        if not rollout.is_at_start_of(self.episode_index):
            rollout.begin(self.episode_index)
        return {"episode_index": self.episode_index, "step": 0, **_seen(rollout.start())}

    def _step(self, params: Mapping[str, Any]) -> dict[str, Any]:
        rollout = self.nodeset.rollout
        action = params.get("action")
        if action is None:
            action = rollout.env.action_space.sample()
        outcome = rollout.step(action)
        taken = passive(action, [])
        return {"step": rollout.length, "action": taken, **_seen(outcome), **rollout.evaluate()}


def _seen(outcome: Outcome) -> dict[str, Any]:
    return {
        "reward": outcome.reward,
        "terminated": outcome.terminated,
        "truncated": outcome.truncated,
        "done": outcome.done,
        "info": passive(dict(outcome.info), []),
    }


class GymnasiumNodeSet(BaseNodeSet):
    """Every episode is a seed of one environment.

    `seeding` `index` resets with `seed_base` + episode index, so that repeats vary the policy
    alone; `episode` resets with the seed that the run gives the episode.
    """

    name = "env_gymnasium"
    description = "Any Gymnasium environment by its id, Minigrid included."
    parallelism = "replicated"
    controller = GymnasiumController
    default_config = DEFAULT_CONFIG

    def __init__(self) -> None:
        self.setting = read_setting(self.config)
        self.rollout = Rollout(self.setting)
        self.limit: Any = None

    def get_tools(self) -> list[BaseCanvasNode]:
        """Make the environment to read its spaces, and close it again."""
        env = self.setting.make()
        try:
            self.limit = step_limit(env)
            leaves = leaves_of_space(env.observation_space)
            describe_space(env.action_space)
            tools: list[BaseCanvasNode] = [Reset(self.rollout, leaves), Step(self.rollout, leaves)]
            if env.render_mode == "rgb_array":
                tools.append(Render(self.rollout))
        finally:
            env.close()
        return [*tools, Evaluate(self.rollout)]

    def initialize(self) -> None:
        """Make the environment that this copy plays."""
        self.rollout.open()

    def shutdown(self) -> None:
        """Close the environment."""
        self.rollout.close()

    def begin_episode(self, episode: EpisodeContext) -> None:
        """Reset the environment for `episode`."""
        self.rollout.begin(episode.index, episode.seed)

    def get_eval_metadata(self) -> dict[str, Any]:
        """Return the one split, the metrics, and the environment's own limit of steps."""
        return {
            "splits": [self.setting.split],
            "default_split": self.setting.split,
            "metrics": ["return", "length", "success"],
            "step_budget": self.limit,
        }

    def get_episodes(self, split: str) -> list[Episode]:
        """Return one episode per seed."""
        is_indexed = self.setting.seeding == "index"
        base = self.setting.seed_base
        return [
            Episode(str(i), scene_id=self.setting.id, info={"seed": base + i} if is_indexed else {})
            for i in range(self.setting.episodes)
        ]

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return an action that the environment takes, drawn from `rng`."""
        env = self.setting.make()
        env.action_space.seed(int(rng.integers(2**31)))
        action = env.action_space.sample()
        env.close()
        return {"reset": {}, "step": {"action": action}, "evaluate": {}}
