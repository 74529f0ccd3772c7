"""An in-place change of an input: the step writes into the state. Mended: it writes a copy."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Reset(BaseCanvasNode):
    node_type = "env_in_place__reset"
    input_ports = [PortDef("start", "INT")]
    output_ports = [PortDef("state", "JSON")]
    batched = True
    batch_dim = "start"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"state": [{"at": start, "turn": 0} for start in inputs["start"]]}


class Step(BaseCanvasNode):
    node_type = "env_in_place__step"
    input_ports = [PortDef("state", "JSON"), PortDef("action", "ACTION")]
    output_ports = [PortDef("state", "JSON"), PortDef("done", "BOOL")]
    batched = True
    batch_dim = "action"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        states = [self.move(*row) for row in zip(inputs["state"], inputs["action"])]
        return {"state": states, "done": [state["turn"] > 9 for state in states]}

    def move(self, state: Any, action: Any) -> dict[str, Any]:
        state["turn"] += 1
        state["at"] += int(action)
        return state


class MendedReset(Reset):
    node_type = "env_in_place_mended__reset"


class MendedStep(Step):
    node_type = "env_in_place_mended__step"

    def move(self, state: Any, action: Any) -> dict[str, Any]:
        return {"at": state["at"] + int(action), "turn": state["turn"] + 1}


class InPlaceNodeSet(BaseNodeSet):
    name = "env_in_place"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Reset(), Step()]


class MendedInPlaceNodeSet(BaseNodeSet):
    name = "env_in_place_mended"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedReset(), MendedStep()]
