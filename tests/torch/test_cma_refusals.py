"""What VLN-CE's CMA policy refuses: files that are none of its, and values that mean nothing.

Runs in an interpreter with torch; `tests/integration/nodesets` calls it there.
"""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: wayfare nodesets --build policy_cma")

from nodesets.policy_cma import checkpoint, inference  # noqa: E402
from nodesets.policy_cma.network import Architecture, CMAPolicy  # noqa: E402

EMBEDDING = "net.instruction_encoder.embedding_layer.weight"
HEAD = "action_distribution.linear.weight"


@pytest.fixture(scope="module")
def policy() -> CMAPolicy:
    return inference.make_random_network(Architecture(), seed=0)


def write(folder: Path, state: Any) -> Path:
    torch.save({"state_dict": state, "config": {}}, folder / "ckpt.pth")
    return folder / "ckpt.pth"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (HEAD, torch.tensor(1.0)),
        (HEAD, "text"),
        (HEAD, torch.zeros(0, 512)),
        (EMBEDDING, torch.zeros(4)),
        (12, torch.zeros(4)),
        (HEAD, torch.zeros(4, 512, dtype=torch.int8)),
        (HEAD, torch.zeros(4, 512, dtype=torch.complex64)),
        (HEAD, torch.full((4, 512), math.nan)),
        (HEAD, torch.full((4, 512), math.inf)),
    ],
)
def test_a_checkpoint_with_a_weight_of_another_kind_is_refused_by_its_name(
    tmp_path: Path, policy: CMAPolicy, name: Any, value: Any
) -> None:
    path = write(tmp_path, {**policy.state_dict(), name: value})

    with pytest.raises(checkpoint.CheckpointError) as caught:
        inference.load_inference({"checkpoint": str(path), "sha256": "", "embeddings": ""})
    assert repr(name) in str(caught.value)


def test_a_weight_that_is_not_finite_is_counted(tmp_path: Path, policy: CMAPolicy) -> None:
    weight = policy.state_dict()[HEAD].clone()
    weight[0, :3] = math.nan

    with pytest.raises(checkpoint.CheckpointError, match="has 3 of 2048 not finite"):
        checkpoint.read_checkpoint(write(tmp_path, {HEAD: weight}))


def test_a_hash_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(checkpoint.CheckpointError, match="'sha256' is 12; it must be text"):
        checkpoint.read_checkpoint(write(tmp_path, {}), 12)  # type: ignore[arg-type]


class Trap:
    def __reduce__(self) -> Any:
        return Path.touch, (Path("ran"),)


@pytest.mark.parametrize("content", [Trap(), b"plain text", None])
def test_no_refusal_advises_to_read_a_file_unsafely(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "ckpt.pth"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        torch.save({"state_dict": {}, "config": content} if content else b"", path)

    with pytest.raises(checkpoint.CheckpointError) as caught:
        checkpoint.read_checkpoint(path)
    for advice in ("weights_only", "safe_globals", "allowlist"):
        assert advice not in str(caught.value)
    assert not isinstance(content, Trap) or "isn't loaded, because" in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"no gzip", *map(gzip.compress, (b"{", b"[[1, 2], [3]]", b'{"a": [1]}', b"[[NaN, 1]]"))],
)
def test_an_embedding_file_of_another_form_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "embeddings.json.gz"
    path.write_bytes(content)

    with pytest.raises(checkpoint.CheckpointError, match=r"embedding file .*embeddings"):
        checkpoint.read_embeddings(path, Architecture(vocabulary=1, embedding=2))


@pytest.fixture(scope="module")
def runner(policy: CMAPolicy) -> inference.Inference:
    return inference.Inference(policy, actions=4)


def make_row() -> dict[str, Any]:
    return {
        "rgb": np.zeros((1, 224, 224, 3), np.uint8),
        "depth": np.ones((1, 256, 256), np.float32),
        "tokens": np.full((1, 200), 7, np.int64),
        "rnn_states": np.zeros((1, 2, 512), np.float32),
    }


@pytest.mark.parametrize("token", [-1, 2504, 7.7, math.nan])
def test_a_token_outside_the_table_is_refused_with_the_range(
    runner: inference.Inference, token: float
) -> None:
    row = make_row()
    row["tokens"] = np.full((1, 200), token)

    with pytest.raises(ValueError, match=r"tokens has .*(numbers 0 to 2503|finite numbers)"):
        runner.step(row)


@pytest.mark.parametrize("port", ["rgb", "depth", "rnn_states"])
def test_an_input_that_is_no_number_is_refused(runner: inference.Inference, port: str) -> None:
    row = make_row()
    row[port] = np.where(np.zeros(row[port].shape), row[port], np.float32(math.nan))

    with pytest.raises(ValueError, match=f"{port} has .* values that are nan"):
        runner.step(row)


def test_logits_that_are_not_finite_are_no_action(policy: CMAPolicy) -> None:
    broken = inference.make_random_network(Architecture(), seed=0)
    broken.action_distribution.linear.bias.data[0] = math.nan

    with pytest.raises(ValueError, match="logits have 1 values that are nan"):
        inference.Inference(broken, actions=4).step(make_row())
