"""Run the CMA network for the rows of one call: arrays in, arrays out.

Knows torch and the weights; not how rows were put together.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

import numpy as np
import numpy.typing as npt
import torch

from . import checkpoint
from .network import HIDDEN, Architecture, CMAPolicy, View
from .shape import DEPTH_RANGE_M, check_result, check_values


class Inference:
    def __init__(self, network: CMAPolicy, actions: int) -> None:
        self.network = network
        self.actions = actions
        self.vocabulary = int(network.net.instruction_encoder.embedding_layer.num_embeddings)

    def step(self, inputs: Mapping[str, Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the logits (B, actions) and the following states (B, 2, 512).

        Raises ValueError for inputs or results that are no finite numbers or no tokens.
        """
        check_values(inputs, self.vocabulary)
        states = inputs.get("rnn_states")
        rows = len(inputs["tokens"])
        view = View(
            rgb=torch.tensor(inputs["rgb"]),
            depth=torch.tensor(np.clip(inputs["depth"], 0.0, DEPTH_RANGE_M) / DEPTH_RANGE_M),
            tokens=torch.tensor(inputs["tokens"].astype(np.int64)),
            prev_action=torch.tensor(self.read_actions(inputs.get("prev_action"), rows)),
            is_running=torch.tensor(inputs.get("not_done", [states is not None] * rows)),
        )
        memory = torch.zeros(rows, 2, HIDDEN) if states is None else torch.tensor(states)
        with torch.inference_mode():
            logits, following = self.network(view, memory.float())
        check_result(logits.numpy(), following.numpy())
        return logits.numpy(), following.numpy()

    def read_actions(self, actions: Any, rows: int) -> npt.NDArray[np.int64]:
        if actions is None:
            return np.zeros(rows, np.int64)
        numbers = [int(np.asarray(action).item()) for action in actions]
        for number in numbers:
            if not 0 <= number < self.actions:
                raise ValueError(
                    f"prev_action is {number}; this network has actions 0 to {self.actions - 1}: "
                    "carry the action that this tool gave"
                )
        return np.array(numbers, np.int64)


def load_inference(config: Mapping[str, Any]) -> Inference | None:
    """Return the network that `config` names; none if it names no weights."""
    if config["checkpoint"]:
        path = Path(str(config["checkpoint"])).expanduser()
        state = checkpoint.read_checkpoint(path, config["sha256"])
        shape = checkpoint.infer_architecture(state)
        network = CMAPolicy(shape).eval()
        checkpoint.load_weights(network, state)
    elif int(config["random_weights"]) >= 0:
        shape = Architecture(bidirectional=bool(config["bidirectional"]))
        network = make_random_network(shape, int(config["random_weights"]))
    else:
        return None
    if config["embeddings"]:
        table = checkpoint.read_embeddings(Path(str(config["embeddings"])).expanduser(), shape)
        network.net.instruction_encoder.embedding_layer.weight.data.copy_(table)
    return Inference(network, shape.actions)


def make_random_network(shape: Architecture, seed: int) -> CMAPolicy:
    """Return an untrained network, the same for the same seed, without touching global state."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return CMAPolicy(shape).eval()
