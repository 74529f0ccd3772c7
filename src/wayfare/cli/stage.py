"""Decide which tools stand before a loop and in it, and which output feeds each of their inputs.

Knows nothing of documents: nodes and edges are made of what is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from nodeset.ports import PortDef, is_compatible
from wayfare.evals.toolbox import Tool
from wayfare.graph.builtin import EPISODE_PORTS

Kind = Literal["output", "carried", "final", "episode", "turn"]
TURN_PORT = PortDef("step", "INT")


@dataclass(frozen=True, slots=True)
class Source:
    """What feeds an input.

    `output`: of a tool in this turn or before the loop; `carried`: of a tool in the turn before;
    `final`: of a tool in the last turn; `episode` and `turn`: what these built-ins give.
    """

    kind: Kind
    port: str
    tool: Tool | None = None


class Stage:
    """The tools of a loop in which a policy decides and a step acts, in their places.

    A scorer, if there is one, comes after the loop.
    """

    def __init__(
        self, tools: Sequence[Tool], policy: Tool, step: Tool, *, scorer: Tool | None
    ) -> None:
        self._tools = tools
        self.policy, self.step, self.scorer = policy, step, scorer
        self.before: list[Tool] = []
        self.inside = [policy, step]
        for tool in tools:
            # The stateful are reset for what it does, not only for what it gives.
            is_reset = tool.is_reset and tool.is_stateful and tool not in self.inside
            if is_reset and not self._list_unmet(tool):
                self._place_before(tool)
        for tool in (policy, step):
            self._place_helpers(tool)
        if scorer is not None:
            self._place_helpers(scorer, at_end=True)

    def _place_helpers(self, tool: Tool, *, at_end: bool = False) -> None:
        """Add tools that give what the tool requires, each time the one that gives the most."""
        while unmet := self._list_unmet(tool, at_end=at_end):
            helpers = list(self._helpers(tool))
            covers = [(_count_fits(other, tool, unmet), other) for other in helpers]
            count, best = max(covers, key=lambda pair: pair[0], default=(0, None))
            if best is None or not count:
                return
            if self._is_fixed(best):
                self._place_before(best)
            elif at_end:
                return
            elif best not in self.before:
                self.inside.insert(self.inside.index(self.policy), best)

    def _place_before(self, tool: Tool) -> None:
        """Put a tool before the loop; looking for sources may have put it there already."""
        if tool not in self.before:
            self.before.append(tool)

    def _list_unmet(self, tool: Tool, *, at_end: bool = False) -> list[str]:
        """Return the required inputs that nothing feeds."""
        find = self.find_final if at_end else self.find_source
        return [
            name
            for name, port in tool.inputs.items()
            if not port.optional and find(tool, port) is None
        ]

    def find_source(self, tool: Tool, port: PortDef) -> Source | None:
        """Return what feeds an input of a tool in the loop."""
        return (
            (self._find_memory(tool, port) if self._is_agents(tool) else None)
            or self._find_in_turn(tool, port)
            or self._find_carried(self.step, port)
            or self._find_memory(tool, port)
            or self._find_constant(tool, port)
            or self._find_builtin(port)
        )

    def find_before(self, tool: Tool, port: PortDef) -> Source | None:
        """Return what feeds an input of a tool before the loop."""
        earlier = self.before[: self.before.index(tool)] if tool in self.before else self.before
        return _first_output(earlier, port) or _find_episode(port)

    def find_final(self, tool: Tool, port: PortDef) -> Source | None:
        """Return what feeds an input of a tool after the loop."""
        for other in [self.step, self.policy, *reversed(self.inside)]:
            if _fits(other, port):
                return Source("final", port.name, other)
        return self._find_constant(tool, port) or _find_episode(port)

    def find_initial(self, tool: Tool, port: str) -> Source | None:
        """Return what a carried output begins with, of those that stand before the loop."""
        own = [other for other in self.before if other.nodeset == tool.nodeset]
        return _first_output(own, tool.outputs[port])

    def is_turning(self, source: Source | None) -> bool:
        """Say whether the source may give something else in each turn."""
        if source is None or source.kind == "episode":
            return False
        return source.kind != "output" or source.tool in self.inside

    def list_offers(self, port: str) -> Iterator[tuple[Tool, PortDef]]:
        """Yield the tools that have an output of that name, whatever its type."""
        return ((tool, tool.outputs[port]) for tool in self._tools if port in tool.outputs)

    def _is_agents(self, tool: Tool) -> bool:
        return tool == self.policy or tool.nodeset != self.step.nodeset

    def _is_fixed(self, tool: Tool) -> bool:
        sources = (self.find_source(tool, port) for port in tool.inputs.values())
        return not tool.is_stateful and not any(self.is_turning(source) for source in sources)

    def _spare(self) -> Iterator[Tool]:
        """Yield the tools that have no place yet and could have one."""
        for tool in self._tools:
            is_placed = tool in self.inside or tool in self.before
            if not (is_placed or tool.is_step or tool.is_scorer):
                yield tool

    def _helpers(self, tool: Tool) -> Iterator[Tool]:
        for other in self._spare():
            is_begin = other.is_reset and other.is_stateful
            if other != tool and not is_begin and not self._list_unmet(other):
                yield other

    def _find_memory(self, tool: Tool, port: PortDef) -> Source | None:
        """Return the tool's own output of the turn before."""
        return self._find_carried(tool, port)

    def _find_in_turn(self, tool: Tool, port: PortDef) -> Source | None:
        last = tool if tool in self.inside else self.policy
        for other in reversed(self.inside[: self.inside.index(last)]):
            is_foreign_memory = port.name in other.inputs and other.nodeset != tool.nodeset
            if _fits(other, port) and not is_foreign_memory:
                return Source("output", port.name, other)
        return None

    def _find_carried(self, owner: Tool, port: PortDef) -> Source | None:
        """Return the owner's output of the turn before, if the first turn can do with it."""
        if not _fits(owner, port):
            return None
        if port.optional or self.find_initial(owner, port.name) or self._place_initial(owner, port):
            return Source("carried", port.name, owner)
        return None

    def _place_initial(self, owner: Tool, port: PortDef) -> bool:
        """Put a tool before the loop that gives what a carried output begins with."""
        spare = [tool for tool in self._spare() if tool.nodeset == owner.nodeset]
        for tool in sorted(spare, key=lambda tool: not tool.is_reset):
            required = [given for given in tool.inputs.values() if not given.optional]
            if _fits(tool, port) and all(self.find_before(tool, given) for given in required):
                self._place_before(tool)
                return True
        return False

    def _find_constant(self, tool: Tool, port: PortDef) -> Source | None:
        """Return an output from before the loop, unless a tool could give it anew in each turn."""
        if any(_fits(other, port) and not other.is_reset for other in self._spare()):
            return None
        return _first_output([other for other in self.before if other != tool], port)

    def _find_builtin(self, port: PortDef) -> Source | None:
        if port.name == TURN_PORT.name and is_compatible(TURN_PORT.wire_type, port.wire_type):
            return Source("turn", port.name)
        return _find_episode(port)


def _fits(tool: Tool, port: PortDef) -> bool:
    output = tool.outputs.get(port.name)
    return output is not None and is_compatible(output.wire_type, port.wire_type)


def _count_fits(other: Tool, tool: Tool, names: Iterable[str]) -> int:
    return sum(_fits(other, tool.inputs[name]) for name in names)


def _first_output(tools: Iterable[Tool], port: PortDef) -> Source | None:
    found = next((tool for tool in tools if _fits(tool, port)), None)
    return None if found is None else Source("output", port.name, found)


def _find_episode(port: PortDef) -> Source | None:
    """Return the built-in's output; only for what is required, since tools know their episode."""
    for given in EPISODE_PORTS:
        fits = given.name == port.name and is_compatible(given.wire_type, port.wire_type)
        if fits and not port.optional:
            return Source("episode", port.name)
    return None
