"""A person's handle on Room-to-Room: pick an episode, walk it by hand.

Knows nothing of runs; its state is its own and no tool reads it.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, BaseController, Field
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


class R2RController(BaseController):
    """Shows one episode: its instruction, the view, what is navigable, and the score so far."""

    fields = [
        Field("split", "select", "Split"),
        Field("episode_index", "number", "Episode", min=0, step=1),
    ]
    actions = [
        Action("play", "Play"),
        Action("turn_left", "Turn left"),
        Action("turn_right", "Turn right"),
        Action("look_up", "Look up"),
        Action("look_down", "Look down"),
        Action("forward", "Go forward"),
    ]

    def __init__(self) -> None:
        world: World = self.nodeset.world  # type: ignore[attr-defined]
        self._world = world
        self._split = world.default_split()
        self._episode_index = 0
        self._state: State | None = None

    def on_load(self) -> dict[str, Any]:
        """Return the fields' values; reads no data, so it works where the data is missing."""
        return {"split": self._split, "episode_index": self._episode_index}

    def on_field_change(self, name: str, value: Any) -> dict[str, Any]:
        """Take a split or an episode's index; the episode begins with `play`."""
        if name == "split":
            self._split, self._episode_index = str(value), 0
        elif name == "episode_index":
            self._episode_index = int(value)
        else:
            raise ValueError(f"field {name!r} is unknown; fields are split and episode_index")
        self._state = None
        return self.on_load()

    def on_action(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Begin the episode, turn, or go to the most central neighbour in the view."""
        task = self._world.task(self._split, self._episode_index)
        if name == "play":
            state = start_state(task.path[0], initial_view(task.heading))
        elif name in _TURNS:
            state = self._stepped(task, name)
        else:
            raise ValueError(f"action {name!r} is unknown; actions are play, {', '.join(_TURNS)}")
        self._state = state
        return self._show(task, state)

    def get_options(self, field: str) -> list[str]:
        """Return the splits."""
        return self._world.splits() if field == "split" else []

    def _stepped(self, task: Task, name: str) -> State:
        if self._state is None:
            raise ValueError(f"action {name!r} needs an episode that has begun; play first")
        return step_in_view(self._world.views(task.scan), self._state, _TURNS[name])

    def _show(self, task: Task, state: State) -> dict[str, Any]:
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
