"""A person's handle on a store: pick an episode, look from its poses one by one.

Knows nothing of runs; its state is its own and no tool reads it.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, EpisodeController

from .library import Library

_MOVES = {"next": 1, "previous": -1}


class PoseLookupController(EpisodeController):
    """Shows one pose of an episode's scene."""

    actions = (
        *EpisodeController.actions,
        Action("next", "Next pose"),
        Action("previous", "Previous pose"),
    )

    def __init__(self) -> None:
        self._library: Library = self.nodeset.library  # type: ignore[attr-defined]
        self._place = 0

    def on_field_change(self, name: str, value: Any) -> Any:
        """Choose an episode, of which the first pose is shown first."""
        changed = super().on_field_change(name, value)
        self._place = 0
        return changed

    def start(self, split: str, index: int) -> dict[str, Any]:
        """Stand at the first pose."""
        self._place = 0
        return self._show()

    def on_action(self, name: str, params: Mapping[str, Any]) -> Any:
        """Go on to another pose."""
        if name not in _MOVES:
            return super().on_action(name, params)
        self._place += _MOVES[name]
        return self._show()

    def _show(self) -> dict[str, Any]:
        scene = self._library.store.scene_of(self.episode_index)
        place = self._place % len(scene.poses)
        return {
            "episode_index": self.episode_index,
            "scene_id": scene.scene_id,
            "pose": scene.poses[place].tolist(),
            "place": place,
            "poses": len(scene.poses),
        }
