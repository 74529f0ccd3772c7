"""A person's handle on Room-to-Room: pick an episode, walk it by hand.

Knows nothing of runs; its state is its own and no tool reads it.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, EpisodeController
from nodeset.metrics import score_navigation

from .dataset import Task
from .state import State, start_state, step_in_view
from .view import elevation_rad, heading_rad, initial_view
from .world import World

_TURNS = {
    "turn_left": (0, -1, 0),
    "turn_right": (0, 1, 0),
    "look_up": (0, 0, 1),
    "look_down": (0, 0, -1),
    "forward": (1, 0, 0),
}


class R2RController(EpisodeController):
    """Shows one episode: its instruction, the view, what is navigable, and the score so far."""

    actions = (
        *EpisodeController.actions,
        Action("turn_left", "Turn left"),
        Action("turn_right", "Turn right"),
        Action("look_up", "Look up"),
        Action("look_down", "Look down"),
        Action("forward", "Go forward"),
    )

    def __init__(self) -> None:
        self._world: World = self.nodeset.world  # type: ignore[attr-defined]
        self._state: State | None = None

    def on_field_change(self, name: str, value: Any) -> Any:
        """Choose a split or an episode, which begins with `play`."""
        changed = super().on_field_change(name, value)
        self._state = None
        return changed

    def start(self, split: str, index: int) -> dict[str, Any]:
        """Stand at the episode's start."""
        task = self._world.task(split, index)
        return self._show(task, start_state(task.path[0], initial_view(task.heading)))

    def on_action(self, name: str, params: Mapping[str, Any]) -> Any:
        """Turn, or go to the most central neighbour in the view."""
        if name not in _TURNS:
            return super().on_action(name, params)
        if self._state is None:
            raise ValueError(f"action {name!r} needs an episode that has begun; play first")
        task = self._world.task(self.split, self.episode_index)
        state = step_in_view(self._world.views(task.scan), self._state, _TURNS[name])
        return self._show(task, state)

    def _show(self, task: Task, state: State) -> dict[str, Any]:
        self._state = state
        views = self._world.views(task.scan)
        navigable = views.navigable(views.graph.index(state.viewpoint), state.view_index)
        distance_m = views.graph.distance_m
        goal = task.goal
        return {
            **self.on_load(),
            "episode_id": task.episode_id,
            "scan": task.scan,
            "instruction": task.instruction,
            "heading": heading_rad(state.view_index),
            "elevation": elevation_rad(state.view_index),
            "state": state.as_json(),
            "navigable": [sight.as_json() for sight in navigable],
            "metrics": score_navigation(state.trajectory, goal, distance_m) if goal else {},
        }
