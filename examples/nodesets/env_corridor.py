"""The corridor, stateful: the agent's place lives in the copy, and every worker has its own."""

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef

from . import corridor


class Tool(BaseCanvasNode):
    def __init__(self, environment):
        self.environment = environment


class Observe(Tool):
    node_type = "env_corridor__observe"
    output_ports = [PortDef("view", "ARRAY", "the five cells around the agent")]

    def forward(self, inputs, ctx):
        environment = self.environment
        return {"view": corridor.view(environment.episode_index, environment.at)}


class Step(Tool):
    node_type = "env_corridor__step"
    input_ports = [PortDef("action", "INT", "-1 or 1")]
    output_ports = [PortDef("done", "BOOL")]

    def forward(self, inputs, ctx):
        self.environment.at = corridor.move(self.environment.at, inputs["action"])
        return {"done": self.environment.is_done()}


class Evaluate(Tool):
    node_type = "env_corridor__evaluate"
    output_ports = [PortDef("metrics", "METRICS")]

    def forward(self, inputs, ctx):
        return {"metrics": {"success": self.environment.is_done()}}


class Corridor(BaseNodeSet):
    name = "env_corridor"

    def get_tools(self):
        return [Observe(self), Step(self), Evaluate(self)]

    def begin_episode(self, episode):
        self.episode_index, self.at = episode.index, corridor.START

    def is_done(self):
        return corridor.is_done(self.episode_index, self.at)

    def get_eval_metadata(self):
        return corridor.METADATA

    def get_episodes(self, split):
        return corridor.episodes()
