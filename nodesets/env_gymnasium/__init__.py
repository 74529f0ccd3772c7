"""Any Gymnasium environment as a nodeset: its spaces become ports, its seeds become episodes.

Knows no particular environment, except that Minigrid's ids need `minigrid` and how it pays success.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from nodeset import Action, BaseCanvasNode, BaseNodeSet, Episode, EpisodeController
from nodeset.context import EpisodeContext

from .rollout import Outcome, Rollout, step_limit
from .setting import DEFAULT_CONFIG, read_setting
from .space import describe_space, leaves_of_space, passive
from .tool import Evaluate, Render, Reset, Step


class GymnasiumController(EpisodeController):
    """Pick an episode, begin it, and step through it by hand."""

    actions = (*EpisodeController.actions, Action("step", "Take a step"))
    nodeset: GymnasiumNodeSet

    def on_load(self) -> dict[str, Any]:
        """Return the choice, what can be chosen, and what a step may be given as `action`."""
        setting = self.nodeset.setting
        return {
            **super().on_load(),
            "episodes": setting.episodes,
            "environment": setting.id,
            "action_space": describe_space(self.nodeset.rollout.env.action_space),
        }

    def start(self, split: str, index: int) -> dict[str, Any]:
        """Begin the episode, unless `begin_episode` has just done it with the run's seed."""
        rollout = self.nodeset.rollout
        if not rollout.is_at_start_of(index):
            rollout.begin(index)
        return {"episode_index": index, "step": 0, **_seen(rollout.start())}

    def on_action(self, name: str, params: Mapping[str, Any]) -> Any:
        """Take `params["action"]` at `step`, or a random action."""
        return self._step(params) if name == "step" else super().on_action(name, params)

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
    limit: int | None = None

    def __init__(self) -> None:
        self.setting = read_setting(self.config)
        self.rollout = Rollout(self.setting)

    def get_tools(self) -> list[BaseCanvasNode]:
        """Make the environment to read its spaces, and close it again."""
        env = self.setting.make()
        try:
            self.limit = step_limit(env)
            describe_space(env.action_space)  # refuses one that is no data
            return self.make_tools(env)
        finally:
            env.close()

    def make_tools(self, env: Any) -> list[BaseCanvasNode]:
        """Return the tools of an environment such as `env`, which does not stay open."""
        leaves = leaves_of_space(env.observation_space)
        tools: list[BaseCanvasNode] = [Reset(self.rollout, leaves), Step(self.rollout, leaves)]
        if env.render_mode == "rgb_array":
            tools.append(Render(self.rollout))
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
