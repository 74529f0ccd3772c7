"""The sizes of what enters the CMA network, and where its weights come from.

Knows no tensors: whoever only describes the nodeset reads it without torch.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

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


def check_values(inputs: Mapping[str, Any], vocabulary: int) -> None:
    """Raise ValueError for what is no number, and for tokens outside the embedding table."""
    for port in ("rgb", "depth", "tokens", "rnn_states"):
        if port not in inputs:
            continue
        values = inputs[port]
        if values.dtype.kind not in "biuf":
            raise ValueError(f"{port} is {values.dtype}; it must hold real numbers: cast it")
        # What a camera sees nothing in may be infinitely far; it counts as 10 m.
        wrong = np.isnan(values) if port == "depth" else ~np.isfinite(values)
        if wrong.any():
            raise ValueError(
                f"{port} has {int(wrong.sum())} values that are {values[wrong][0]}; the network "
                "takes finite numbers only: mend what this input is wired to"
            )
    check_tokens(inputs["tokens"], vocabulary)


def check_tokens(tokens: Any, vocabulary: int) -> None:
    """Raise ValueError for a token that is no row of the embedding table."""
    wrong = (tokens < 0) | (tokens >= vocabulary) | (np.floor(tokens) != tokens)
    if wrong.any():
        raise ValueError(
            f"tokens has {tokens[wrong][0].item()!r}; this network's are the whole numbers 0 to "
            f"{vocabulary - 1}: take them from 'tokenize' or from the episode's own instruction"
        )


def check_result(logits: Any, states: Any) -> None:
    """Raise ValueError for results that are not finite: the largest of them means nothing."""
    for name, values in (("logits", logits), ("rnn_states", states)):
        wrong = ~np.isfinite(values)
        if wrong.any():
            raise ValueError(
                f"the network's {name} have {int(wrong.sum())} values that are "
                f"{values[wrong][0]}; no action follows from them: check the weights, and that "
                "'rnn_states' is what this tool gave"
            )
