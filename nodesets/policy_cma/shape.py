"""The sizes of what enters the CMA network, and where its weights come from.

Knows no tensors: whoever only describes the nodeset reads it without torch.
"""

from __future__ import annotations

from typing import Any, Mapping

RGB_SHAPE = (224, 224, 3)
DEPTH_SHAPE = (256, 256)
STATE_SHAPE = (2, 512)
TOKENS_SHAPE = (200,)
DEPTH_RANGE_M = 10.0

CHECKPOINT_SOURCE = (
    "VLN-CE's repository (jacobkrantz/VLN-CE) links its released checkpoints in its README, under "
    "'Baseline Model Zoo'; download one, and set "
    "--set nodesets.policy_cma.checkpoint=PATH (and ….sha256=HASH to pin it)"
)
EMBEDDINGS_SOURCE = (
    "VLN-CE's preprocessed R2R data holds it as 'embeddings.json.gz'; set "
    "--set nodesets.policy_cma.embeddings=PATH"
)


def check_shapes(inputs: Mapping[str, Any]) -> None:
    """Raise ValueError for a picture of another size: the network would take it and see badly."""
    wanted = {"rgb": RGB_SHAPE, "depth": DEPTH_SHAPE, "tokens": TOKENS_SHAPE}
    if "rnn_states" in inputs:
        wanted["rnn_states"] = STATE_SHAPE
    for port, shape in wanted.items():
        found = tuple(inputs[port].shape[1:])
        if found != shape:
            raise ValueError(
                f"{port} is {found}; VLN-CE's network was trained on {shape}: render it at that "
                "size, or resize it before this node"
            )
