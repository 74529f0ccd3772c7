"""A person's handle on a store: pick an episode, look from its poses one by one.

Knows nothing of runs; its state is its own and no tool reads it.
"""

from __future__ import annotations

from typing import Any, Mapping

from nodeset import Action, BaseController, Field

from .library import Library

_MOVES = {"play": None, "next": 1, "previous": -1}


class PoseLookupController(BaseController):
    """Shows one pose of an episode's scene."""

    fields = [
        Field("split", "select", "Split"),
        Field("episode_index", "number", "Episode", min=0, step=1),
    ]
    actions = [
        Action("play", "Play"),
        Action("next", "Next pose"),
        Action("previous", "Previous pose"),
    ]

    def __init__(self) -> None:
        self._library: Library = self.nodeset.library  # type: ignore[attr-defined]
        self._episode_index = 0
        self._place = 0

    def on_load(self) -> dict[str, Any]:
        """Return the choice; reads no store, so it works where there is none."""
        return {"episode_index": self._episode_index}

    def on_field_change(self, name: str, value: Any) -> dict[str, Any]:
        """Choose a split or an episode; nothing begins before `play`."""
        store = self._library.store
        if name == "split" and value == store.split:
            return {name: value}
        if name == "episode_index" and isinstance(value, int):
            store.scene_of(value)
            self._episode_index, self._place = value, 0
            return {name: value}
        raise ValueError(
            f"env_pose_lookup: {name} {value!r} does not exist; store {store.folder} has the split "
            f"{store.split!r} with the episodes 0 to {len(store.episodes) - 1}"
        )

    def on_action(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Stand at the first pose, or go on to another."""
        if name not in _MOVES:
            raise ValueError(f"action {name!r} is unknown; actions are {', '.join(_MOVES)}")
        scene, move = self._library.store.scene_of(self._episode_index), _MOVES[name]
        self._place = 0 if move is None else (self._place + move) % len(scene.poses)
        return {
            "episode_index": self._episode_index,
            "scene_id": scene.scene_id,
            "pose": scene.poses[self._place].tolist(),
            "place": self._place,
            "poses": len(scene.poses),
        }

    def get_options(self, field: str) -> list[str]:
        """Return the split."""
        return [self._library.store.split] if field == "split" and self._library.is_named else []
