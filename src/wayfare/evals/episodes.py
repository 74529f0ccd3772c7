"""Fix the list of episodes of a run before it starts: which ones, under which keys, in which order.

Knows nothing of workers or of how an episode runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.digest import digest_value, hash64
from wayfare.evals.errors import SelectionError
from wayfare.store.records import EpisodeKey, PlannedEpisode

MAX_PLANNED = 1_000_000
"""Episodes of one run, each as often as it is repeated: the list is held in memory."""

Listed = Mapping[str, Any]
"""One episode as a nodeset lists it: id, scene_id, group, step_budget, info."""


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """The episodes of one run, in the order of the environment's list or of the user's own."""

    environment: str
    split: str
    list_hash: str
    listed: Sequence[Listed]
    planned: tuple[PlannedEpisode, ...]
    is_ordered_by_user: bool = False
    """Whether the user wrote the order down, so that workers take the episodes in it."""

    @property
    def episodes_hash(self) -> str:
        """The hash of the fixed list (hex), independent of its order."""
        return hash_episodes([planned.key for planned in self.planned])

    @property
    def infos(self) -> Iterator[Mapping[str, Any]]:
        """What the environment tells of each episode, in the order of `planned`."""
        return (self.listed[planned.index]["info"] for planned in self.planned)

    def step_budget(self, planned: PlannedEpisode) -> int | None:
        """Return the budget that the episode itself names."""
        budget: int | None = self.listed[planned.index]["step_budget"]
        return budget

    def context(self, planned: PlannedEpisode, run_seed: int) -> EpisodeContext:
        """Return what copies are told of the episode; its seed comes from run seed and key."""
        return EpisodeContext(
            index=planned.index,
            id=planned.key.id,
            scene_id=planned.key.scene_id,
            split=planned.key.split,
            repeat=planned.key.repeat,
            group=planned.group,
            seed=hash64(run_seed, list(planned.key.parts)),
            info=self.listed[planned.index]["info"],
        )


def hash_episodes(keys: Sequence[EpisodeKey]) -> str:
    """Return the hash (hex) of a list of episodes, independent of its order."""
    return digest_value(sorted(list(key.parts) for key in keys)).hex()


def plan_episodes(
    environment: str, split: str, listed: Sequence[Listed], *, selection: str, repeats: int
) -> EpisodePlan:
    """Return the run's fixed list: the selected episodes, all of them once per repeat.

    `environment` is the name of the nodeset that lists them. Raises SelectionError.
    """
    if repeats < 1:
        raise SelectionError(f"repeats is {repeats}; it must be at least 1.")
    selected = select(selection, len(listed), f"split {split!r} of {environment!r}")
    if len(selected) * repeats > MAX_PLANNED:
        raise SelectionError(
            f"repeats is {repeats}, of {len(selected)} episodes; a run has at most {MAX_PLANNED:,} "
            f"of both together: ask for fewer, in several runs if need be."
        )
    list_hash = digest_value([dict(episode) for episode in listed]).hex()
    planned = tuple(
        PlannedEpisode(
            key=EpisodeKey(
                environment=environment,
                list_hash=list_hash,
                split=split,
                scene_id=listed[index]["scene_id"],
                id=listed[index]["id"],
                repeat=repeat,
            ),
            index=index,
            group=listed[index]["group"],
        )
        for repeat in range(repeats)
        for index in selected
    )
    return EpisodePlan(environment, split, list_hash, listed, planned, "," in selection)


def write_selection(episodes: str | int | Sequence[int]) -> str:
    """Return a selection as text, as `select` reads it; a list of one keeps its comma."""
    if isinstance(episodes, str | int):
        return str(episodes)
    return "".join(f"{index}," for index in episodes) or "0:0"


def select(selection: str, total: int, where: str) -> Sequence[int]:
    """Return the indexes that `selection` names: all (empty), the first N, A:B, or a list A,B,…

    A list keeps its order. Raises SelectionError for what is no selection or lies outside.
    """
    text = selection.strip()
    if not total:
        raise SelectionError(f"{where} has no episodes.")
    if not text:
        return range(total)
    try:
        indexes = _parse(text, total)
    except ValueError:
        raise SelectionError(
            f"--episodes {selection!r} is no selection; give a number of episodes (20), a range "
            f"of indexes (10:20) or a list of indexes (3,1,4)."
        ) from None
    _check(indexes, total, selection, where)
    return indexes


def _parse(text: str, total: int) -> Sequence[int]:
    if "," in text:
        return [int(part) for part in text.split(",") if part.strip()]
    if ":" in text:
        first, _, last = text.partition(":")
        return range(int(first or 0), int(last) if last.strip() else total)
    return range(int(text))


def _check(indexes: Sequence[int], total: int, selection: str, where: str) -> None:
    asked = f"--episodes {selection.strip()!r}"
    there = f"{where} has {total} episodes, with indexes 0 to {total - 1}."
    if "-" in selection:
        raise SelectionError(f"{asked} counts from the end; only indexes from 0 are read: {there}")
    if not indexes:
        raise SelectionError(f"{asked} selects nothing: {there}")
    last = indexes[-1] if isinstance(indexes, range) else max(indexes)
    if last >= total:
        raise SelectionError(f"{asked} asks for more than there is: {there}")
    if len(set(indexes)) != len(indexes):
        twice = next(index for index in indexes if list(indexes).count(index) > 1)
        raise SelectionError(f"--episodes {selection!r} names episode {twice} twice.")
