"""A person's handle on Habitat: pick an episode, walk it by hand.

Knows nothing of runs; it begins an episode unless the run just did.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, EpisodeController

from .calibre import FORWARD, LEFT, LOOK_DOWN, LOOK_UP, RIGHT, STOP

_STEPS = {
    "forward": FORWARD,
    "turn_left": LEFT,
    "turn_right": RIGHT,
    "look_up": LOOK_UP,
    "look_down": LOOK_DOWN,
    "stop": STOP,
}


class HabitatController(EpisodeController):
    """Shows one episode: what it asks for, the view, and the score so far."""

    actions = (
        *EpisodeController.actions,
        Action("forward", "Go forward"),
        Action("turn_left", "Turn left"),
        Action("turn_right", "Turn right"),
        Action("look_up", "Look up"),
        Action("look_down", "Look down"),
        Action("stop", "Stop"),
    )

    def __init__(self) -> None:
        self._nodeset: Any = self.nodeset

    def start(self, split: str, index: int) -> dict[str, Any]:
        """Begin the episode, unless it has just begun."""
        if not self._nodeset.rollout.is_at_start_of((split, index)):
            self._nodeset.begin(split, index)
        return self._show()

    def on_action(self, name: str, params: Mapping[str, Any]) -> Any:
        """Take a step in the episode."""
        if name not in _STEPS:
            return super().on_action(name, params)
        self._nodeset.rollout.act(_STEPS[name])
        return self._show()

    def _show(self) -> dict[str, Any]:
        rollout = self._nodeset.rollout
        return {
            **self.on_load(),
            "episode_id": rollout.task.episode_id,
            "scene": rollout.task.scene_id,
            "instruction": rollout.task.instruction or rollout.task.category,
            "pose": [float(value) for value in rollout.simulator.body.pose()],
            "steps": len(rollout.actions),
            "done": rollout.is_stopped,
        }
