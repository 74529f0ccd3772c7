"""A normalisation by the batch's own mean and deviation. Mended: by constants."""

from __future__ import annotations

from typing import Any

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef

MEAN, DEVIATION = 0.1, 0.5


class Score(BaseCanvasNode):
    node_type = "policy_batch_norm__score"
    input_ports = [PortDef("seen", "ARRAY")]
    output_ports = [PortDef("scores", "ARRAY")]
    batched = True
    batch_dim = "seen"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        seen = inputs["seen"]
        return {"scores": (seen - seen.mean(axis=0)) / (seen.std(axis=0) + 1e-5)}


class MendedScore(Score):
    node_type = "policy_batch_norm_mended__score"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        return {"scores": (inputs["seen"] - MEAN) / DEVIATION}


class BatchNormNodeSet(BaseNodeSet):
    name = "policy_batch_norm"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Score()]


class MendedBatchNormNodeSet(BaseNodeSet):
    name = "policy_batch_norm_mended"
    parallelism = "shared"

    def get_tools(self) -> list[BaseCanvasNode]:
        return [MendedScore()]
