"""Play a nodeset's own episodes with random actions, and keep the calls that were made.

Knows nothing of graphs: values go from port to port of the same name. Plays on a copy of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nodeset.context import EpisodeContext
from nodeset.digest import hash64
from nodeset.ports import PortDef, is_compatible
from wayfare.evals.check.draw import (
    ACTION_KINDS,
    UnknownSpaceError,
    draw_action,
    draw_unknown_action,
    draw_value,
)
from wayfare.evals.check.material import ProbeCall, Script
from wayfare.evals.check.subject import Subject
from wayfare.evals.toolbox import Tool, tools_of

TURNS = 6
ACTION_SPACE = "action_space"

Samples = Mapping[str, Mapping[str, Any]]


@dataclass(slots=True)
class Driver:
    """Plays episodes on one copy; `samples` are the author's inputs, by tool."""

    subject: Subject
    samples: Samples
    seed: int
    action_kinds: dict[str, str] = field(default_factory=dict)
    """Per tool what actions of unknown form it takes, once that is known."""
    failures: dict[str, str] = field(default_factory=dict)
    """Per tool what the last call raised."""
    answered: Counter[str] = field(default_factory=Counter)
    """How often each tool has answered."""
    faltered: Counter[str] = field(default_factory=Counter)
    """How often each has raised after it had answered."""

    def tell_faltering(self) -> dict[str, str]:
        """Return, per tool that raised after it had answered, how often and what at last."""
        return {
            tool: f"raised in {count} of {count + self.answered[tool]} calls with random actions "
            f"({self.failures[tool]})"
            for tool, count in self.faltered.items()
        }

    async def play(self, episode: EpisodeContext, *, begin: bool) -> Script:
        """Return the calls of one episode: what begins it, turns, what scores it."""
        if begin:
            await self.subject.begin(episode)
        tools = tools_of(self.subject.manifest)
        playing = _Playing(self, episode)
        for tool in (tool for tool in tools if tool.is_reset):
            await playing.call(tool, 0)
        turning = [t for t in tools if not t.is_reset and (t.is_step or not t.is_scorer)]
        turning.sort(key=lambda tool: tool.is_step)
        for turn in range(TURNS):
            for tool in turning:
                await playing.call(tool, turn)
            if playing.is_over:
                break
        for tool in (t for t in tools if t.is_scorer and not (t.is_step or t.is_reset)):
            await playing.call(tool, 0)
        return Script(episode, tuple(playing.calls))


class _Playing:
    """One episode under way: the calls so far, and the last value of each output."""

    def __init__(self, driver: Driver, episode: EpisodeContext) -> None:
        self._driver = driver
        self._episode = episode
        self._known: dict[str, tuple[PortDef, Any]] = {}
        self._rng = np.random.Generator(np.random.PCG64(hash64(driver.seed, episode.id)))
        self.calls: list[ProbeCall] = []
        self.is_over = False

    async def call(self, tool: Tool, turn: int) -> None:
        """Call one tool; of actions of unknown form the first that it takes is kept."""
        action = self._find_action_port(tool)
        kinds: Iterable[str] = ACTION_KINDS if action is not None else ("",)
        if tool.name in self._driver.action_kinds:
            kinds = (self._driver.action_kinds[tool.name],)
        for kind in kinds:
            call = self._make(tool, turn, action=action, kind=kind)
            outcome = (await self._driver.subject.serve([call])).rows[0]
            self.calls.append(call)
            if outcome.outputs is not None:
                self._driver.action_kinds[tool.name] = kind
                self._driver.answered[tool.name] += 1
                self._learn(tool, outcome.outputs)
                return
            self._driver.failures[tool.name] = outcome.text
            if tool.name in self._driver.answered:
                self._driver.faltered[tool.name] += 1

    def _make(self, tool: Tool, turn: int, *, action: PortDef | None, kind: str) -> ProbeCall:
        sample = self._driver.samples.get(tool.name)
        inputs = {}
        for port in tool.inputs.values():
            if sample is not None and port.name in sample:
                inputs[port.name] = sample[port.name]
            elif port is action:
                inputs[port.name] = draw_unknown_action(kind, self._rng)
            elif (value := self._find(port)) is not None:
                inputs[port.name] = value
        return ProbeCall(
            tool=tool.name,
            inputs=inputs,
            episode=self._episode,
            path=tool.name,
            step=turn,
            turns=(turn,),
            seed=hash64(self._episode.seed, tool.name, (turn,)),
            is_legal=sample is not None,
        )

    def _find_action_port(self, tool: Tool) -> PortDef | None:
        """Return an action port whose values nothing describes."""
        if tool.name in self._driver.samples or self._action_space() is not None:
            return None
        return next((p for p in tool.inputs.values() if _takes_action(p)), None)

    def _find(self, port: PortDef) -> Any:
        """Return a value for a port; None: an optional one stays unwired."""
        space = self._action_space()
        if _takes_action(port) and space is not None:
            try:
                return draw_action(space, self._rng)
            except UnknownSpaceError:
                return draw_value(port, self._rng)
        known = self._known.get(port.name)
        if known is not None and is_compatible(known[0].wire_type, port.wire_type):
            return known[1]
        given = _episode_values(self._episode).get(port.name)
        if given is not None or port.optional:
            return given
        return draw_value(port, self._rng)

    def _action_space(self) -> Mapping[str, Any] | None:
        metadata = self._driver.subject.manifest["metadata"] or {}
        known = self._known.get(ACTION_SPACE)
        space = known[1] if known is not None else metadata.get(ACTION_SPACE)
        return space if isinstance(space, Mapping) else None

    def _learn(self, tool: Tool, outputs: Mapping[str, Any]) -> None:
        for name, value in outputs.items():
            self._known[name] = (tool.outputs[name], value)
        end = tool.end_port
        if end is not None and outputs.get(end) is True:
            self.is_over = True


def _takes_action(port: PortDef) -> bool:
    return port.wire_type == "ACTION" or port.name == "action"


def _episode_values(episode: EpisodeContext) -> Mapping[str, Any]:
    return {
        "episode_index": episode.index,
        "episode_id": episode.id,
        "scene_id": episode.scene_id,
        "split": episode.split or None,
        "seed": episode.seed,
        "instruction": episode.info.get("instruction"),
    }
