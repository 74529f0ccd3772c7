"""What `env_gymnax` refuses before JAX sees it: settings, and actions outside the action space."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nodesets.env_gymnax.action import read_actions

from nodeset import UnavailableError
from nodeset.loading import load_nodeset

DISCRETE = {"kind": "discrete", "n": 2, "start": 0}
BOX = {"kind": "box", "low": [-1.0, -1.0], "high": [1.0, 1.0], "shape": [2], "dtype": "<f4"}


@pytest.mark.parametrize("action", [7, -1, 0.7, math.nan, "left", [0, 1]])
def test_an_action_that_is_not_discrete_is_refused_with_its_value(action: Any) -> None:
    with pytest.raises(ValueError, match="action is ") as caught:
        read_actions([0, action], DISCRETE, is_clipped=False)
    assert repr(action) in str(caught.value)


@pytest.mark.parametrize("action", [0, 1.0, np.int64(1), np.array(1)])
def test_a_whole_number_of_any_kind_is_an_action(action: Any) -> None:
    assert read_actions([action], DISCRETE, is_clipped=False).tolist() == [int(action)]


@pytest.mark.parametrize("is_clipped", [False, True])
def test_a_box_takes_what_lies_outside_only_where_the_environment_clips(is_clipped: bool) -> None:
    actions = np.array([[0.5, 1.0], [0.0, 1.5]], np.float32)

    if is_clipped:
        assert (read_actions(actions, BOX, is_clipped=True) == actions).all()
    else:
        with pytest.raises(ValueError, match=r"action is \[0.0, 1.5\].*must lie within"):
            read_actions(actions, BOX, is_clipped=False)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_box_takes_no_number_that_is_not_finite(value: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        read_actions(np.array([[0.0, value]]), BOX, is_clipped=True)


@pytest.mark.parametrize(
    ("key", "value"),
    [("pad_batch", 1.5), ("pad_batch", "x"), ("pad_batch", -1), ("max_steps", 0), ("episodes", 0)],
)
def test_a_setting_that_is_no_such_number_is_refused(
    repo_root: Path, key: str, value: object
) -> None:
    with pytest.raises(UnavailableError, match=f"{key!r} is {value!r}; it must be a whole"):
        load_nodeset(str(repo_root / "nodesets/env_gymnax"), config={key: value})


@pytest.mark.parametrize(("pad_batch", "tolerance"), [(64, 0.0), (0, 1e-5)])
def test_without_padding_a_rows_last_bits_are_not_claimed(
    repo_root: Path, pad_batch: int, tolerance: float
) -> None:
    loaded = load_nodeset(str(repo_root / "nodesets/env_gymnax"), config={"pad_batch": pad_batch})

    assert {tool.batch_tolerance for tool in loaded.tools.values()} == {tolerance}
