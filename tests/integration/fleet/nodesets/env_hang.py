"""A nodeset that hangs in a call when told to."""

import threading
from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef


class Wait(BaseCanvasNode):
    node_type = "env_hang__wait"
    input_ports = [PortDef("forever", "BOOL")]
    output_ports = [PortDef("done", "BOOL")]

    def forward(self, inputs, ctx) -> Any:
        if inputs["forever"]:
            threading.Event().wait()
        return {"done": True}


class HangNodeSet(BaseNodeSet):
    name = "env_hang"
    deployment = Deployment(budgets={"initialize": 120, "first_call": 2, "call": 2})

    def get_tools(self):
        return [Wait()]
