from nodeset import BaseCanvasNode, BaseNodeSet, Episode, PortDef


class Roll(BaseCanvasNode):
    node_type = "hello__roll"
    output_ports = [PortDef("six", "BOOL")]

    def forward(self, inputs, ctx):
        return {"six": ctx.rng.integers(1, 7) == 6}


class Hello(BaseNodeSet):
    name = "hello"
    parallelism = "shared"

    def get_tools(self):
        return [Roll()]

    def get_eval_metadata(self):
        return {"splits": ["test"], "default_split": "test", "metrics": ["six"]}

    def get_episodes(self, split):
        return [Episode(str(number)) for number in range(100)]
