"""Look up what two runs recorded where an episode's courses part.

Knows nothing of how values are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wayfare.evals.comparison_divergence import Divergence
from wayfare.evals.comparison_order import FiringOrder, Turns
from wayfare.evals.comparison_pair import Pair, Side
from wayfare.evals.comparison_value import ValueDifference, are_equal, locate
from wayfare.store.errors import NotRecordedError
from wayfare.store.recording_actions import need_actions
from wayfare.store.recording_calls import CallReader, RecordedCall, need_calls
from wayfare.store.records import EpisodeKey

MAX_VALUES = 8

At = tuple[str, Turns]


@dataclass(frozen=True, slots=True)
class _Received:
    """What reached the nodes of an episode: per firing a way to read its inputs."""

    inputs: Mapping[At, Callable[[], Mapping[str, Any]]]
    is_complete: bool
    """Whether all inputs were kept, not just actions."""


def add_values(
    divergence: Divergence, pair: Pair, *, sides: tuple[Side, Side], order: FiringOrder
) -> Divergence:
    """Return the divergence with the first recorded inputs that differ, if both runs kept any.

    They are those of the firing itself and of the ones after it in the same turn, or else in the
    first turn in which some differ.
    """
    received = _read_both(pair, sides) if divergence.has_firing else None
    if received is None:
        return divergence
    a, b = received
    start = (divergence.node, divergence.turns)
    places = sorted(a.inputs.keys() & b.inputs.keys(), key=lambda at: order.key(*at))
    later = [at for at in places if order.key(*at) >= order.key(*start)]
    values: list[ValueDifference] = []
    for at in later:
        if values and (at[1] != values[0].turns or len(values) >= MAX_VALUES):
            break
        values += _differences(at, a.inputs[at](), b.inputs[at](), order)
    inputs_equal = None
    if a.is_complete and start in a.inputs and start in b.inputs:
        inputs_equal = not any((value.node, value.turns) == start for value in values)
    return replace(divergence, values=tuple(values[:MAX_VALUES]), inputs_equal=inputs_equal)


def _differences(
    at: At, a: Mapping[str, Any], b: Mapping[str, Any], order: FiringOrder
) -> Iterable[ValueDifference]:
    for port in sorted(a.keys() & b.keys()):
        if are_equal(a[port], b[port]):
            continue
        spot = locate(a[port], b[port])
        yield ValueDifference(
            node=at[0],
            turns=at[1],
            port=port,
            source=order.source_of(at[0], port),
            place=spot.place,
            a=spot.a,
            b=spot.b,
            note=spot.note,
        )


def _read_both(pair: Pair, sides: tuple[Side, Side]) -> tuple[_Received, _Received] | None:
    """Return what both runs kept in the same way: all inputs, else the actions, else nothing."""
    keys = (pair.key_a, pair.key_b)
    for read in (_read_calls, _read_actions):
        try:
            a, b = (read(side, key) for side, key in zip(sides, keys, strict=True))
        except NotRecordedError:
            continue
        return a, b
    return None


def _read_calls(side: Side, key: EpisodeKey) -> _Received:
    entry = side.committed[key]
    calls = need_calls(side.folder, entry.position, entry.record)
    inputs = {(found.path, found.turns): _loader(calls, found) for found in calls.entries}
    return _Received(inputs, is_complete=True)


def _loader(calls: CallReader, entry: Any) -> Callable[[], Mapping[str, Any]]:
    def load() -> Mapping[str, Any]:
        call: RecordedCall = calls.load(entry)
        return call.inputs

    return load


def _read_actions(side: Side, key: EpisodeKey) -> _Received:
    actions = need_actions(side.folder, side.committed[key].record)
    by_firing: dict[At, dict[str, Any]] = {}
    for action in actions:
        by_firing.setdefault((action.path, action.turns), {})[action.port] = action.value
    return _Received({at: _giver(ports) for at, ports in by_firing.items()}, is_complete=False)


def _giver(ports: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
    return lambda: ports
