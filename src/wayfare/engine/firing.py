"""Say what a built-in node gives for what came to it.

Knows nothing of when it fires.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nodeset.context import EpisodeContext
from nodeset.errors import PortError
from nodeset.ports import PortDef, accept
from wayfare.engine.errors import RuleError
from wayfare.engine.signal import OFF
from wayfare.graph.builtin import CONDITION, ITEMS
from wayfare.graph.unit import Kind, MapPlan, Unit

LIST_OF_ITEMS = PortDef(ITEMS, "LIST[ANY]")


def fire_builtin(unit: Unit, values: Sequence[Any], episode: EpisodeContext) -> tuple[Any, ...]:
    """Return the outputs of a built-in, in the order of its ports.

    Raises `RuleError` or `PortError` for what may not come.
    """
    match unit.kind:
        case Kind.CONST:
            return (unit.value,)
        case Kind.EPISODE:
            return (episode.index, episode.id, episode.scene_id, episode.split, episode.seed)
        case Kind.SWITCH:
            return _switch(unit, values)
        case Kind.MERGE:
            return (_merge(unit, values),)
        case Kind.RESULT:
            return ()
        case Kind.INPUT:
            return (values[unit.outputs[0].slot],)
        case Kind.RELAY:
            # Off or unwired, an input of a subgraph is off inside.
            return (values[unit.inputs[0].slot] if unit.inputs else OFF,)
    raise TypeError(f"{unit.kind!r} is no built-in that fires")


def items_of(unit: Unit, inner: MapPlan, values: Sequence[Any]) -> list[Any]:
    """Return the list that came to a map. Raises `PortError` if it is none."""
    items = values[inner.items]
    if isinstance(items, list):
        return items
    accepted: list[Any] = accept(LIST_OF_ITEMS, items, f"map {unit.path!r} input")
    return accepted


def missing_output(unit: Unit, port: str, outputs: Mapping[str, Any]) -> PortError:
    """Return the error of a tool that left out an output that it must have."""
    return PortError(
        f"{unit.nodeset}__{unit.tool} output {port!r} is missing: got {sorted(outputs)}. "
        "Return it, or declare the port optional."
    )


def _switch(unit: Unit, values: Sequence[Any]) -> tuple[Any, Any]:
    slots = {item.port: item.slot for item in unit.inputs}
    condition = accept(CONDITION, values[slots["condition"]], f"switch {unit.path!r} input")
    value = values[slots["value"]]
    return (value, OFF) if condition else (OFF, value)


def _merge(unit: Unit, values: Sequence[Any]) -> Any:
    came = [item for item in unit.inputs if values[item.slot] is not OFF]
    if len(came) > 1:
        ports = " and ".join(repr(item.port) for item in came)
        raise RuleError(
            f"merge {unit.path!r} got values at {ports}; only one may come. "
            "Let a switch decide which branch runs."
        )
    return values[came[0].slot] if came else OFF
