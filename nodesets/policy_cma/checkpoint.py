"""Load a published checkpoint of VLN-CE's CMA agent, strictly, and check that it is the file meant.

Knows the file's form, {"state_dict", "config"}; not what the network computes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import OrderedDict
from pathlib import Path
from typing import Any, Mapping

import torch
from torch import Tensor, nn

from nodeset import UnavailableError

from .network import Architecture
from .shape import CHECKPOINT_SOURCE as SOURCE
from .shape import EMBEDDINGS_SOURCE

# Checkpoints were written beside habitat-lab 0.1.x and yacs, whose settings are kinds of dict.
# These names are let in, as the one kind of dict with attributes that torch's safe reader fills.
SETTINGS_CLASSES = (
    (OrderedDict, "habitat.config.default.Config"),
    (OrderedDict, "habitat.config.Config"),
    (OrderedDict, "yacs.config.CfgNode"),
)
SAFE_READER_ERROR = "WeightsUnpickler error:"


class CheckpointError(UnavailableError):
    """A checkpoint is absent, is not the file that was meant, or does not fit the network."""


def read_checkpoint(path: Path, sha256: str = "") -> dict[str, Tensor]:
    """Return the `state_dict` in `path`. Raises CheckpointError.

    Nothing in the file is executed: tensors and plain settings are all that is let in.
    """
    if not path.is_file():
        raise CheckpointError(f"there is no checkpoint at {str(path)!r}; {SOURCE}")
    check_hash(path, sha256)
    try:
        with torch.serialization.safe_globals(list(SETTINGS_CLASSES)):
            content: Any = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a foreign file
        raise CheckpointError(
            f"checkpoint {str(path)!r} cannot be read ({tell(error)}); it must be a torch file "
            f"with 'state_dict' and 'config' as VLN-CE writes them. {SOURCE}"
        ) from error
    state = content.get("state_dict") if isinstance(content, Mapping) else None
    if not isinstance(state, Mapping):
        raise CheckpointError(
            f"checkpoint {str(path)!r} has no 'state_dict'; VLN-CE's have one. {SOURCE}"
        )
    return dict(state)


def tell(error: Exception) -> str:
    """Return the sentence that says what is wrong, without torch's advice to read it unsafely."""
    text = str(error)
    _, _, told = text.partition(SAFE_READER_ERROR)
    lines = (told or text).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def check_hash(path: Path, sha256: str) -> None:
    if not sha256:
        return
    found = hash_file(path)
    if found != sha256.lower():
        raise CheckpointError(
            f"checkpoint {str(path)!r} has SHA-256 {found}, and {sha256!r} is asked for; "
            "it is another file or a broken download: fetch it again, or correct the hash"
        )


def hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def infer_architecture(state: Mapping[str, Tensor]) -> Architecture:
    """Return the architecture that a state dict's shapes tell. Raises CheckpointError."""
    prefix = "net.instruction_encoder."
    try:
        vocabulary, embedding = state[prefix + "embedding_layer.weight"].shape
        hidden = state[prefix + "encoder_rnn.weight_hh_l0"].shape[1]
        actions = state["action_distribution.linear.weight"].shape[0]
    except KeyError as error:
        raise CheckpointError(
            f"the checkpoint lacks {error.args[0]!r}; it is not of VLN-CE's CMA agent "
            "(a Seq2Seq or waypoint checkpoint is of another network)"
        ) from None
    return Architecture(
        vocabulary=vocabulary,
        embedding=embedding,
        instruction_hidden=hidden,
        bidirectional=prefix + "encoder_rnn.weight_ih_l0_reverse" in state,
        actions=actions,
    )


def load_weights(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Load every parameter and no other. Raises CheckpointError, which names those that differ."""
    try:
        module.load_state_dict(state, strict=True)
    except RuntimeError as error:
        raise CheckpointError(
            f"the checkpoint does not fit VLN-CE's CMA network: {error}"
        ) from None


def read_embeddings(path: Path, shape: Architecture) -> Tensor:
    """Return the published word vectors, (vocabulary, embedding). Raises CheckpointError."""
    if not path.is_file():
        raise CheckpointError(f"there is no embedding file at {str(path)!r}; {EMBEDDINGS_SOURCE}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        table = torch.tensor(json.load(file), dtype=torch.float32)
    if tuple(table.shape) != (shape.vocabulary, shape.embedding):
        raise CheckpointError(
            f"embedding file {str(path)!r} is {tuple(table.shape)}; the network takes "
            f"({shape.vocabulary}, {shape.embedding}). {EMBEDDINGS_SOURCE}"
        )
    return table
