"""A nodeset whose initialize is killed."""

import os

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Nothing(BaseCanvasNode):
    node_type = "broken_start__nothing"
    output_ports = [PortDef("number", "INT")]

    def forward(self, inputs, ctx):
        return {"number": 0}


class BrokenNodeSet(BaseNodeSet):
    name = "broken_start"

    def get_tools(self):
        return [Nothing()]

    def initialize(self) -> None:
        os.write(2, b"out of memory on device 0\n")
        os.kill(os.getpid(), 11)
