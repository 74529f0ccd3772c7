"""Decide which episode a worker takes next: results don't depend on it, time does.

Knows nothing of how episodes run.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Sequence

from wayfare.store.records import PlannedEpisode


class Schedule:
    """The episodes that nobody has taken yet; a worker never idles while there is one.

    `weights` say how long each episode may take (None: unknown). If they differ, the heaviest come
    first, so that no long one is left for the end. Among equals a worker stays in the scene that it
    has just run, then opens the one with the most episodes that nobody has begun, then helps where
    most are left for each worker. Otherwise, and always with `keeps_order`, the order is the given.
    """

    def __init__(
        self,
        planned: Sequence[PlannedEpisode],
        weights: Sequence[int | None] = (),
        *,
        keeps_order: bool = False,
    ) -> None:
        self._left = len(planned)
        self._scenes: dict[int, str] = {}
        groups = [planned] if keeps_order else _group_by_weight(planned, weights)
        self._pools = deque(_Pool(group, by_scene=not keeps_order) for group in groups)

    def __len__(self) -> int:
        return self._left

    def take(self, worker: int) -> PlannedEpisode:
        """Return the episode that the worker runs next. Raises IndexError if none is left."""
        if not self._left:
            raise IndexError("no episode is left to take")
        while not self._pools[0]:
            self._pools.popleft()
        self._left -= 1
        others = Counter(scene for who, scene in self._scenes.items() if who != worker)
        scene, planned = self._pools[0].take(self._scenes.get(worker), others)
        self._scenes[worker] = scene
        return planned


class _Pool:
    """Episodes among which only their scenes decide, and within a scene their order."""

    def __init__(self, planned: Iterable[PlannedEpisode], *, by_scene: bool) -> None:
        self._waiting: dict[str, deque[PlannedEpisode]] = {}
        for episode in planned:
            scene = episode.key.scene_id if by_scene else ""
            self._waiting.setdefault(scene, deque()).append(episode)
        self._unbegun = [(-len(q), n, scene) for n, (scene, q) in enumerate(self._waiting.items())]
        heapq.heapify(self._unbegun)
        self._begun: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def take(self, scene: str | None, others: Counter[str]) -> tuple[str, PlannedEpisode]:
        """Return the scene, the given one if it can be, and its next episode."""
        if scene is None or scene not in self._waiting:
            unbegun = self._open_scene()
            scene = self._choose_shared(others) if unbegun is None else unbegun
        self._begun.add(scene)
        queue = self._waiting[scene]
        planned = queue.popleft()
        if not queue:
            del self._waiting[scene]
            self._begun.discard(scene)
        return scene, planned

    def _open_scene(self) -> str | None:
        while self._unbegun:
            _, _, scene = heapq.heappop(self._unbegun)
            if scene in self._waiting and scene not in self._begun:
                return scene
        return None

    def _choose_shared(self, others: Counter[str]) -> str:
        return max(
            sorted(self._begun), key=lambda scene: len(self._waiting[scene]) / (1 + others[scene])
        )


def _group_by_weight(
    planned: Sequence[PlannedEpisode], weights: Sequence[int | None]
) -> list[Sequence[PlannedEpisode]]:
    """Return the episodes by falling weight; all in one group unless every weight is known."""
    known = [weight for weight in weights if weight is not None]
    if len(known) < len(planned) or len(set(known)) < 2:
        return [planned]
    groups: dict[int, list[PlannedEpisode]] = {}
    for episode, weight in zip(planned, known, strict=True):
        groups.setdefault(weight, []).append(episode)
    return [groups[weight] for weight in sorted(groups, reverse=True)]
