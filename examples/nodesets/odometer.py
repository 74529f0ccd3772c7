"""A second stateful nodeset beside the environment: it adds up how far the agent went."""

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Add(BaseCanvasNode):
    node_type = "odometer__add"
    input_ports = [PortDef("action", "INT")]
    output_ports = [PortDef("total", "INT", "cells since the episode began")]

    def __init__(self, odometer):
        self.odometer = odometer

    def forward(self, inputs, ctx):
        self.odometer.total += abs(inputs["action"])
        return {"total": self.odometer.total}


class Odometer(BaseNodeSet):
    name = "odometer"

    def get_tools(self):
        return [Add(self)]

    def begin_episode(self, episode):
        self.total = 0
