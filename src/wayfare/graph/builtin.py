"""The built-in nodes: their configuration and the ports that follow from it.

Knows nothing of edges, scopes or execution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StrictBool, StrictInt

from nodeset.ports import PortDef, parse_wire_type

AFTER = PortDef("after", "ANY", "orders, carries nothing", optional=True)
STOP = PortDef("stop", "BOOL", "ends the loop after this turn")
CONDITION = PortDef("condition", "BOOL", "decides which output gets the value")

RELAY = "relay"
"""What a subgraph's graphIn or graphOut becomes: it passes on what it is given."""

MAP_IN = "mapIn"
MAP_OUT = "mapOut"
"""What the graphIn and graphOut of a map's graph become: where values enter and leave an item."""

ITEM = "item"
ITEMS = "items"
"""A map's graphIn `item` gets one item of the list at the map's input `items`."""

RESERVED_PORTS = frozenset({"after", "step", "stop"})
FORBIDDEN_IN_NAMES = ("/", ".")

EPISODE_PORTS = (
    PortDef("episode_index", "INT"),
    PortDef("episode_id", "TEXT"),
    PortDef("scene_id", "TEXT"),
    PortDef("split", "TEXT"),
    PortDef("seed", "INT"),
)


def _port_name(name: str) -> str:
    if not name or any(mark in name for mark in FORBIDDEN_IN_NAMES):
        raise ValueError("a port name must not be empty or contain '/' or '.'")
    if name in RESERVED_PORTS:
        raise ValueError(f"port names {', '.join(sorted(RESERVED_PORTS))} are taken")
    return name


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"port {twice[0]!r} stands twice")
    return names


def _wire_type(text: str) -> str:
    parse_wire_type(text)
    return text


PortName = Annotated[str, AfterValidator(_port_name)]
PortNames = Annotated[tuple[PortName, ...], AfterValidator(_distinct)]
WireType = Annotated[str, AfterValidator(_wire_type)]


class BuiltinConfig(BaseModel):
    """This node has no configuration."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class IterInConfig(BuiltinConfig):
    """What a loop begins with."""

    ports: PortNames = Field(default=(), description="The names of the ports that it carries.")


class IterOutConfig(BuiltinConfig):
    """How a loop ends and what it carries into the next turn."""

    loop: str = Field(description="The id of the loop's iterIn.")
    ports: PortNames = Field(default=(), description="The ports that a turn may set anew.")
    max_turns: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="The loop's budget; required in a loop or map."
    )


class GraphInConfig(BuiltinConfig):
    """One input of a graph that stands in another."""

    port_name: PortName = Field(
        alias="portName", description="The port's name; a map's item comes to 'item'."
    )
    type: WireType = Field(default="ANY", description="The wire type of what comes.")
    optional: StrictBool = Field(default=False, description="Whether nothing may come.")


class GraphOutConfig(BuiltinConfig):
    """One result: a metric at the top, an output of a graph that stands in another."""

    port_name: PortName = Field(alias="portName", description="The metric's or port's name.")


class ConstConfig(BuiltinConfig):
    """A value that is always there."""

    value: JsonValue = Field(description="The value.")


class MergeConfig(BuiltinConfig):
    """The branches that come together."""

    ports: Annotated[tuple[PortName, ...], Field(min_length=1), AfterValidator(_distinct)] = Field(
        description="The names of the inputs, of which only one may come."
    )


@dataclass(frozen=True, slots=True)
class Signature:
    """The ports of one node, by name, without `after`."""

    inputs: Mapping[str, PortDef]
    outputs: Mapping[str, PortDef]


CONFIGS: Mapping[str, type[BuiltinConfig]] = {
    "episode": BuiltinConfig,
    "iterIn": IterInConfig,
    "iterOut": IterOutConfig,
    "graphIn": GraphInConfig,
    "graphOut": GraphOutConfig,
    "const": ConstConfig,
    "switch": BuiltinConfig,
    "merge": MergeConfig,
    "collect": BuiltinConfig,
}
"""The built-ins by their type, each with the model of its configuration."""

DESCRIPTIONS: Mapping[str, str] = {
    "episode": "What episode this is.",
    "iterIn": "The start of a loop: the values of its ports in this turn, and the turn's number.",
    "iterOut": "The end of a loop: what the next turn gets, and whether there is one.",
    "graphIn": "An input of a graph that stands in another.",
    "graphOut": "A metric; in a graph that stands in another, one of its outputs.",
    "const": "A value.",
    "switch": "Lets a value out at 'true' or at 'false'.",
    "merge": "Brings branches together: passes on the one value that came.",
    "collect": "The list of a value over the turns of its loop.",
    "subgraph": "A graph that runs as if its nodes stood here.",
    "map": "A graph that runs once per item of a list, for all items at the same time.",
}
"""What every word of the graph language means, in a line."""


def signature_of(node_type: str, config: BuiltinConfig) -> Signature:
    """Return the ports of a built-in; types that only the edges tell are `ANY` here."""
    match config:
        case IterInConfig(ports=ports):
            inputs = [PortDef(f"init_{name}", "ANY", optional=True) for name in ports]
            return _signature(inputs, [*_any(ports), PortDef("step", "INT")])
        case IterOutConfig(ports=ports):
            inputs = [PortDef(name, "ANY", optional=True) for name in ports]
            ends = [PortDef("final_step", "INT"), PortDef("truncated", "BOOL")]
            return _signature([*inputs, STOP], [*_any([f"final_{name}" for name in ports]), *ends])
        case GraphInConfig(type=wire_type):
            value = PortDef("value", wire_type, optional=config.optional)
            inputs = [] if node_type == MAP_IN else [value]
            return _signature(inputs, [PortDef("value", wire_type)])
        case GraphOutConfig():
            return _signature(_any(["value"]), _any(["value"]) if node_type == RELAY else [])
        case ConstConfig(value=value):
            return _signature([], [PortDef("value", type_of_constant(value))])
        case MergeConfig(ports=ports):
            return _signature(_any(ports), _any(["value"]))
    return _PLAIN[node_type]


def type_of_constant(value: JsonValue) -> str:
    """Return the wire type of a constant; lists and dicts are `ANY`, since they fit several."""
    match value:
        case bool():
            return "BOOL"
        case int():
            return "INT"
        case float():
            return "FLOAT" if math.isfinite(value) else "ANY"
        case str():
            return "TEXT"
    return "ANY"


def _any(names: Any) -> list[PortDef]:
    return [PortDef(name, "ANY") for name in names]


def _signature(inputs: list[PortDef], outputs: list[PortDef]) -> Signature:
    return Signature({port.name: port for port in inputs}, {port.name: port for port in outputs})


_PLAIN: Mapping[str, Signature] = {
    "episode": _signature([], list(EPISODE_PORTS)),
    "switch": _signature([PortDef("value", "ANY"), CONDITION], _any(["true", "false"])),
    "collect": _signature(_any(["value"]), _any(["values"])),
}
