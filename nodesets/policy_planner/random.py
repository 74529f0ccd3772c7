"""Draw an action at random from the description of an action space.

Knows no environment: what may be drawn comes in as data, and chance from the
call's own generator.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, Mapping, NamedTuple

import numpy as np

from nodeset import BaseCanvasNode, PortDef

Space = Mapping[str, Any]


def sample(space: Space, rng: np.random.Generator) -> Any:
    """Draw from `space`, described as `env_gymnasium` does it; raises ValueError if unknown."""
    kind = space.get("kind")
    if kind not in _SAMPLERS:
        raise ValueError(
            f"action_space has kind {kind!r}; it must be one of {', '.join(_SAMPLERS)}"
        )
    return _SAMPLERS[kind](space, rng)


def sample_discrete(space: Space, rng: np.random.Generator) -> int:
    return int(space["start"]) + int(rng.integers(int(space["n"])))


def sample_multi_discrete(space: Space, rng: np.random.Generator) -> Any:
    nvec = np.asarray(space["nvec"], np.int64)
    return (np.asarray(space["start"], np.int64) + rng.integers(nvec)).astype(space["dtype"])


def sample_multi_binary(space: Space, rng: np.random.Generator) -> Any:
    return rng.integers(0, 2, size=tuple(space["shape"])).astype(np.int8)


def sample_box(space: Space, rng: np.random.Generator) -> Any:
    """Draw as Gymnasium does: uniformly where both bounds are finite, with an exponential tail
    towards a missing bound, from a normal distribution where both are missing.
    """
    bounds = _freeze(space["low"]), _freeze(space["high"])
    box = _describe_box(space["dtype"], tuple(space["shape"]), *bounds)
    shape = box.low.shape
    drawn = box.begin + box.width * rng.random(shape)
    tail, middle = rng.exponential(size=shape), rng.normal(size=shape)
    if not box.is_bounded:
        has_low, has_high = np.isfinite(box.low), np.isfinite(box.high)
        tails = np.where(has_low, box.low, 0.0) + tail, np.where(has_high, box.high, 0.0) - tail
        drawn = np.select([box.is_finite, has_low, has_high], [drawn, *tails], middle)
    drawn = np.floor(drawn) if box.dtype.kind in "iu" else drawn
    return np.minimum(np.maximum(drawn, box.low), box.high).astype(box.dtype)


class _Box(NamedTuple):
    """A box's bounds, one per element, and where one draws uniformly: from `begin`, `width` far."""

    dtype: np.dtype[Any]
    low: Any
    high: Any
    is_finite: Any
    is_bounded: bool
    begin: Any
    width: Any


@lru_cache(maxsize=256)
def _describe_box(dtype: str, shape: tuple[int, ...], low: Any, high: Any) -> _Box:
    kind = np.dtype(dtype)
    lows, highs = _bound(low, shape, -np.inf), _bound(high, shape, np.inf)
    is_finite = np.isfinite(lows) & np.isfinite(highs)
    top = highs + 1.0 if kind.kind in "iu" else highs
    begin = np.where(is_finite, lows, 0.0)
    with np.errstate(over="ignore"):  # refused below
        width = np.where(is_finite, top, 1.0) - begin
    if not np.all((width >= 0) & np.isfinite(width)):
        raise ValueError(
            f"action_space is a box from {low!r} to {high!r}; each high bound must be "
            "at or above its low one, by a finite distance"
        )
    return _Box(kind, lows, highs, is_finite, bool(is_finite.all()), begin, width)


def _freeze(values: Any) -> Any:
    """Return bounds, one number or (nested) lists of them, as what a cache can look up."""
    return tuple(map(_freeze, values)) if isinstance(values, list) else values


def _bound(values: Any, shape: Any, missing: float) -> Any:
    """Return a Box's bounds, one number or one per element, as an array; None is `missing`."""
    filled = [missing if value is None else value for value in np.ravel(np.array(values, object))]
    bounds = np.array(filled, np.float64)
    return np.broadcast_to(bounds.reshape(shape if bounds.size > 1 else ()), shape)


def sample_text(space: Space, rng: np.random.Generator) -> str:
    length = int(rng.integers(int(space["min_length"]), int(space["max_length"]) + 1))
    characters = space["characters"]
    return "".join(characters[int(i)] for i in rng.integers(len(characters), size=length))


def sample_dict(space: Space, rng: np.random.Generator) -> dict[str, Any]:
    return {key: sample(inner, rng) for key, inner in sorted(space["spaces"].items())}


def sample_tuple(space: Space, rng: np.random.Generator) -> list[Any]:
    return [sample(inner, rng) for inner in space["spaces"]]


_SAMPLERS: dict[str, Callable[[Space, np.random.Generator], Any]] = {
    "discrete": sample_discrete,
    "multi_discrete": sample_multi_discrete,
    "multi_binary": sample_multi_binary,
    "box": sample_box,
    "text": sample_text,
    "dict": sample_dict,
    "tuple": sample_tuple,
}


class RandomAction(BaseCanvasNode):
    node_type = "policy_planner__random_action"
    display_name = "Random action"
    description = (
        "Draw an action from the described space; the same episode and turn draw the same action."
    )
    category = "policy"
    input_ports = (
        PortDef("action_space", "JSON", "the space, as env_gymnasium's reset and step describe it"),
    )
    output_ports = (PortDef("action", "ACTION"),)
    batched = True
    batch_dim = "action_space"

    def forward(self, inputs: dict[str, Any], ctx: Any) -> dict[str, Any]:
        rows = zip(inputs["action_space"], ctx.rows)
        return {"action": [sample(space, row.rng) for space, row in rows]}


TOOLS = (RandomAction,)
