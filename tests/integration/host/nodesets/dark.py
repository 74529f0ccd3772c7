"""A nodeset whose `initialize` fails; for tests."""

from nodeset import BaseCanvasNode, BaseNodeSet


class Look(BaseCanvasNode):
    node_type = "dark__look"

    def forward(self, inputs, ctx):
        return {}


class DarkNodeSet(BaseNodeSet):
    name = "dark"

    def get_tools(self):
        return [Look()]

    def initialize(self):
        raise OSError("no light")
