"""Draw values for ports: actions from a described action space, others by their wire type.

Knows nothing of tools. The same generator draws the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from nodeset.ports import PortDef, parse_wire_type

Rng = np.random.Generator
ACTION_KINDS = ("small", "signed", "triple", "vector", "pair", "word")
"""What an action of unknown form may be, the likeliest first."""
_SIDE = 8
_FINITE = 1e3


class UnknownSpaceError(ValueError):
    """An action space is described in a way that is not known."""


def draw_action(space: Mapping[str, Any], rng: Rng) -> Any:
    """Return an action of a space described as data. Raises UnknownSpaceError."""
    draw = _SPACES.get(str(space.get("kind")))
    if draw is None:
        raise UnknownSpaceError(f"an action space has kind {space.get('kind')!r}")
    return draw(space, rng)


def draw_unknown_action(kind: str, rng: Rng) -> Any:
    """Return an action of one of `ACTION_KINDS`."""
    match kind:
        case "small":
            return int(rng.integers(0, 3))
        case "signed":
            return int(rng.integers(-1, 2))
        case "triple":
            return [int(part) for part in rng.integers(0, 2, 3)]
        case "pair":
            return rng.uniform(-1, 1, 2).astype(np.float32)
        case "vector":
            return rng.uniform(-1, 1, 1).astype(np.float32)
    return str(rng.choice(["forward", "left", "right", "stop"]))


def draw_value(port: PortDef, rng: Rng) -> Any:
    """Return a value that the port takes; whether the tool can use it is another matter."""
    return _draw_type(port.wire_type, rng)


def _draw_type(wire_type: str, rng: Rng) -> Any:
    kind, inner = parse_wire_type(wire_type)
    if inner is not None:
        return [_draw_type(inner, rng) for _ in range(3)]
    return _TYPES[kind](rng)


def _draw_pose(rng: Rng) -> Any:
    turn = rng.uniform(-np.pi, np.pi) / 2
    return np.array([*rng.uniform(-1, 1, 3), 0.0, np.sin(turn), 0.0, np.cos(turn)])


_TYPES: Mapping[str, Callable[[Rng], Any]] = {
    "IMAGE": lambda rng: rng.integers(0, 256, (_SIDE, _SIDE, 3)).astype(np.uint8),
    "DEPTH": lambda rng: rng.uniform(0.5, 5.0, (_SIDE, _SIDE)).astype(np.float32),
    "POSE": _draw_pose,
    "ACTION": lambda rng: int(rng.integers(0, 3)),
    "INT": lambda rng: int(rng.integers(0, 3)),
    "FLOAT": lambda rng: float(rng.uniform(-1, 1)),
    "BOOL": lambda rng: bool(rng.integers(2)),
    "TEXT": lambda rng: str(rng.choice(["go to the door", "turn left", "walk past the table"])),
    "ARRAY": lambda rng: rng.uniform(-1, 1, _SIDE),
    "METRICS": lambda rng: {"success": bool(rng.integers(2))},
    "JSON": lambda rng: {"value": int(rng.integers(0, 3))},
    "ANY": lambda rng: int(rng.integers(0, 3)),
}


def _draw_discrete(space: Mapping[str, Any], rng: Rng) -> Any:
    return int(space.get("start", 0)) + int(rng.integers(int(space["n"])))


def _draw_multi_discrete(space: Mapping[str, Any], rng: Rng) -> Any:
    drawn = rng.integers(np.asarray(space["nvec"], np.int64))
    return (np.asarray(space.get("start", 0), np.int64) + drawn).astype(space["dtype"])


def _draw_box(space: Mapping[str, Any], rng: Rng) -> Any:
    shape, dtype = tuple(space["shape"]), np.dtype(space["dtype"])
    low, high = (_bound(space[name], shape, sign) for name, sign in (("low", -1), ("high", 1)))
    drawn = rng.uniform(low, high)
    return (np.round(drawn) if dtype.kind in "iu" else drawn).astype(dtype)


def _bound(values: Any, shape: Sequence[int], sign: int) -> Any:
    """Return bounds as an array; a missing one is a finite number that is large enough."""
    flat = [sign if value is None else value for value in np.ravel(np.array(values, object))]
    bounds = np.clip(np.array(flat, np.float64), -_FINITE, _FINITE)
    return np.broadcast_to(bounds.reshape(shape if bounds.size > 1 else ()), shape)


def _draw_text(space: Mapping[str, Any], rng: Rng) -> Any:
    length = int(rng.integers(int(space["min_length"]), int(space["max_length"]) + 1))
    characters = list(space["characters"])
    return "".join(characters[int(index)] for index in rng.integers(len(characters), size=length))


_SPACES: Mapping[str, Callable[[Mapping[str, Any], Rng], Any]] = {
    "discrete": _draw_discrete,
    "multi_discrete": _draw_multi_discrete,
    "multi_binary": lambda space, rng: rng.integers(0, 2, tuple(space["shape"])).astype(np.int8),
    "box": _draw_box,
    "text": _draw_text,
    "dict": lambda space, rng: {
        key: draw_action(inner, rng) for key, inner in sorted(space["spaces"].items())
    },
    "tuple": lambda space, rng: [draw_action(inner, rng) for inner in space["spaces"]],
}
