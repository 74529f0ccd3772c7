"""Calls are told apart by all that a handler sees, and picked from all that there are."""

from __future__ import annotations

import numpy as np

from nodeset.context import EpisodeContext
from wayfare.evals.check.material import ProbeCall, pick_calls


def call(number: int, **changes: object) -> ProbeCall:
    fields = {"tool": "act", "inputs": {"x": number}, **changes}
    return ProbeCall(**fields)  # type: ignore[arg-type]


def test_equal_calls_are_picked_once_and_others_of_their_tool_spread() -> None:
    calls = [call(n // 2) for n in range(200)]

    picked = pick_calls(calls, 4)

    assert [found.inputs["x"] for found in picked["act"]] == [0, 25, 50, 75]


def test_calls_of_other_seeds_and_episodes_are_other_calls() -> None:
    other = EpisodeContext(index=1, id="1")
    calls = [call(0), call(0, seed=1), call(0, episode=other), call(0, config={"k": 1})]
    assert len(pick_calls(calls, 9)["act"]) == 4


def test_a_call_is_written_with_its_inputs_cut_short() -> None:
    text = str(call(0, inputs={"image": np.zeros((2, 2, 3), np.uint8), "words": "go " * 50}))
    assert "image=ndarray of shape (2, 2, 3)" in text
    assert "words='go go" in text
    assert len(text) < 160
