"""The calls that a check makes, and the scripts of episodes that they come from.

Knows nothing of how they were found or of what becomes of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.digest import digest_value, hash64
from nodeset.passive import describe

_TEXT = 48
NO_EPISODE = EpisodeContext(index=0, id="0", seed=hash64("check"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProbeCall:
    """One call of a tool with all that its handler sees.

    `is_legal`: the inputs are known to be meant for the tool, so that it may not raise on them.
    """

    tool: str
    inputs: Mapping[str, Any]
    episode: EpisodeContext = NO_EPISODE
    config: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    step: int = 0
    turns: tuple[int, ...] = ()
    seed: int = 0
    is_legal: bool = False

    def fields(self) -> dict[str, Any]:
        """Return the call as a probe takes it."""
        return {
            "tool": self.tool,
            "inputs": dict(self.inputs),
            "episode": {**vars(self.episode), "info": dict(self.episode.info)},
            "config": dict(self.config),
            "path": self.path or self.tool,
            "step": self.step,
            "turns": list(self.turns),
            "seed": self.seed,
        }

    def identity(self) -> bytes:
        """Return a digest of all that its handler sees."""
        return digest_value(self.fields())

    def __str__(self) -> str:
        given = ", ".join(f"{name}={_shorten(value)}" for name, value in self.inputs.items())
        return f"{self.tool}({given}) in episode {self.episode.id!r}, step {self.step}"


@dataclass(frozen=True, slots=True, eq=False)
class Script:
    """An episode and the calls that are made in it, in their order."""

    episode: EpisodeContext
    calls: tuple[ProbeCall, ...]


@dataclass(slots=True)
class Material:
    """What there is to check with."""

    scripts: list[Script] = field(default_factory=list)
    """Episodes, for what keeps state."""
    calls: list[ProbeCall] = field(default_factory=list)
    """Single calls, for what keeps none."""
    sources: list[str] = field(default_factory=list)
    """Where the inputs come from, in words."""
    unreached: dict[str, str] = field(default_factory=dict)
    """Tools for which there is nothing, with the reason."""
    faltered: dict[str, str] = field(default_factory=dict)
    """Tools that answered and then raised, with how often and what."""

    @property
    def all_calls(self) -> list[ProbeCall]:
        """Return the single calls and those of the scripts."""
        return [*self.calls, *(call for script in self.scripts for call in script.calls)]


def pick_calls(calls: Sequence[ProbeCall], limit: int) -> dict[str, list[ProbeCall]]:
    """Return up to `limit` different calls of each tool, spread over all there are."""
    by_tool: dict[str, dict[bytes, ProbeCall]] = {}
    for call in calls:
        by_tool.setdefault(call.tool, {}).setdefault(call.identity(), call)
    return {tool: _spread(list(found.values()), limit) for tool, found in by_tool.items()}


def _spread(calls: Sequence[ProbeCall], limit: int) -> list[ProbeCall]:
    if len(calls) <= limit:
        return list(calls)
    return [calls[index * len(calls) // limit] for index in range(limit)]


def _shorten(value: Any) -> str:
    text = describe(value)
    text = text.split(" ", 1)[1] if " " in text and not text.startswith("ndarray") else text
    return text if len(text) <= _TEXT else text[: _TEXT - 3] + "..."
