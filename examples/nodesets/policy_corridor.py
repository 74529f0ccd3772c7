"""Two policies for the corridor: one that reacts to what it sees, one that remembers its way."""

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef

from .corridor import GOAL, LEFT, RIGHT, WALL

SIDES = np.array([-1, -1, 0, 1, 1], np.float32)
VIEW = PortDef("view", "ARRAY", "five cells, the agent in the middle")
ACTION = PortDef("action", "INT", "-1 or 1")


class Act(BaseCanvasNode):
    node_type = "policy_corridor__act"
    description = "Go left if the goal is in sight there, else right."
    input_ports = [VIEW]
    output_ports = [ACTION]
    batched = True
    batch_dim = "view"

    def forward(self, inputs, ctx):
        is_left = (inputs["view"][:, :2] == GOAL).any(axis=1)
        return {"action": np.where(is_left, LEFT, RIGHT)}


class ActRecurrent(BaseCanvasNode):
    node_type = "policy_corridor__act_recurrent"
    description = "Keep the direction in a hidden state; turn round at a wall."
    input_ports = [VIEW, PortDef("hidden", "ARRAY", "absent in the first turn", optional=True)]
    output_ports = [ACTION, PortDef("hidden", "ARRAY")]
    batched = True
    batch_dim = "view"
    pad_batch = 4

    def forward(self, inputs, ctx):
        views = inputs["view"]
        hidden = inputs.get("hidden", np.zeros((len(views), 1), np.float32))
        seen = np.concatenate([views == WALL, views == GOAL], axis=1).astype(np.float32)
        weights = np.concatenate([-10 * SIDES, 20 * SIDES])[:, None]
        hidden = np.tanh(seen @ weights + 5 * hidden + 1)
        return {"action": np.where(hidden[:, 0] < 0, LEFT, RIGHT), "hidden": hidden}


class CorridorPolicies(BaseNodeSet):
    name = "policy_corridor"
    parallelism = "shared"

    def get_tools(self):
        return [Act(), ActRecurrent()]
