# /// script
# requires-python = ">=3.9"
# dependencies = ["numpy", "torch==2.13.0"]
# ///
"""A small recurrent policy that looks for MiniWorld's red box; its memory rides on the wire.

Knows its ports and its weights, no environment. Keeps nothing between calls.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from nodeset import BaseCanvasNode, BaseNodeSet, PortDef, Settings, UnavailableError

SHIPPED_WEIGHTS = Path(__file__).parent / "weights.npz"
STATE_SIZE = 48
MAX_ROWS = 4096


class Forward(BaseCanvasNode):
    node_type = "policy_recurrent__forward"
    display_name = "Recurrent policy"
    description = "Choose to turn or to go, from the picture and from what was seen before."
    category = "policy"
    input_ports = (
        PortDef("rgb", "IMAGE", "height and width multiples of 12 and 16"),
        PortDef("rnn_state", "ARRAY", "(48,) float32; absent: zeros", optional=True),
    )
    output_ports = (
        PortDef("action", "INT", "0 left, 1 right, 2 forward"),
        PortDef("rnn_state", "ARRAY", "(48,) float32, for the next step"),
        PortDef("logits", "ARRAY", "(3,) float32"),
    )
    batched = True
    batch_dim = "rgb"

    def __init__(self, nodeset: PolicyRecurrentNodeSet) -> None:
        self.nodeset = nodeset
        self.pad_batch = nodeset.pad_batch  # type: ignore[misc]
        self.batch_tolerance = 0.0 if self.pad_batch else 1e-5  # type: ignore[misc]

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        logits, state = self.nodeset.get_inference().step(inputs["rgb"], inputs.get("rnn_state"))
        return {"action": logits.argmax(axis=1).tolist(), "rnn_state": state, "logits": logits}


class PolicyRecurrentNodeSet(BaseNodeSet):
    """Trained by `scripts/train_recurrent.py`; `weights` names another file of the same shape."""

    name = "policy_recurrent"
    description = "A small recurrent torch policy for MiniWorld's rooms with a red box."
    parallelism = "shared"
    default_config = {"weights": "", "pad_batch": 8}

    def __init__(self) -> None:
        settings = Settings(self.config, self.name)
        self.weights = settings.path("weights", may_be_empty=True)
        self.pad_batch = settings.whole("pad_batch", 0, MAX_ROWS)
        self.inference: Any = None

    def get_tools(self) -> list[BaseCanvasNode]:
        return [Forward(self)]

    def initialize(self) -> None:
        """Load torch and the weights."""
        # Heavy, and not everywhere: whoever describes this nodeset does without torch.
        try:
            from .network import load_inference  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise UnavailableError(
                f"policy_recurrent needs the package {error.name!r}, which its interpreter lacks; "
                "'wayfare nodesets --build policy_recurrent' makes an environment that has it"
            ) from error
        path = Path(self.weights or SHIPPED_WEIGHTS).expanduser()
        if not path.is_file():
            raise UnavailableError(
                f"policy_recurrent has no weights at {str(path)!r}; train them with "
                "'uv run scripts/train_recurrent.py', or set 'weights' to a file"
            )
        self.inference = load_inference(path)

    def get_inference(self) -> Any:
        if self.inference is None:
            raise RuntimeError("the weights are not loaded; initialize() loads them")
        return self.inference

    def sample_inputs(self, rng: np.random.Generator) -> dict[str, dict[str, Any]]:
        """Return one step of an agent that sees noise and remembers some."""
        return {
            "forward": {
                "rgb": rng.integers(0, 256, (60, 80, 3), dtype=np.uint8),
                "rnn_state": rng.standard_normal(STATE_SIZE, dtype=np.float32),
            }
        }
