"""A person's handle on Habitat: pick an episode, walk it by hand.

Knows nothing of runs; it begins an episode unless the run just did.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, BaseController, Field, UnavailableError

from .calibre import FORWARD, LEFT, LOOK_DOWN, LOOK_UP, RIGHT, STOP

_STEPS = {
    "forward": FORWARD,
    "turn_left": LEFT,
    "turn_right": RIGHT,
    "look_up": LOOK_UP,
    "look_down": LOOK_DOWN,
    "stop": STOP,
}


class HabitatController(BaseController):
    """Shows one episode: what it asks for, the view, and the score so far."""

    fields = [
        Field("split", "select", "Split"),
        Field("episode_index", "number", "Episode", min=0, step=1),
    ]
    actions = [
        Action("play", "Play"),
        Action("forward", "Go forward"),
        Action("turn_left", "Turn left"),
        Action("turn_right", "Turn right"),
        Action("look_up", "Look up"),
        Action("look_down", "Look down"),
        Action("stop", "Stop"),
    ]

    def __init__(self) -> None:
        self._nodeset: Any = self.nodeset
        self._split = ""
        self._episode_index = 0

    def on_load(self) -> dict[str, Any]:
        """Return the fields' values; without data there is no split yet."""
        try:
            split = self._chosen_split()
        except UnavailableError:
            split = ""
        return {"split": split, "episode_index": self._episode_index}

    def on_field_change(self, name: str, value: Any) -> dict[str, Any]:
        """Take a split or an episode's index; the episode begins with `play`."""
        if name == "split":
            self._split, self._episode_index = str(value), 0
        elif name == "episode_index":
            self._episode_index = int(value)
        else:
            raise ValueError(f"field {name!r} is unknown; fields are split and episode_index")
        return {"split": self._split, "episode_index": self._episode_index}

    def on_action(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Begin the episode, unless it has just begun, or take a step in it."""
        rollout = self._nodeset.rollout
        if name == "play":
            place = (self._chosen_split(), self._episode_index)
            if not rollout.is_at_start_of(place):
                self._nodeset.begin(*place)
        elif name in _STEPS:
            rollout.act(_STEPS[name])
        else:
            raise ValueError(f"action {name!r} is unknown; actions are play, {', '.join(_STEPS)}")
        return self._show()

    def get_options(self, field: str) -> list[str]:
        """Return the splits."""
        return self._nodeset.dataset.splits() if field == "split" else []

    def _chosen_split(self) -> str:
        return self._split or self._nodeset.default_split()

    def _show(self) -> dict[str, Any]:
        rollout = self._nodeset.rollout
        shown = {
            **self.on_load(),
            "episode_id": rollout.task.episode_id,
            "scene": rollout.task.scene_id,
            "instruction": rollout.task.instruction or rollout.task.category,
            "pose": [float(value) for value in rollout.simulator.body.pose()],
            "steps": len(rollout.actions),
            "done": rollout.is_stopped,
        }
        return shown
