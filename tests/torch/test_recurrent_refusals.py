"""What the recurrent policy refuses: weights and states that are not its network's.

Runs in an interpreter with torch; `tests/integration/nodesets` calls it there.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch: wayfare nodesets --build policy_recurrent")

from nodesets.policy_recurrent import SHIPPED_WEIGHTS, network

from nodeset import UnavailableError

RGB = np.zeros((1, 60, 80, 3), np.uint8)


@pytest.mark.parametrize("content", [b"", b"some text", "objects", "half", "bare"])
def test_a_file_that_is_no_npz_of_arrays_is_refused_without_advice(
    tmp_path: Path, content: bytes | str
) -> None:
    path = tmp_path / "weights.npz"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == "objects":
        np.savez(path, **{"choice.bias": np.array([{}], object)})
    elif content == "half":
        path.write_bytes(SHIPPED_WEIGHTS.read_bytes()[:5000])
    else:
        with path.open("wb") as file:
            np.save(file, np.zeros(3))

    with pytest.raises(UnavailableError, match=r"weights\.npz' cannot be read") as caught:
        network.load_inference(path)
    assert "allow_pickle" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "array", "said"),
    [
        ("choice.bias", None, "is missing"),
        ("other", np.zeros(3, np.float32), "is not of this network"),
        ("choice.bias", np.zeros(4, np.float32), r"is float32 \(4,\), and floating-point \(3,\)"),
        ("choice.bias", np.zeros(3, np.int8), r"is int8 \(3,\)"),
        ("choice.bias", np.full(3, math.nan, np.float32), "has 3 of 3 not finite"),
    ],
)
def test_an_array_that_is_not_the_networks_is_named(
    tmp_path: Path, name: str, array: Any, said: str
) -> None:
    with np.load(SHIPPED_WEIGHTS) as shipped:
        arrays: dict[str, Any] = {key: shipped[key] for key in shipped.files}
    arrays[name] = array
    np.savez(tmp_path / "w.npz", **{k: v for k, v in arrays.items() if v is not None})

    with pytest.raises(UnavailableError, match=f"'{name}' {said}"):
        network.load_inference(tmp_path / "w.npz")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (np.zeros((1, 47), np.float32), r"rnn_state is float32 \(47,\); it must be float32 \(48,"),
        (np.zeros((1, 48)), r"rnn_state is float64 \(48,\)"),
        (np.full((1, 48), math.nan, np.float32), "rnn_state has 48 values that are nan"),
    ],
)
def test_a_state_of_another_form_is_refused_with_what_is_due(state: Any, said: str) -> None:
    runner = network.load_inference(SHIPPED_WEIGHTS)

    with pytest.raises(ValueError, match=said):
        runner.step(RGB, state)


def test_a_state_that_the_tool_gave_is_taken() -> None:
    runner = network.load_inference(SHIPPED_WEIGHTS)

    _, state = runner.step(RGB, None)

    assert np.isfinite(runner.step(RGB, state)[0]).all()
