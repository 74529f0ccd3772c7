"""What a call knows besides its inputs: its configuration, episode, turn, seed and log.

Knows nothing of sockets or batches beyond one context per row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, NoReturn, Optional, Sequence, Tuple

import numpy as np


@dataclass(frozen=True)
class EpisodeContext:
    """One attempt's episode, as `begin_episode` gets it and as `ctx.episode` shows it.

    `index` counts in the list that `get_episodes(split)` returned. `seed` (unsigned, 64 bits)
    comes from the run's seed and the episode's key, so it is the same over workers and attempts.
    """

    index: int
    id: str
    scene_id: str = ""
    split: str = ""
    repeat: int = 0
    group: str = ""
    seed: int = 0
    info: Mapping[str, Any] = field(default_factory=dict)


NO_EPISODE = EpisodeContext(index=-1, id="")


class Context:
    """The context of one call.

    `step` is the turn of the outermost loop, `turns` the turns of all loops, outermost first.
    `seed` (unsigned, 64 bits) is a hash of the run's seed, the episode's key, the node's path and
    its turns: the same over workers, attempts and resends.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        episode: EpisodeContext = NO_EPISODE,
        *,
        turns: Sequence[int] = (),
        step: int = 0,
        seed: int = 0,
    ) -> None:
        self.config = config
        self.episode = episode
        self.turns: Tuple[int, ...] = tuple(turns)
        self.step = step
        self.seed = seed
        self.logs: List[Tuple[str, Any]] = []
        self._rng: Optional[np.random.Generator] = None

    @property
    def rng(self) -> np.random.Generator:
        """A generator of this call's own, seeded by `seed` (PCG64)."""
        if self._rng is None:
            self._rng = np.random.Generator(np.random.PCG64(self.seed))
        return self._rng

    def log(self, key: str, value: Any) -> None:
        """Keep `value` (passive data) beside the call; it enters no digest."""
        self.logs.append((str(key), value))


class BatchContext:
    """The context of a batched tool's call: `config`, `log`, and `rows`, one full context each."""

    def __init__(self, config: Mapping[str, Any], rows: Sequence[Context]) -> None:
        self.config = config
        self.rows = list(rows)

    def log(self, key: str, value: Any) -> None:
        """Keep `value` beside the call of every row."""
        for row in self.rows:
            row.log(key, value)

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("rng", "seed", "episode", "step", "turns"):
            raise AttributeError(
                f"ctx.{name} has no meaning in a batched tool, whose rows belong to different "
                f"workers; use ctx.rows[i].{name} for row i"
            )
        raise AttributeError(f"a batched tool's ctx has config, log and rows, not {name!r}")


def episode_from_wire(fields: Mapping[str, Any]) -> EpisodeContext:
    """Return the episode that an `open_episode` request carries; raises TypeError on bad fields."""
    known: Dict[str, Any] = dict(fields)
    return EpisodeContext(**known)
