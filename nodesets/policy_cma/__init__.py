# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "torch==2.13.0"]
# ///
"""VLN-CE's Cross-Modal Attention policy, one network for all workers.

Knows its ports and its weights, no environment; the recurrent state rides on the wire.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodeset import (
    BaseCanvasNode,
    BaseNodeSet,
    Deployment,
    PortDef,
    Settings,
    UnavailableError,
)

from . import tokens
from .shape import CHECKPOINT_SOURCE, DEPTH_SHAPE, RGB_SHAPE, STATE_SHAPE, check_shapes

UNPADDED_TOLERANCE = 1e-5
MAX_ROWS = 4096
MAX_SEED = 2**62
SHA256 = re.compile("[0-9a-fA-F]{64}")


class Tokenize(BaseCanvasNode):
    node_type = "policy_cma__tokenize"
    description = "Turn an instruction into VLN-CE's 200 token numbers."
    category = "language"
    input_ports = (PortDef("instruction", "TEXT"),)
    output_ports = (PortDef("tokens", "ARRAY", "200 word numbers, 0 after the last"),)
    batched = True
    batch_dim = "instruction"

    def __init__(self, nodeset: PolicyCMANodeSet) -> None:
        self.nodeset = nodeset

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        vocabulary = self.nodeset.get_vocabulary()
        return {
            "tokens": np.stack([tokens.encode(text, vocabulary) for text in inputs["instruction"]])
        }


class Forward(BaseCanvasNode):
    node_type = "policy_cma__forward"
    display_name = "CMA policy"
    description = "Choose the next action with VLN-CE's Cross-Modal Attention network."
    category = "policy"
    input_ports = (
        PortDef("rgb", "IMAGE", "224x224"),
        PortDef("depth", "DEPTH", "256x256, metres; what lies beyond 10 m counts as 10 m"),
        PortDef("tokens", "ARRAY", "the instruction's 200 token numbers"),
        PortDef("rnn_states", "ARRAY", "(2, 512) float32; absent: zeros", optional=True),
        PortDef("prev_action", "INT", "the action taken last; absent: none", optional=True),
        PortDef("not_done", "BOOL", "absent: true if states came, else false", optional=True),
    )
    output_ports = (
        PortDef("action", "INT", "0 STOP, 1 FORWARD, 2 LEFT, 3 RIGHT"),
        PortDef("rnn_states", "ARRAY", "(2, 512) float32, for the next step"),
        PortDef("logits", "ARRAY", "(4,) float32"),
    )
    default_config = {"sample": False}
    batched = True
    batch_dim = "tokens"

    def __init__(self, nodeset: PolicyCMANodeSet, pad_batch: int) -> None:
        self.nodeset = nodeset
        self.pad_batch = pad_batch  # type: ignore[misc]
        self.batch_tolerance = 0.0 if pad_batch else UNPADDED_TOLERANCE  # type: ignore[misc]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        is_sampling = Settings(ctx.config, self.node_type).flag("sample")
        check_shapes(inputs)
        logits, states = self.nodeset.get_inference().step(inputs)
        actions = choose(logits, ctx) if is_sampling else logits.argmax(axis=1).tolist()
        return {"action": actions, "rnn_states": states, "logits": logits}


def choose(logits: npt.NDArray[np.float32], ctx: Any) -> list[int]:
    """Draw one action per row by its softmax, each from its own row's generator."""
    exact = logits.astype(np.float64)
    weights = np.exp(exact - exact.max(axis=1, keepdims=True))
    cumulative = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    drawn = [float(row.rng.random()) for row in ctx.rows]
    return [int(min((row <= x).sum(), len(row) - 1)) for row, x in zip(cumulative, drawn)]


class PolicyCMANodeSet(BaseNodeSet):
    name = "policy_cma"
    description = "VLN-CE's Cross-Modal Attention policy (Krantz et al., 2020) in plain torch."
    parallelism = "shared"
    # Simulators want the same cores: threads that spin while they wait for each other stall both.
    deployment = Deployment(env={"OMP_WAIT_POLICY": "PASSIVE"}, budgets={"call": 120})
    default_config = {
        "checkpoint": "",
        "sha256": "",
        "random_weights": -1,
        "embeddings": "",
        "vocabulary": "",
        "bidirectional": True,
        "pad_batch": 8,
    }

    def __init__(self) -> None:
        settings = Settings(self.config, self.name)
        for key in ("checkpoint", "embeddings", "vocabulary"):
            settings.path(key, may_be_empty=True)
        sha256 = settings.text("sha256", may_be_empty=True)
        if sha256 and not SHA256.fullmatch(sha256):
            settings.refuse("sha256", "64 hexadecimal digits (in quotes if all are), or empty")
        settings.whole("random_weights", -1, MAX_SEED)
        settings.flag("bidirectional")
        self.pad_batch = settings.whole("pad_batch", 0, MAX_ROWS)
        self.inference: Any = None
        self.vocabulary: dict[str, int] | None = None

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Forward(self, self.pad_batch), Tokenize(self)]

    def initialize(self) -> None:
        """Load the weights: a checkpoint's, or random ones where a seed asks for them."""
        # Heavy, and not everywhere: whoever describes this nodeset does without torch.
        try:
            from .inference import load_inference  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise UnavailableError(
                f"policy_cma needs the package {error.name!r}, which its interpreter lacks; "
                "'wayfare nodesets --build policy_cma' makes an environment that has it"
            ) from error
        self.inference = load_inference(self.config)
        if self.config["vocabulary"]:
            self.vocabulary = tokens.read_vocabulary(
                Path(str(self.config["vocabulary"])).expanduser()
            )
            if self.inference is not None:
                tokens.check_fits(self.vocabulary, self.inference.vocabulary)

    def get_inference(self) -> Any:
        if self.inference is None:
            raise UnavailableError(
                "policy_cma has no weights: its 'checkpoint' is not set. "
                f"{CHECKPOINT_SOURCE}; or, to try a graph with an untrained network, "
                "--set nodesets.policy_cma.random_weights=0 (a seed)"
            )
        return self.inference

    def get_vocabulary(self) -> dict[str, int]:
        if self.vocabulary is None:
            raise UnavailableError(
                "policy_cma has no vocabulary: set --set nodesets.policy_cma.vocabulary=PATH to an "
                "episode file of R2R-CE, which holds it, or to a list of its words, one a line"
            )
        return self.vocabulary

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return one step of an agent that sees noise."""
        words = np.zeros(tokens.LENGTH, np.int64)
        words[: rng.integers(5, 40)] = 7
        return {
            "forward": {
                "rgb": rng.integers(0, 256, RGB_SHAPE, dtype=np.uint8),
                "depth": rng.random(DEPTH_SHAPE, dtype=np.float32) * 10,
                "tokens": words,
                "rnn_states": rng.standard_normal(STATE_SHAPE, dtype=np.float32),
                "prev_action": int(rng.integers(4)),
                "not_done": True,
            },
        }
