"""A person's handle on HM-EQA: pick a question, walk by hand.

Knows nothing of runs; it begins an episode unless the run just did.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, BaseController, Field

from ..env_habitat.calibre import FORWARD, LEFT, RIGHT, STOP

_STEPS = {"forward": FORWARD, "turn_left": LEFT, "turn_right": RIGHT, "stop": STOP}


class HMEQAController(BaseController):
    """Shows one question, its choices, and how much of the budget is spent."""

    fields = [
        Field("split", "select", "Split"),
        Field("episode_index", "number", "Question", min=0, step=1),
    ]
    actions = [
        Action("play", "Play"),
        Action("forward", "Go forward"),
        Action("turn_left", "Turn left"),
        Action("turn_right", "Turn right"),
        Action("stop", "Stop"),
    ]

    def __init__(self) -> None:
        self._nodeset: Any = self.nodeset
        self._split = "all"
        self._episode_index = 0

    def on_load(self) -> dict[str, Any]:
        """Return the fields' values."""
        return {"split": self._split, "episode_index": self._episode_index}

    def on_field_change(self, name: str, value: Any) -> dict[str, Any]:
        """Take a split or a question's index; the episode begins with `play`."""
        if name == "split":
            self._split, self._episode_index = str(value), 0
        elif name == "episode_index":
            self._episode_index = int(value)
        else:
            raise ValueError(f"field {name!r} is unknown; fields are split and episode_index")
        return self.on_load()

    def on_action(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Begin the question, unless it has just begun, or take a step."""
        rollout = self._nodeset.rollout
        if name == "play":
            if not rollout.is_at_start_of((self._split, self._episode_index)):
                self._nodeset.begin(self._split, self._episode_index)
        elif name in _STEPS:
            rollout.act(_STEPS[name])
        else:
            raise ValueError(f"action {name!r} is unknown; actions are play, {', '.join(_STEPS)}")
        return self._show()

    def get_options(self, field: str) -> list[str]:
        """Return the only split."""
        return ["all"] if field == "split" else []

    def _show(self) -> dict[str, Any]:
        rollout = self._nodeset.rollout
        question = rollout.question
        return {
            **self.on_load(),
            "scene": question.scene,
            "floor": question.floor,
            "question": question.question,
            "choices": list(question.choices),
            "pose": [float(value) for value in rollout.pose],
            "steps": rollout.steps,
            "budget": rollout.budget,
            "done": rollout.is_done,
        }
