"""VLN-CE's CMA network: its published shape, its checkpoints, and what other rows do to a row.

Runs in an interpreter with torch; `tests/integration/nodesets` calls it there.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: wayfare nodesets --build policy_cma")

from nodesets.policy_cma import checkpoint, inference  # noqa: E402
from nodesets.policy_cma.network import Architecture, CMAPolicy  # noqa: E402

from nodeset import UnavailableError  # noqa: E402

ROWS = 8
PARAMETERS = 36_856_021
BLOCKS = (3, 4, 6, 3)


def normalised(prefix: str, channels: int, *, batch: bool) -> dict[str, tuple[int, ...]]:
    names: dict[str, tuple[int, ...]] = {
        f"{prefix}.weight": (channels,),
        f"{prefix}.bias": (channels,),
    }
    if batch:
        names[f"{prefix}.running_mean"] = names[f"{prefix}.running_var"] = (channels,)
        names[f"{prefix}.num_batches_tracked"] = ()
    return names


def resnet50(prefix: str, planes: int, *, is_depth: bool) -> dict[str, tuple[int, ...]]:
    """The bottlenecks of a ResNet-50 (He et al., 2016), under torchvision's or DD-PPO's names."""
    layers = ("convs.0", "convs.3", "convs.6") if is_depth else ("conv1", "conv2", "conv3")
    norms = ("convs.1", "convs.4", "convs.7") if is_depth else ("bn1", "bn2", "bn3")
    table: dict[str, tuple[int, ...]] = {}
    before = planes
    for stage, blocks in enumerate(BLOCKS):
        name = f"{prefix}layer{stage + 1}" if is_depth else f"{prefix}{stage + 4}"
        width, after = planes << stage, planes << stage << 2
        for block in range(blocks):
            shapes = ((width, before, 1, 1), (width, width, 3, 3), (after, width, 1, 1))
            for layer, norm, shape in zip(layers, norms, shapes, strict=True):
                table[f"{name}.{block}.{layer}.weight"] = shape
                table |= normalised(f"{name}.{block}.{norm}", shape[0], batch=not is_depth)
            if block == 0:
                table[f"{name}.0.downsample.0.weight"] = (after, before, 1, 1)
                table |= normalised(f"{name}.0.downsample.1", after, batch=not is_depth)
            before = after
    return table


def recurrent(prefix: str, gates: int, hidden: int, inputs: int) -> dict[str, tuple[int, ...]]:
    rows = gates * hidden
    return {
        f"{prefix}.weight_ih_l0": (rows, inputs),
        f"{prefix}.weight_hh_l0": (rows, hidden),
        f"{prefix}.bias_ih_l0": (rows,),
        f"{prefix}.bias_hh_l0": (rows,),
    }


def affine(prefix: str, *shape: int) -> dict[str, tuple[int, ...]]:
    return {f"{prefix}.weight": shape, f"{prefix}.bias": shape[:1]}


def published_table() -> dict[str, tuple[int, ...]]:
    """Every entry of a released bidirectional CMA checkpoint's `state_dict`, from the paper."""
    text, rgb, depth = 2 * 128, 2048 + 64, 128 + 64
    forward = recurrent("net.instruction_encoder.encoder_rnn", 4, 128, 50)
    table = {**forward, **{f"{name}_reverse": shape for name, shape in forward.items()}}
    table["net.instruction_encoder.embedding_layer.weight"] = (2504, 50)
    seen = "net.depth_encoder.visual_encoder"
    table[f"{seen}.backbone.conv1.0.weight"] = (32, 1, 7, 7)
    table |= normalised(f"{seen}.backbone.conv1.1", 32, batch=False)
    table |= resnet50(f"{seen}.backbone.", 32, is_depth=True)
    table[f"{seen}.compression.0.weight"] = (128, 1024, 3, 3)
    table |= normalised(f"{seen}.compression.1", 128, batch=False)
    table["net.rgb_encoder.cnn.0.weight"] = (64, 3, 7, 7)
    table |= normalised("net.rgb_encoder.cnn.1", 64, batch=True)
    table |= resnet50("net.rgb_encoder.cnn.", 64, is_depth=False)
    table["net.depth_encoder.spatial_embeddings.weight"] = (16, 64)
    table["net.rgb_encoder.spatial_embeddings.weight"] = (16, 64)
    table["net.prev_action_embedding.weight"] = (5, 32)
    table |= affine("net.rgb_linear.2", 256, rgb) | affine("net.depth_linear.1", 128, depth * 16)
    table |= recurrent("net.state_encoder.rnn", 3, 512, 256 + 128 + 32)
    table |= affine("net.rgb_kv", 256 + 256, rgb, 1) | affine("net.depth_kv", 256 + 128, depth, 1)
    table |= affine("net.state_q", 256, 512) | affine("net.text_q", 256, text)
    table |= affine("net.text_k", 256, text, 1) | {"net._scale": ()}
    table |= affine("net.second_state_compress.0", 512, 512 + text + 256 + 128 + 32)
    table |= recurrent("net.second_state_encoder.rnn", 3, 512, 512)
    table |= affine("net.progress_monitor", 1, 512)
    return table | affine("action_distribution.linear", 4, 512)


@pytest.fixture(scope="module")
def policy() -> CMAPolicy:
    return inference.make_random_network(Architecture(), seed=0)


@pytest.fixture(scope="module")
def runner(policy: CMAPolicy) -> inference.Inference:
    return inference.Inference(policy, actions=4)


def make_rows(count: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    words = np.zeros((count, 200), np.int64)
    for row in words:
        length = int(rng.integers(3, 60))
        row[:length] = rng.integers(2, 2504, length)
    return {
        "rgb": rng.integers(0, 256, (count, 224, 224, 3), dtype=np.uint8),
        "depth": rng.random((count, 256, 256), dtype=np.float32) * 12,
        "tokens": words,
        "rnn_states": rng.standard_normal((count, 2, 512), dtype=np.float32),
        "prev_action": [int(action) for action in rng.integers(0, 4, count)],
        "not_done": [bool(flag) for flag in rng.integers(0, 2, count)],
    }


def take(rows: dict[str, Any], order: list[int]) -> dict[str, Any]:
    return {
        port: value[order] if isinstance(value, np.ndarray) else [value[i] for i in order]
        for port, value in rows.items()
    }


def test_names_shapes_and_count_are_the_published_ones(policy: CMAPolicy) -> None:
    found = {name: tuple(value.shape) for name, value in policy.state_dict().items()}

    assert found == published_table()
    assert sum(parameter.numel() for parameter in policy.parameters()) == PARAMETERS


def test_the_attention_scale_is_a_buffer_of_one_sixteenth(policy: CMAPolicy) -> None:
    assert dict(policy.named_buffers())["net._scale"].item() == 1 / 16


def test_rows_at_once_equal_one_by_one(runner: inference.Inference) -> None:
    rows = make_rows(ROWS)

    logits, states = runner.step(rows)
    alone = [runner.step(take(rows, [index])) for index in range(ROWS)]

    assert np.abs(logits - np.concatenate([one[0] for one in alone])).max() < 1e-5
    assert np.abs(states - np.concatenate([one[1] for one in alone])).max() < 1e-5


def test_a_row_of_a_full_batch_has_the_same_bits_wherever_it_stands(
    runner: inference.Inference,
) -> None:
    rows = make_rows(ROWS)
    others = make_rows(ROWS, seed=1)
    mixed = {port: value.copy() for port, value in others.items()}
    for port, values in mixed.items():
        values[5] = rows[port][2]

    first, second = runner.step(rows), runner.step(mixed)

    assert (first[0][2] == second[0][5]).all()
    assert (first[1][2] == second[1][5]).all()


def test_an_episodes_first_step_ignores_state_and_action(runner: inference.Inference) -> None:
    rows = make_rows(1)
    bare = {port: rows[port] for port in ("rgb", "depth", "tokens")}

    fresh = runner.step({**rows, "not_done": [False]})
    absent = runner.step(bare)

    assert (fresh[0] == absent[0]).all()
    assert (runner.step({**rows, "not_done": [True]})[0] != absent[0]).any()


def test_depth_beyond_ten_metres_counts_as_ten(runner: inference.Inference) -> None:
    near = make_rows(1)
    near["depth"] = np.full((1, 256, 256), 10, np.float32)
    far = {**near, "depth": np.full((1, 256, 256), 80, np.float32)}

    assert (runner.step(near)[0] == runner.step(far)[0]).all()


def test_an_action_that_the_network_does_not_have_is_refused(runner: inference.Inference) -> None:
    with pytest.raises(ValueError, match="prev_action is 4; this network has actions 0 to 3"):
        runner.step({**make_rows(1), "prev_action": [4]})


def write_checkpoint(path: Path, policy: CMAPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write what VLN-CE's trainer writes, its configuration class included."""
    module = types.ModuleType("habitat.config.default")
    config = type("Config", (dict,), {"__module__": module.__name__})
    module.Config = config  # type: ignore[attr-defined]
    for name in ("habitat", "habitat.config"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    settings = config(MODEL=config(policy_name="CMAPolicy", ablate_rgb=False))
    settings.__dict__["__immutable__"] = True
    torch.save({"state_dict": policy.state_dict(), "config": settings}, path)
    monkeypatch.undo()


def test_a_checkpoint_loads_strictly(
    tmp_path: Path, runner: inference.Inference, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ckpt.pth"
    write_checkpoint(path, runner.network, monkeypatch)
    config = {"checkpoint": str(path), "sha256": checkpoint.hash_file(path), "embeddings": ""}

    loaded = inference.load_inference(config)

    rows = make_rows(2)
    assert loaded is not None
    assert (loaded.step(rows)[0] == runner.step(rows)[0]).all()


def test_a_checkpoint_of_one_direction_is_known_by_its_shapes(tmp_path: Path) -> None:
    shape = Architecture(bidirectional=False)
    path = tmp_path / "ckpt.pth"
    torch.save({"state_dict": CMAPolicy(shape).state_dict(), "config": {}}, path)

    assert checkpoint.infer_architecture(checkpoint.read_checkpoint(path)) == shape


def test_a_checkpoint_with_another_hash_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ckpt.pth").write_bytes(b"half a download")

    with pytest.raises(UnavailableError, match=r"has SHA-256 .*, and 'abc' is asked for"):
        checkpoint.read_checkpoint(tmp_path / "ckpt.pth", "abc")


def test_a_checkpoint_that_would_run_code_is_refused(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "ran",)

    torch.save({"state_dict": {}, "config": Trap()}, tmp_path / "ckpt.pth")

    with pytest.raises(UnavailableError, match="cannot be read"):
        checkpoint.read_checkpoint(tmp_path / "ckpt.pth")
    assert not (tmp_path / "ran").exists()


def test_a_checkpoint_that_lacks_a_parameter_names_it(tmp_path: Path, policy: CMAPolicy) -> None:
    state = policy.state_dict()
    del state["net.state_q.bias"]

    with pytest.raises(UnavailableError, match=r"net\.state_q\.bias"):
        checkpoint.load_weights(CMAPolicy(Architecture()), state)


def test_a_missing_checkpoint_says_where_it_comes_from(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="Baseline Model Zoo"):
        checkpoint.read_checkpoint(tmp_path / "absent.pth")
