"""The recurrent network, and how pictures enter it.

Knows torch; neither ports nor how the weights came about.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nodeset import UnavailableError

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
        """Return logits (B, 3) and states (B, 48) for pictures (B, H, W, 3).

        Raises ValueError for a state of another form, and for results that are not finite.
        """
        if state is not None:
            check_state(state)
        seen = torch.from_numpy(shrink(rgb))
        memory = torch.zeros(len(rgb), STATE_SIZE) if state is None else torch.tensor(state)
        with torch.inference_mode():
            logits, following = self.network(seen, memory)
        if not (torch.isfinite(logits).all() and torch.isfinite(following).all()):
            raise ValueError(
                "the network's logits or rnn_state are not finite; no action follows from them: "
                "check the weights"
            )
        return logits.numpy(), following.numpy()


def check_state(state: Any) -> None:
    """Raise ValueError for a recurrent state that this network did not give."""
    if state.shape[1:] != (STATE_SIZE,) or state.dtype != np.float32:
        raise ValueError(
            f"rnn_state is {state.dtype} {state.shape[1:]}; it must be float32 ({STATE_SIZE},): "
            "carry the rnn_state that this tool gave"
        )
    wrong = ~np.isfinite(state)
    if wrong.any():
        raise ValueError(
            f"rnn_state has {int(wrong.sum())} values that are {state[wrong][0]}; it must be "
            "finite: carry the rnn_state that this tool gave"
        )


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
    """Return the network with the weights of an `.npz` file. Raises UnavailableError."""
    network = RecurrentPolicy()
    arrays = read_arrays(path)
    due = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    for name in sorted({*due, *arrays}):
        check_array(path, name, arrays.get(name), due=due.get(name))
    network.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    return Inference(network)


def read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    # numpy's own text advises to allow what would run code of the file's.
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("it is no zip archive")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        reason = "it holds Python objects" if "allow_pickle" in str(error) else str(error)
        raise UnavailableError(
            f"weights {str(path)!r} cannot be read ({reason}); they must be an .npz file of plain "
            "arrays, as scripts/train_recurrent.py writes it; without 'weights' it takes its own"
        ) from error


def check_array(path: Path, name: str, array: Any, *, due: tuple[int, ...] | None) -> None:
    """Raise UnavailableError for an array that is not what the network has under that name."""
    if array is None:
        wrong = "is missing"
    elif due is None:
        wrong = "is not of this network"
    elif array.dtype.kind != "f" or array.shape != due:
        wrong = f"is {array.dtype} {array.shape}, and floating-point {due} is due"
    elif not np.isfinite(array).all():
        wrong = f"has {int((~np.isfinite(array)).sum())} of {array.size} not finite"
    else:
        return
    raise UnavailableError(
        f"weights {str(path)!r}: {name!r} {wrong}; every array must be the network's own: train "
        "them with 'uv run scripts/train_recurrent.py', or leave 'weights' empty"
    )


def save_weights(network: RecurrentPolicy, path: Path) -> None:
    np.savez_compressed(path, **{k: v.numpy() for k, v in network.state_dict().items()})
