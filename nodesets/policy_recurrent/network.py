"""The recurrent network, and how pictures enter it.

Knows torch; neither ports nor how the weights came about.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

ROWS, COLUMNS = 12, 16
FEATURES = 64
STATE_SIZE = 48
ACTIONS = 3


class RecurrentPolicy(nn.Module):
    """A picture's 12x16 colours -> 64 features -> a GRU of 48 -> a logit per action."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Linear(ROWS * COLUMNS * 3, FEATURES)
        self.memory = nn.GRUCell(FEATURES, STATE_SIZE)
        self.choice = nn.Linear(STATE_SIZE, ACTIONS)

    def forward(self, seen: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Take one step: seen (B, 576), state (B, 48); return logits and the next state."""
        following = self.memory(torch.relu(self.features(seen)), state)
        return self.choice(following), following


class Inference:
    def __init__(self, network: RecurrentPolicy) -> None:
        self.network = network.eval()

    def step(self, rgb: Any, state: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return logits (B, 3) and states (B, 48) for pictures (B, H, W, 3)."""
        seen = torch.from_numpy(shrink(rgb))
        memory = torch.zeros(len(rgb), STATE_SIZE) if state is None else torch.tensor(state)
        with torch.inference_mode():
            logits, following = self.network(seen, memory)
        return logits.numpy(), following.numpy()


def shrink(rgb: Any) -> npt.NDArray[np.float32]:
    """Return each picture's mean colours on a 12x16 grid, centred, (B, 576).

    Sums of whole numbers are exact, so a row does not depend on the rows beside it. Raises
    ValueError for a size that the grid does not divide.
    """
    batch, height, width, _ = rgb.shape
    if height % ROWS or width % COLUMNS:
        raise ValueError(
            f"rgb is {height}x{width}; height and width must be multiples of {ROWS} and {COLUMNS}"
        )
    tall, wide = height // ROWS, width // COLUMNS
    cells = np.asarray(rgb).reshape(batch, ROWS, tall, COLUMNS, wide, 3)
    sums = cells.sum(axis=(2, 4), dtype=np.int64).reshape(batch, -1)
    return (sums / (255.0 * tall * wide) - 0.5).astype(np.float32)


def load_inference(path: Path) -> Inference:
    with np.load(path, allow_pickle=False) as archive:
        state = {name: torch.from_numpy(archive[name]) for name in archive.files}
    network = RecurrentPolicy()
    network.load_state_dict(state, strict=True)
    return Inference(network)


def save_weights(network: RecurrentPolicy, path: Path) -> None:
    np.savez_compressed(path, **{k: v.numpy() for k, v in network.state_dict().items()})
