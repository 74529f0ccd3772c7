"""Load a published checkpoint of VLN-CE's CMA agent, strictly, and check that it is the file meant.

Knows the file's form, {"state_dict", "config"}; not what the network computes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import Any, Mapping

import numpy as np
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
FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
COUNTER = ".num_batches_tracked"  # batch normalisation's, the one whole number among the weights
FOREIGN_NAME = re.compile(r"GLOBAL ([\w.]+)")


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
    check_state(path, state)
    return dict(state)


def check_state(path: Path, state: Mapping[Any, Any]) -> None:
    """Raise CheckpointError for what is no finite floating-point tensor under a name."""
    for name, value in state.items():
        wrong = ""
        if not isinstance(name, str) or not isinstance(value, Tensor):
            wrong = f"is a {type(value).__name__} under a {type(name).__name__}"
        elif name.endswith(COUNTER):
            wrong = "" if value.dtype == torch.int64 else f"is {value.dtype}"
        elif value.dtype not in FLOATING or value.layout != torch.strided:
            wrong = f"is {value.dtype} ({value.layout})"
        elif not torch.isfinite(value).all():
            wrong = f"has {int((~torch.isfinite(value)).sum())} of {value.numel()} not finite"
        if wrong:
            raise CheckpointError(
                f"checkpoint {str(path)!r}: {name!r} {wrong}; every weight must be a dense tensor "
                f"of finite floating-point numbers under its name. {SOURCE}"
            )


def tell(error: Exception) -> str:
    """Return the sentence that says what is wrong, without torch's advice to read it unsafely."""
    text = str(error)
    found = FOREIGN_NAME.search(text)
    if found:
        return (
            f"it holds {found.group(1)!r}; such a file isn't loaded, because only tensors and "
            "plain settings can be read without running code of the file's"
        )
    if type(error).__name__ == "UnpicklingError" or "weights_only" in text:
        return "it holds something else than tensors and plain settings"
    lines = text.strip().splitlines()
    return lines[0] if lines else type(error).__name__


def check_hash(path: Path, sha256: Any) -> None:
    if sha256 in ("", None):
        return
    if not isinstance(sha256, str):
        raise CheckpointError(
            f"'sha256' is {sha256!r}; it must be text, the 64 hexadecimal digits of checkpoint "
            f"{str(path)!r}: set --set nodesets.policy_cma.sha256=HASH, in quotes if it is all "
            "digits, or leave it empty"
        )
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
    vocabulary, embedding = matrix_shape(state, prefix + "embedding_layer.weight")
    _, hidden = matrix_shape(state, prefix + "encoder_rnn.weight_hh_l0")
    actions, _ = matrix_shape(state, "action_distribution.linear.weight")
    return Architecture(
        vocabulary=vocabulary,
        embedding=embedding,
        instruction_hidden=hidden,
        bidirectional=prefix + "encoder_rnn.weight_ih_l0_reverse" in state,
        actions=actions,
    )


def matrix_shape(state: Mapping[str, Tensor], name: str) -> tuple[int, int]:
    """Return the sizes of a weight that is a matrix. Raises CheckpointError."""
    if name not in state:
        raise CheckpointError(
            f"the checkpoint lacks {name!r}; it is not of VLN-CE's CMA agent "
            f"(a Seq2Seq or waypoint checkpoint is of another network). {SOURCE}"
        )
    shape = tuple(state[name].shape)
    if len(shape) != 2 or 0 in shape:
        raise CheckpointError(
            f"the checkpoint's {name!r} has shape {shape}; it must be a matrix with at least one "
            f"row and one column, as VLN-CE's CMA agent has it. {SOURCE}"
        )
    return shape[0], shape[1]


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
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            table = np.array(json.load(file), np.float32)
    except (OSError, EOFError, ValueError, TypeError, zlib.error) as error:
        raise CheckpointError(
            f"embedding file {str(path)!r} cannot be read ({error}); it must be gzipped JSON, a "
            f"list of vectors of equal length. {EMBEDDINGS_SOURCE}"
        ) from error
    if not np.isfinite(table).all():
        raise CheckpointError(
            f"embedding file {str(path)!r} has {int((~np.isfinite(table)).sum())} numbers that are "
            f"not finite; all must be. {EMBEDDINGS_SOURCE}"
        )
    if tuple(table.shape) != (shape.vocabulary, shape.embedding):
        raise CheckpointError(
            f"embedding file {str(path)!r} is {tuple(table.shape)}; the network takes "
            f"({shape.vocabulary}, {shape.embedding}). {EMBEDDINGS_SOURCE}"
        )
    return torch.from_numpy(table)
