"""Without padding the number of rows changes a policy's last bits; with it, it never does."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.deadline import HANG_SECONDS

POLICY = """
from nodeset import BaseCanvasNode, BaseNodeSet, Deployment, PortDef
import numpy as np
{imports}

class Score(BaseCanvasNode):
    node_type = "policy_bits__score"
    input_ports = [PortDef("seen", "ARRAY")]
    output_ports = [PortDef("scores", "ARRAY"), PortDef("action", "INT")]
    batched = True
    batch_dim = "seen"
    {bits}

    def __init__(self, nodeset):
        self.nodeset = nodeset

    def forward(self, inputs, ctx):
        scores = self.nodeset.score(inputs["seen"])
        return {{"scores": scores, "action": scores.argmax(axis=1).tolist()}}

class BitsNodeSet(BaseNodeSet):
    name = "policy_bits"
    parallelism = "shared"
    deployment = Deployment({deployment})

    def get_tools(self):
        return [Score(self)]

    def initialize(self):
        weights = np.random.default_rng(0).normal(size=(512, 256)).astype(np.float32)
        {start}

    def score(self, seen):
        return {score}

    def sample_inputs(self, rng):
        return {{"score": {{"seen": rng.normal(size=512).astype(np.float32)}}}}
"""
NUMPY = {
    "imports": "",
    "deployment": "threads=2",
    "start": "self.weights = weights",
    "score": "seen @ self.weights",
}
TORCH = {
    "imports": "import torch",
    "start": "self.weights = torch.from_numpy(weights.T.copy())",
    "score": "torch.nn.functional.linear(torch.from_numpy(seen.copy()), self.weights).numpy()",
}
FRAMEWORKS = ("numpy", "torch")


def find_torch() -> Path | None:
    """Look for an interpreter that has torch in the folders of WAYFARE_PYTHONS."""
    for folder in os.environ.get("WAYFARE_PYTHONS", "").split(os.pathsep):
        python = Path(folder) / "python"
        if folder and python.exists():
            command = [str(python), "-c", "import torch, numpy, msgpack, xxhash"]
            if subprocess.run(command, capture_output=True, timeout=HANG_SECONDS).returncode == 0:
                return python
    return None


@pytest.fixture(params=FRAMEWORKS)
def parts(request: pytest.FixtureRequest) -> dict[str, str]:
    """Give what makes a policy of one framework."""
    if request.param == "numpy":
        return NUMPY
    python = find_torch()
    if python is None:
        pytest.skip(
            "no interpreter with torch: make one with `uv venv torch && uv pip install "
            "--python torch/bin/python torch numpy msgpack xxhash` and name torch/bin in "
            "WAYFARE_PYTHONS"
        )
    return {**TORCH, "deployment": f"python={str(python)!r}, threads=2"}


@pytest.fixture
def check(
    wayfare: Any, workspace: Callable[[str, str], Path], parts: dict[str, str]
) -> Callable[..., dict[str, Any]]:
    """Give a function that checks a policy with these bits declared."""

    def run(bits: str, *, status: int) -> dict[str, Any]:
        folder = workspace("policy_bits.py", POLICY.format(**parts, bits=bits))
        answer = wayfare.run("check", "policy_bits", "--json", "--workspace", str(folder))
        assert answer.status == status, answer.out + answer.err
        document: dict[str, Any] = answer.document
        return document

    return run


def test_without_padding_the_number_of_rows_changes_bits(
    check: Callable[..., dict[str, Any]],
) -> None:
    document = check("", status=1)

    (batch,) = (p for p in document["properties"] if p["verdict"] == "fail")
    (example,) = batch["examples"]
    assert (batch["name"], example["port"]) == ("batch", "scores")
    assert example["a"] != example["b"]
    assert "set pad_batch" in example["cause"]
    assert document["threads"] == "2"


def test_with_padding_it_never_does(check: Callable[..., dict[str, Any]]) -> None:
    document = check("pad_batch = 8", status=0)

    (tool,) = document["tools"]
    assert (tool["claim"], tool["pad_batch"]) == ("padded", 8)
    assert tool["largest_difference"] == 0


def test_a_tolerance_claims_nothing_and_the_difference_is_told(
    check: Callable[..., dict[str, Any]],
) -> None:
    document = check("batch_tolerance = 1e-3", status=0)

    (tool,) = document["tools"]
    assert (tool["claim"], tool["batch_tolerance"]) == ("not claimed", 1e-3)
    assert 0 < tool["largest_difference"] <= 1e-3
    (batch,) = (p for p in document["properties"] if p["name"] == "batch")
    assert "tolerance 0.001, largest difference" in batch["says"]
