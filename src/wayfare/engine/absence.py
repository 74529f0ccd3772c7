"""Say whether what is off around a loop switches the whole loop off.

Knows nothing of turns: it is asked before the first one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wayfare.engine.signal import OFF
from wayfare.graph.unit import Kind, LoopPlan, Plan, Unit


def is_switched_off(plan: Plan, loop: LoopPlan, values: Sequence[Any]) -> bool:
    """Say whether a loop that is about to start does not run at all.

    It does not if nothing comes to its wired `init_*` inputs, or if what is off around it leaves
    `stop` off in the first turn, where every turn must have it.
    """
    off = frozenset(slot for slot in loop.entering if values[slot] is OFF)
    return bool(off) and _is_loop_off(plan, loop, off)


def _is_loop_off(plan: Plan, loop: LoopPlan, off: frozenset[int]) -> bool:
    firsts = [carry.first for carry in loop.carries if carry.first]
    if firsts and off.issuperset(firsts):
        return True
    reached = set(off)
    reached.update(carry.current for carry in loop.carries if carry.first in off)
    for index in plan.scopes[loop.scope].units:
        unit = plan.units[index]
        if _is_unit_off(plan, unit, frozenset(reached)):
            reached.update(unit.loop.end_slots if unit.loop else (o.slot for o in unit.outputs))
    return loop.stop in reached


def _is_unit_off(plan: Plan, unit: Unit, off: frozenset[int]) -> bool:
    if unit.loop is not None:
        return _is_loop_off(plan, unit.loop, off)
    if unit.kind in (Kind.MERGE, Kind.RELAY):
        return bool(unit.inputs) and all(item.slot in off for item in unit.inputs)
    return any(not item.is_optional and item.slot in off for item in unit.inputs)
