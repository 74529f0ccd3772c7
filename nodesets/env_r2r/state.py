"""The state of an episode, which the graph carries, and how actions change it.

Knows nothing of files, metrics or the framework: pure functions of a state and an action.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Mapping, Sequence

from .view import VIEWS, Views, turned_view

STOP = -1
"""The panoramic action that ends the episode; in a single view it is (0, 0, 0)."""


class ActionError(ValueError):
    """An action is not one of those that the state allows."""


@dataclass(frozen=True)
class State:
    """Where the agent is, where it looks, the viewpoints it has been at, and whether it stopped.

    `trajectory` begins with the start and gets one entry per move; turning adds none.
    """

    viewpoint: str
    view_index: int
    trajectory: tuple[str, ...]
    stopped: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the state as it rides on the wire."""
        return {
            "viewpoint": self.viewpoint,
            "view_index": self.view_index,
            "trajectory": list(self.trajectory),
            "stopped": self.stopped,
        }


def start_state(viewpoint: str, view_index: int) -> State:
    """Return the state at the beginning of an episode."""
    return State(viewpoint, view_index, (viewpoint,))


def read_state(value: Mapping[str, Any]) -> State:
    """Return the state that `as_json` wrote; raises ValueError where the value is none."""
    try:
        state = State(
            str(value["viewpoint"]),
            int(value["view_index"]),
            tuple(str(name) for name in value["trajectory"]),
            bool(value["stopped"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"state {value!r} is none of this environment's: {error!r}") from error
    is_consistent = state.trajectory[-1:] == (state.viewpoint,)
    if not is_consistent or not 0 <= state.view_index < VIEWS:
        raise ValueError(
            f"state {value!r} is none of this environment's: view_index must be 0 to "
            f"{VIEWS - 1} and the trajectory must end at the viewpoint"
        )
    return state


def step_in_view(views: Views, state: State, action: Sequence[float]) -> State:
    """Take the simulator's (index, heading, elevation): go to a place of the view, then turn.

    `index` counts in what `Views.navigable` lists, 0 being the current place; of `heading` and
    `elevation` the signs count, 30 degrees each. (0, 0, 0) stops. Raises ActionError.
    """
    index, heading, elevation = read_triple(action)
    _refuse_stopped(state)
    if (index, heading, elevation) == (0, 0.0, 0.0):
        return replace(state, stopped=True)
    navigable = views.navigable(views.graph.index(state.viewpoint), state.view_index)
    if not 0 <= index < len(navigable):
        raise ActionError(
            f"action {list(action)!r} goes to place {index}, but {len(navigable)} places are "
            f"navigable from view {state.view_index} of {state.viewpoint!r} (0: stay)"
        )
    view = turned_view(state.view_index, heading, elevation)
    return _moved(state, navigable[index].viewpoint if index else "", view)


def step_in_panorama(views: Views, state: State, action: int) -> State:
    """Go to candidate `action`, looking its way, or stop with -1. Raises ActionError.

    The agent arrives with the view in which the candidate was most central.
    """
    _refuse_stopped(state)
    if action == STOP:
        return replace(state, stopped=True)
    candidates = views.candidates(views.graph.index(state.viewpoint))
    if not 0 <= action < len(candidates):
        raise ActionError(
            f"action {action!r} goes to candidate {action}, but {len(candidates)} candidates "
            f"are around {state.viewpoint!r} (-1: stop)"
        )
    chosen = candidates[action]
    return _moved(state, chosen.sight.viewpoint, chosen.view)


def _moved(state: State, viewpoint: str, view_index: int) -> State:
    if not viewpoint:
        return replace(state, view_index=view_index)
    return State(viewpoint, view_index, (*state.trajectory, viewpoint))


def read_triple(action: Sequence[float]) -> tuple[int, float, float]:
    """Return (index, heading, elevation) from three numbers; raises ActionError."""
    try:
        index, heading, elevation = (float(part) for part in action)
        if index != int(index):
            raise ValueError("a fractional index")
        return int(index), heading, elevation
    except (TypeError, ValueError, OverflowError) as error:
        raise ActionError(
            f"action {action!r} must be three numbers: index of a navigable place, heading, "
            f"elevation"
        ) from error


def _refuse_stopped(state: State) -> None:
    if state.stopped:
        raise ActionError("the agent has stopped; wire 'done' to the loop's 'stop'")
