"""A person's handle on HM-EQA: pick a question, walk by hand.

Knows nothing of runs; it begins an episode unless the run just did.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, EpisodeController, Field

from ..env_habitat.calibre import FORWARD, LEFT, RIGHT, STOP

_STEPS = {"forward": FORWARD, "turn_left": LEFT, "turn_right": RIGHT, "stop": STOP}


class HMEQAController(EpisodeController):
    """Shows one question, its choices, and how much of the budget is spent."""

    fields = (
        Field("split", "select", "Split"),
        Field("episode_index", "number", "Question", min=0, step=1),
    )
    actions = (
        *EpisodeController.actions,
        Action("forward", "Go forward"),
        Action("turn_left", "Turn left"),
        Action("turn_right", "Turn right"),
        Action("stop", "Stop"),
    )

    def __init__(self) -> None:
        self._nodeset: Any = self.nodeset

    def start(self, split: str, index: int) -> dict[str, Any]:
        """Begin the question, unless it has just begun."""
        if not self._nodeset.rollout.is_at_start_of((split, index)):
            self._nodeset.begin(split, index)
        return self._show()

    def on_action(self, name: str, params: Mapping[str, Any]) -> Any:
        """Take a step."""
        if name not in _STEPS:
            return super().on_action(name, params)
        self._nodeset.rollout.act(_STEPS[name])
        return self._show()

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
