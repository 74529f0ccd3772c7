"""Read what a configuration asks for: which environment, how many episodes, rows and steps.

Knows no JAX, and nothing of the environment that they are meant for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from nodeset import Settings

MAX_EPISODES = 100_000
MAX_ROWS = 4096


@dataclass(frozen=True)
class Setting:
    """A checked configuration.

    `pad_batch`: how many rows are always computed, 0 for as many as come. `max_steps`: the limit
    of steps, none for the environment's own.
    """

    id: str
    episodes: int
    split: str
    pad_batch: int
    max_steps: int | None


def read_setting(config: Mapping[str, Any]) -> Setting:
    """Check a configuration; raises SettingError."""
    settings = Settings(config, "env_gymnax")
    return Setting(
        id=settings.text("id"),
        episodes=settings.whole("episodes", 1, MAX_EPISODES),
        split=settings.text("split"),
        pad_batch=settings.whole("pad_batch", 0, MAX_ROWS),
        max_steps=settings.whole("max_steps", 1) if settings.is_given("max_steps") else None,
    )
