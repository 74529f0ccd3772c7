# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "torch==2.13.0"]
# ///
"""The shipped recurrent policy with its memory kept on the nodeset instead of on the wire."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef


class Forward(BaseCanvasNode):
    node_type = "policy_hidden_state__forward"
    input_ports = (PortDef("rgb", "IMAGE"),)
    output_ports = (PortDef("action", "ACTION"), PortDef("logits", "ARRAY"))
    batched = True
    batch_dim = "rgb"
    pad_batch = 8

    def __init__(self, nodeset: HiddenStateNodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        seen = torch.from_numpy(inputs["rgb"].mean(axis=(1, 2)).astype(np.float32) / 255.0)
        with torch.inference_mode():
            self.nodeset.hidden = self.nodeset.memory(seen, self.nodeset.hidden)
            logits = self.nodeset.choice(self.nodeset.hidden).numpy()
        return {"action": logits.argmax(axis=1).tolist(), "logits": logits}


class HiddenStateNodeSet(BaseNodeSet):
    name = "policy_hidden_state"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Forward(self)]

    def initialize(self) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.memory = torch.nn.GRUCell(3, 16)
            self.choice = torch.nn.Linear(16, 3)
        self.hidden = torch.zeros(8, 16)
