"""Twice a number: shared and batched."""

import os
from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Act(BaseCanvasNode):
    node_type = "policy_twice__act"
    input_ports = [PortDef("number", "INT")]
    output_ports = [PortDef("number", "INT"), PortDef("rows", "INT", volatile=True)]
    batched = True
    batch_dim = "number"

    def forward(self, inputs, ctx) -> Any:
        rows = len(inputs["number"])
        return {"number": [2 * n for n in inputs["number"]], "rows": [rows] * rows}


class Threads(BaseCanvasNode):
    node_type = "policy_twice__threads"
    output_ports = [PortDef("threads", "TEXT")]

    def forward(self, inputs, ctx) -> Any:
        return {"threads": os.environ["OMP_NUM_THREADS"]}


class TwiceNodeSet(BaseNodeSet):
    name = "policy_twice"
    parallelism = "shared"

    def get_tools(self):
        return [Act(), Threads()]
