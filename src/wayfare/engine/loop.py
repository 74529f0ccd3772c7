"""The state of one loop between its turns: what is carried, collected and when it ends.

Knows nothing of the nodes in the loop.
"""

from __future__ import annotations

from typing import Any

from nodeset.ports import accept
from wayfare.engine.errors import RuleError
from wayfare.engine.signal import OFF
from wayfare.graph.builtin import STOP
from wayfare.graph.unit import LoopPlan


class LoopState:
    """One activation of a loop, from its first turn to its last."""

    def __init__(self, plan: LoopPlan, values: list[Any], budget: int | None) -> None:
        self._plan = plan
        self._values = values
        self._budget = budget
        self._carried = [values[carry.first] for carry in plan.carries]
        self._collected: list[list[Any]] = [[] for _ in plan.collects]
        self.turn = 0

    def open_turn(self) -> None:
        """Write what the turn's nodes read of the loop."""
        for carry, value in zip(self._plan.carries, self._carried, strict=True):
            if carry.current:
                self._values[carry.current] = value
        self._values[self._plan.step] = self.turn

    def close_turn(self) -> bool:
        """Keep what the turn leaves; return whether the loop has ended.

        Raises `RuleError` if `stop` is off and `PortError` if it is no boolean.
        """
        values = self._values
        stop = self._read_stop()
        for index, carry in enumerate(self._plan.carries):
            if values[carry.next] is not OFF:
                self._carried[index] = values[carry.next]
        for items, (source, _) in zip(self._collected, self._plan.collects, strict=True):
            if values[source] is not OFF:
                items.append(values[source])
        self.turn += 1
        is_truncated = not stop and self.turn == self._budget
        if stop or is_truncated:
            self._write_ends(is_truncated)
            return True
        return False

    def _read_stop(self) -> bool:
        stop = self._values[self._plan.stop]
        if stop is True or stop is False:
            return stop is True
        where = f"iterOut {self._plan.exit_path!r} input"
        if stop is OFF:
            raise RuleError(
                f"{where} 'stop' (BOOL) is off: nothing came to it in this turn. "
                "Every turn must say whether it is the last; bring branches together by a merge."
            )
        return bool(accept(STOP, stop, where))

    def _write_ends(self, is_truncated: bool) -> None:
        values = self._values
        for carry, value in zip(self._plan.carries, self._carried, strict=True):
            if carry.final:
                values[carry.final] = value
        for items, (_, target) in zip(self._collected, self._plan.collects, strict=True):
            values[target] = items
        values[self._plan.final_step] = self.turn
        values[self._plan.truncated] = is_truncated
