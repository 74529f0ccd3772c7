"""Hold the actions of a call against the action space, before compiled code takes them silently.

Knows an action space as policies read it; neither JAX nor the environment.
"""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]


def read_actions(actions: Any, space: Mapping[str, Any], *, is_clipped: bool) -> Numbers:
    """Return one action per row, (B, ...). Raises ValueError for what is outside the space.

    `is_clipped` says that the environment itself clips to a box's bounds.
    """
    values = _as_numbers(actions, space)
    if space["kind"] == "discrete":
        _check_discrete(values, int(space["n"]))
    else:
        _check_box(values, space, is_clipped=is_clipped)
    return values


def _as_numbers(actions: Any, space: Mapping[str, Any]) -> Numbers:
    shape = tuple(space.get("shape", ()))
    rows = [np.asarray(action) for action in actions]
    for action, row in zip(actions, rows):
        if row.dtype.kind not in "biuf" or row.size != int(np.prod(shape, dtype=np.int64)):
            raise ValueError(
                f"action is {action!r}; this environment's must be {_name(shape)}: take it from "
                "the 'action_space' that 'reset' gives"
            )
    return np.stack([row.reshape(shape) for row in rows])


def _name(shape: tuple[int, ...]) -> str:
    return f"an array {shape} of numbers" if shape else "a number"


def _check_discrete(values: Numbers, count: int) -> None:
    is_known = (values >= 0) & (values < count) & (np.floor(values) == values)
    if not is_known.all():
        raise ValueError(
            f"action is {values[~is_known][0].item()!r}; this environment's are the whole numbers "
            f"0 to {count - 1}: choose one by the 'action_space' that 'reset' gives"
        )


def _check_box(values: Numbers, space: Mapping[str, Any], *, is_clipped: bool) -> None:
    exact = values.astype(space["dtype"])
    is_inside = np.isfinite(exact)
    rule = "must be finite"
    if not is_clipped:
        is_inside &= (exact >= np.asarray(space["low"])) & (exact <= np.asarray(space["high"]))
        rule = f"must lie within {space['low']} and {space['high']}"
    wrong = ~is_inside.reshape(len(values), -1).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"action is {values[wrong][0].tolist()!r}; this environment's {rule}: clip it by the "
            "'action_space' that 'reset' gives"
        )
