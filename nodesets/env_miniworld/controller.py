"""A person's handle on MiniWorld: pick an episode, walk it by hand.

Knows nothing of runs; it begins an episode unless the run just did.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, EpisodeController

from .rollout import Rollout

_MOVES = {"turn_left": 0, "turn_right": 1, "forward": 2, "back": 3}


class MiniWorldController(EpisodeController):
    """Shows where the body is and the score so far."""

    actions = (
        *EpisodeController.actions,
        Action("turn_left", "Turn left"),
        Action("turn_right", "Turn right"),
        Action("forward", "Go forward"),
        Action("back", "Go back"),
    )

    def __init__(self) -> None:
        self._rollout: Rollout = self.nodeset.rollout  # type: ignore[attr-defined]

    def on_load(self) -> dict[str, Any]:
        """Return the choice and what can be chosen."""
        setting = self._rollout.simulator.setting
        return {**super().on_load(), "episodes": setting.episodes, "world": setting.id}

    def start(self, split: str, index: int) -> dict[str, Any]:
        """Begin the episode, unless it has just begun."""
        if not self._rollout.is_at_start_of(index):
            self._rollout.begin(index)
        return self._show()

    def on_action(self, name: str, params: Mapping[str, Any]) -> Any:
        """Make a move in the episode."""
        if name not in _MOVES:
            return super().on_action(name, params)
        self._rollout.step(_MOVES[name])
        return self._show()

    def _show(self) -> dict[str, Any]:
        return {
            "episode_index": self.episode_index,
            "pose": self._rollout.world.pose().tolist(),
            "metrics": self._rollout.evaluate(),
        }
