"""Score one view; the views of a panorama, and those of other workers, come as one batch."""

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Score(BaseCanvasNode):
    node_type = "policy_red__score"
    input_ports = [PortDef("view", "IMAGE")]
    output_ports = [PortDef("score", "FLOAT", "how red it is")]
    batched = True
    batch_dim = "view"

    def forward(self, inputs, ctx):
        views = inputs["view"].astype(np.int64)  # (B, H, W, 3); sums of integers are exact
        return {"score": (2 * views[..., 0] - views[..., 1] - views[..., 2]).sum(axis=(1, 2))}


class RedPolicy(BaseNodeSet):
    name = "policy_red"
    parallelism = "shared"

    def get_tools(self):
        return [Score()]
