"""A person's handle on MiniWorld: pick an episode, walk it by hand.

Knows nothing of runs beyond the three calls with which one begins an episode.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, BaseController, Field

from .rollout import Rollout
from .setting import Setting

_MOVES = {"turn_left": 0, "turn_right": 1, "forward": 2, "back": 3}


class MiniWorldController(BaseController):
    """Shows where the body is and the score so far."""

    fields = [
        Field("split", "select", "Split"),
        Field("episode_index", "number", "Episode", min=0, step=1),
    ]
    actions = [
        Action("play", "Play"),
        Action("turn_left", "Turn left"),
        Action("turn_right", "Turn right"),
        Action("forward", "Go forward"),
        Action("back", "Go back"),
    ]

    def __init__(self) -> None:
        self._rollout: Rollout = self.nodeset.rollout  # type: ignore[attr-defined]
        self._setting: Setting = self._rollout.simulator.setting
        self._episode_index = 0

    def on_load(self) -> dict[str, Any]:
        """Return the choice and what can be chosen."""
        return {
            "split": self._setting.split,
            "episode_index": self._episode_index,
            "episodes": self._setting.episodes,
            "world": self._setting.id,
        }

    def on_field_change(self, name: str, value: Any) -> dict[str, Any]:
        """Choose a split or an episode; nothing begins before `play`."""
        count = self._setting.episodes
        if name == "split" and value == self._setting.split:
            return {name: value}
        if name == "episode_index" and isinstance(value, int) and 0 <= value < count:
            self._episode_index = value
            return {name: value}
        raise ValueError(
            f"env_miniworld: {name} {value!r} does not exist; split {self._setting.split!r} has "
            f"the episodes 0 to {count - 1}"
        )

    def on_action(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Begin the episode, unless `begin_episode` has just done it, or make a move."""
        if name == "play":
            if not self._rollout.is_at_start_of(self._episode_index):
                self._rollout.begin(self._episode_index)
        elif name in _MOVES:
            self._rollout.step(_MOVES[name])
        else:
            raise ValueError(f"action {name!r} is unknown; actions are play, {', '.join(_MOVES)}")
        return {
            "episode_index": self._episode_index,
            "pose": self._rollout.world.pose().tolist(),
            "metrics": self._rollout.evaluate(),
        }

    def get_options(self, field: str) -> list[str]:
        """Return the splits."""
        return [self._setting.split] if field == "split" else []
