"""Make the nodes and edges of an agent whose tools have their places.

Knows nothing of files, processes or commands, or of which policy and step to take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodeset.ports import PortDef, is_compatible
from wayfare.cli.stage import Source, Stage
from wayfare.evals.toolbox import END_PORTS, Tool, scorer_of
from wayfare.graph.builtin import AFTER, EPISODE_PORTS, RESERVED_PORTS, STOP
from wayfare.graph.document import EdgeSpec, NodeSpec
from wayfare.graph.naming import free_id

EPISODE, TURN, NEXT = "episode", "turn", "next"
_EPISODE_PORTS = frozenset(port.name for port in EPISODE_PORTS)
_SCORES = ("INT", "FLOAT", "BOOL", "METRICS")
_Handle = tuple[str, str]
_Find = Callable[[Tool, PortDef], Source | None]


@dataclass(frozen=True, slots=True)
class Wiring:
    """What came of it: the nodes and edges of a whole graph where nothing is missing."""

    policy: Tool
    step: Tool
    nodes: Sequence[NodeSpec]
    edges: Sequence[EdgeSpec]
    carried: Sequence[str]
    """The ports that go from turn to turn."""
    missing: Sequence[str]
    """What nothing feeds, and why, as sentences."""
    unwired: Sequence[str]
    """Optional inputs that nothing feeds."""
    widened: int
    """Edges from the policy to the step whose types fit but differ."""


def wire(tools: Sequence[Tool], policy: Tool, step: Tool, *, metrics: Sequence[str]) -> Wiring:
    """Return the wiring of a loop in which `policy` decides and `step` acts.

    `tools` are all that may be added where an input needs one, the environment's first. `metrics`
    are names to look for among the outputs where no tool scores.
    """
    spare = [tool for tool in tools if tool.nodeset == step.nodeset and tool != policy]
    return _Wirer(Stage(tools, policy, step, scorer=scorer_of(spare)), metrics).wire()


class _Wirer:
    """The edges of one agent, in the making."""

    def __init__(self, stage: Stage, metrics: Sequence[str]) -> None:
        self._stage = stage
        self._metrics = metrics
        self._labels: dict[tuple[Tool, str], str] = {}
        """Output -> the name by which the loop carries it."""
        self._turning: list[tuple[Tool, str]] = []
        """The carried outputs that the next turn reads."""
        self._edges: list[EdgeSpec] = []
        self._missing: list[str] = []
        self._unwired: list[str] = []
        self._ids: dict[Tool, str] = {}
        self._names = {EPISODE, TURN, NEXT}

    def wire(self) -> Wiring:
        """Return the whole; what stands before the loop comes last, since its use shows then."""
        stage = self._stage
        for tool in stage.inside:
            self._wire_inside(tool)
        self._wire_stop()
        results = [*self._wire_results()]
        self._wire_carried()
        before = self._wire_before()
        widened = self._check_policy()
        nodes = [*self._list_nodes(before), *results]
        order = {node.id: position for position, node in enumerate(nodes)}
        return Wiring(
            policy=stage.policy,
            step=stage.step,
            nodes=nodes,
            edges=sorted(self._edges, key=lambda edge: order[edge.target]),
            carried=[self._labels[key] for key in self._turning],
            missing=self._missing,
            unwired=self._unwired,
            widened=widened,
        )

    def _wire_inside(self, tool: Tool) -> None:
        sources = self._wire_tool(tool, self._stage.find_source)
        if not any(self._stage.is_turning(source) for source in sources):
            self._connect((TURN, "step"), (self._id(tool), AFTER.name))

    def _wire_tool(self, tool: Tool, find: _Find) -> list[Source]:
        """Make the edges to one tool's inputs; note what nothing feeds."""
        sources = []
        for name, port in tool.inputs.items():
            source = find(tool, port)
            if source is not None:
                sources.append(source)
                self._connect(self._handle(source), (self._id(tool), name))
            elif port.optional and name not in _EPISODE_PORTS:  # tools know their episode
                self._unwired.append(f"{self._id(tool)}.{name}")
            elif not port.optional:
                self._missing.append(self._explain(tool, port))
        return sources

    def _wire_stop(self) -> None:
        for tool in (self._stage.step, self._stage.policy):
            if tool.end_port is not None:
                self._connect((self._id(tool), tool.end_port), (NEXT, STOP.name))
                return
        names = ", ".join(repr(name) for name in END_PORTS)
        self._missing.append(
            f"the loop needs to know when to stop: {self._stage.step.node_type} has no BOOL output "
            f"called one of {names}"
        )

    def _wire_results(self) -> Iterator[NodeSpec]:
        """Wire the scoring tool, or what is called like a metric, to the graph's results."""
        scorer, scores = self._stage.scorer, list(self._list_scores())
        if scorer is not None:
            sources = self._wire_tool(scorer, self._stage.find_final)
            if not any(source.kind == "final" for source in sources):
                self._connect((NEXT, "final_step"), (self._id(scorer), AFTER.name))
        if not scores:
            self._missing.append(
                f"the graph needs a result: no tool of {self._stage.step.nodeset!r} has a METRICS "
                f"output, and none in the loop has one called like a metric "
                f"({', '.join(self._metrics) or 'it names none'})"
            )
        for source in scores:
            node = self._name(source.port)
            label = free_id(source.port, RESERVED_PORTS)
            yield NodeSpec(id=node, type="graphOut", config={"portName": label})
            self._connect(self._handle(source), (node, "value"))

    def _list_scores(self) -> Iterator[Source]:
        if self._stage.scorer is not None:
            for name, port in self._stage.scorer.outputs.items():
                if port.wire_type == "METRICS":
                    yield Source("output", name, self._stage.scorer)
            return
        for tool in (self._stage.step, self._stage.policy):
            for name, port in tool.outputs.items():
                is_named = name in self._metrics and port.wire_type in _SCORES
                if is_named or (tool == self._stage.step and port.wire_type == "METRICS"):
                    yield Source("final", name, tool)

    def _wire_carried(self) -> None:
        for tool, port in self._turning:
            source = self._stage.find_initial(tool, port)
            if source is not None:
                self._connect(self._handle(source), (TURN, f"init_{self._labels[tool, port]}"))
        for (tool, port), label in self._labels.items():
            self._connect((self._id(tool), port), (NEXT, label))

    def _wire_before(self) -> list[Tool]:
        """Wire the tools before the loop, the last first; leave out what nothing needs."""
        kept: list[Tool] = []
        for tool in reversed(self._stage.before):
            is_used = any(edge.source == self._id(tool) for edge in self._edges)
            if not is_used and not tool.is_stateful:
                continue
            kept.insert(0, tool)
            sources = self._wire_tool(tool, self._stage.find_before)
            if is_used:
                continue
            if tool.outputs:
                self._connect((self._id(tool), next(iter(tool.outputs))), (TURN, AFTER.name))
            elif not sources:  # a node needs an edge; its place before the loop orders it
                self._connect((EPISODE, "episode_index"), (self._id(tool), AFTER.name))
        return kept

    def _check_policy(self) -> int:
        """Return how many edges from policy to step widen a type; note it if there is no edge."""
        policy, step = self._stage.policy, self._stage.step
        fed = [e for e in self._edges if e.source == self._id(policy)]
        acts = [e for e in fed if e.target == self._id(step)]
        if not acts and not any(edge.target_handle == STOP.name for edge in fed):
            self._missing.append(f"no output of {policy.node_type} is an input of {step.node_type}")
        return sum(
            policy.outputs[edge.source_handle].wire_type
            != step.inputs[edge.target_handle].wire_type
            for edge in acts
        )

    def _list_nodes(self, before: Iterable[Tool]) -> Iterator[NodeSpec]:
        if any(edge.source == EPISODE for edge in self._edges):
            yield NodeSpec(id=EPISODE, type="episode")
        yield from map(self._tool_node, before)
        turning: list[Any] = [self._labels[key] for key in self._turning]
        yield NodeSpec(id=TURN, type="iterIn", config={"ports": turning})
        yield from map(self._tool_node, self._stage.inside)
        ports: list[Any] = list(self._labels.values())
        yield NodeSpec(id=NEXT, type="iterOut", config={"loop": TURN, "ports": ports})
        if self._stage.scorer is not None:
            yield self._tool_node(self._stage.scorer)

    def _tool_node(self, tool: Tool) -> NodeSpec:
        return NodeSpec(id=self._id(tool), type=tool.node_type)

    def _handle(self, source: Source) -> _Handle:
        """Return node and port of a source; what the loop carries gets its name here."""
        tool = source.tool
        if tool is None:
            return (TURN if source.kind == "turn" else EPISODE), source.port
        if source.kind == "output":
            return self._id(tool), source.port
        label = self._label(tool, source.port)
        if source.kind == "final":
            return NEXT, f"final_{label}"
        if (tool, source.port) not in self._turning:
            self._turning.append((tool, source.port))
        return TURN, label

    def _id(self, tool: Tool) -> str:
        """Return the tool's id: its name, with a number where that is taken."""
        if tool not in self._ids:
            self._ids[tool] = self._name(tool.name)
        return self._ids[tool]

    def _name(self, wanted: str) -> str:
        name = free_id(wanted, self._names)
        self._names.add(name)
        return name

    def _label(self, tool: Tool, port: str) -> str:
        """Return the name by which the loop carries an output: the port's own if it is free."""
        if (tool, port) not in self._labels:
            taken = {*RESERVED_PORTS, *self._labels.values()}
            wanted = f"{self._id(tool)}_{port}" if port in taken else port
            self._labels[tool, port] = free_id(wanted, taken)
        return self._labels[tool, port]

    def _connect(self, source: _Handle, target: _Handle) -> None:
        edge = EdgeSpec(
            source=source[0], source_handle=source[1], target=target[0], target_handle=target[1]
        )
        self._edges.append(edge)

    def _explain(self, tool: Tool, port: PortDef) -> str:
        need = f"{tool.node_type} needs {port.name!r} ({port.wire_type})"
        offers = [(giver, given) for giver, given in self._stage.list_offers(port.name)]
        fitting = [g for g, given in offers if is_compatible(given.wire_type, port.wire_type)]
        if fitting:
            givers = ", ".join(giver.node_type for giver in fitting)
            return f"{need}: {givers} would give it, but not in time or not without more inputs"
        if offers:
            giver, given = offers[0]
            return f"{need}: {giver.node_type} gives {given.wire_type}, which does not fit"
        return f"{need}: no tool gives it"
