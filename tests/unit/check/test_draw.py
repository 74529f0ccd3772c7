"""Drawn actions are legal, and drawn values are what their ports take."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nodeset.ports import WIRE_TYPES, PortDef, accept
from wayfare.evals.check.draw import (
    ACTION_KINDS,
    UnknownSpaceError,
    draw_action,
    draw_unknown_action,
    draw_value,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("wire_type", [*WIRE_TYPES, "LIST[TEXT]"])
def test_a_drawn_value_is_one_that_its_port_takes(wire_type: str) -> None:
    port = PortDef("value", wire_type)
    accept(port, draw_value(port, rng()), "test")


@pytest.mark.parametrize("kind", ACTION_KINDS)
def test_an_unknown_action_is_passive_and_the_same_for_the_same_seed(kind: str) -> None:
    one, other = (draw_unknown_action(kind, rng(3)) for _ in range(2))
    accept(PortDef("action", "ACTION"), one, "test")
    assert np.array_equal(one, other)


def test_actions_of_the_documented_space_are_legal(repo_root: Path) -> None:
    space = json.loads((repo_root / "docs" / "snippets" / "action_space.json").read_text())
    for seed in range(50):
        action = draw_action(space, rng(seed))
        assert action["turn"] in range(3)
        assert action["push"].dtype == np.float32
        assert -1 <= action["push"][0] <= 0.5
        assert action["push"][1] >= -1


@pytest.mark.parametrize(
    ("space", "legal"),
    [
        ({"kind": "discrete", "n": 2, "start": 5}, {5, 6}),
        ({"kind": "text", "min_length": 2, "max_length": 2, "characters": "a"}, {"aa"}),
    ],
)
def test_every_legal_action_is_drawn_and_no_other(space: dict[str, object], legal: object) -> None:
    assert {draw_action(space, rng(seed)) for seed in range(40)} == legal


def test_lists_of_actions_keep_their_parts() -> None:
    discrete = {"kind": "discrete", "n": 1, "start": 0}
    many = {"kind": "multi_discrete", "nvec": [1, 1], "start": [4, 5], "dtype": "<i8"}
    bits = {"kind": "multi_binary", "shape": [3]}
    one, two, three = draw_action({"kind": "tuple", "spaces": [discrete, many, bits]}, rng())
    assert (one, two.tolist(), three.shape) == (0, [4, 5], (3,))


def test_a_space_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownSpaceError, match="'graph'"):
        draw_action({"kind": "graph"}, rng())
