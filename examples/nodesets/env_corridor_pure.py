"""The corridor, pure: what a call needs comes in by its ports, and one copy serves all workers."""

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef

from . import corridor

EPISODE = PortDef("episode_index", "INT")
STATE = PortDef("state", "JSON", "the agent's place; without it, the start", optional=True)


class Observe(BaseCanvasNode):
    node_type = "env_corridor_pure__observe"
    input_ports = [EPISODE, STATE]
    output_ports = [PortDef("view", "ARRAY"), PortDef("state", "JSON")]
    batched = True
    batch_dim = "episode_index"

    def forward(self, inputs, ctx):
        indexes = inputs["episode_index"]
        states = inputs.get("state", [{"at": corridor.START}] * len(indexes))
        rows = zip(indexes, states)
        return {"view": np.stack([corridor.view(i, s["at"]) for i, s in rows]), "state": states}


class Step(BaseCanvasNode):
    node_type = "env_corridor_pure__step"
    input_ports = [EPISODE, PortDef("state", "JSON"), PortDef("action", "INT")]
    output_ports = [PortDef("state", "JSON"), PortDef("done", "BOOL")]
    batched = True
    batch_dim = "action"

    def forward(self, inputs, ctx):
        moves = zip(inputs["state"], inputs["action"])
        places = [corridor.move(state["at"], action) for state, action in moves]
        done = [corridor.is_done(i, at) for i, at in zip(inputs["episode_index"], places)]
        return {"state": [{"at": at} for at in places], "done": done}


class PureCorridor(BaseNodeSet):
    name = "env_corridor_pure"
    parallelism = "shared"

    def get_tools(self):
        return [Observe(), Step()]

    def get_eval_metadata(self):
        return corridor.METADATA

    def get_episodes(self, split):
        return corridor.episodes()
