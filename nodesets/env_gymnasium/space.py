"""Turn Gymnasium's spaces into ports, their values into what ports carry, and actions back.

Knows no environment: a space and a value come in, passive data goes out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Iterator

import numpy as np
from gymnasium import spaces

from nodeset import ContractError, PortDef

Space = spaces.Space[Any]
RESERVED = frozenset({"reward", "terminated", "truncated", "done", "info", "action_space", "after"})


@dataclass(frozen=True)
class Leaf:
    """One port of a space: where its value lies in an observation and how it is converted."""

    port: PortDef
    path: tuple[Any, ...]
    space: Space

    def read(self, observation: Any) -> Any:
        """Take this port's value out of a whole observation, as a copy."""
        for key in self.path:
            observation = observation[key]
        return convert(self.port, self.space, observation)


def _describe(space: Space) -> str:
    """Return the space as text that is the same in every process: without addresses."""
    return re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", str(space))


def leaves_of_space(space: Space, name: str = "observation") -> list[Leaf]:
    """Flatten `space` into one leaf per port.

    A Dict's keys become port names, a Tuple's items `<name>_<index>`, nested ones are joined by
    `_`; a key that would take the place of another port of the tools gets `<name>_` before it.
    Raises ContractError for a space that no port carries.
    """
    leaves = []
    for words, path, inner in _flatten(space, (), ()):
        port_name = _port_name(words, name)
        leaves.append(
            Leaf(PortDef(port_name, wire_type_of(inner, name), _describe(inner)), path, inner)
        )
    names = [leaf.port.name for leaf in leaves]
    if len(set(names)) < len(names):
        raise ContractError(
            f"the observation space {space} gives port names {sorted(names)}, of which some are "
            f"equal; rename its keys with a wrapper (config `wrappers`)"
        )
    return leaves


def _flatten(
    space: Space, words: tuple[str, ...], path: tuple[Any, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[Any, ...], Space]]:
    if isinstance(space, spaces.Dict):
        for key, inner in space.spaces.items():
            yield from _flatten(inner, (*words, str(key)), (*path, key))
    elif isinstance(space, spaces.Tuple):
        for index, inner in enumerate(space.spaces):
            yield from _flatten(inner, (*words, str(index)), (*path, index))
    else:
        yield words, path, space


def _port_name(words: tuple[str, ...], name: str) -> str:
    text = re.sub(r"\W", "_", "_".join(words))
    if not text or text in RESERVED or text[0].isdigit():
        return f"{name}_{text}" if text else name
    return text


def wire_type_of(space: Space, where: str) -> str:
    """Return the wire type of a space that is no Dict or Tuple."""
    if isinstance(space, spaces.Discrete):
        return "INT"
    if isinstance(space, spaces.Box) and _is_image(space):
        return "IMAGE"
    if isinstance(space, (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)):
        return "ARRAY"
    if _is_text(space):
        return "TEXT"
    raise ContractError(
        f"{where} has the space {space} of class {type(space).__name__}, which no port carries; "
        f"it must be made of Discrete, MultiDiscrete, MultiBinary, Box, Text, Dict and Tuple: "
        f"convert it with a wrapper (config `wrappers`)"
    )


def _is_image(space: spaces.Box) -> bool:
    return len(space.shape) == 3 and space.shape[2] == 3 and space.dtype == np.uint8


def _is_text(space: Space) -> bool:
    """Minigrid's mission has a class of its own that says only by its dtype that it is text."""
    return isinstance(space, spaces.Text) or space.dtype == np.dtype(str)


def convert(port: PortDef, space: Space, value: Any) -> Any:
    """Return `value` as `port` carries it: in the space's dtype and of its shape.

    Arrays are copied, since environments reuse theirs.
    """
    if port.wire_type == "INT":
        return int(value)
    if port.wire_type == "TEXT":
        return str(value)
    array = np.array(value, dtype=space.dtype)
    if array.shape != space.shape:
        raise ValueError(
            f"the environment returned {port.name!r} with shape {array.shape}; its space {space} "
            f"says {space.shape}"
        )
    return array


def action_of(space: Space, value: Any) -> Any:
    """Return `value` as an action of `space`; raises ValueError, naming both, if it is none."""
    try:
        action = _restore(space, value)
    except (TypeError, ValueError, KeyError, OverflowError):
        action = None
    if action is None or not space.contains(action):
        raise ValueError(f"action {value!r} is not in the environment's action space {space}")
    return action


def _restore(space: Space, value: Any) -> Any:
    if isinstance(space, spaces.Dict):
        if set(value) != set(space.spaces):
            raise ValueError("keys differ")
        return {key: _restore(inner, value[key]) for key, inner in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        if len(value) != len(space.spaces):
            raise ValueError("lengths differ")
        return tuple(_restore(inner, item) for inner, item in zip(space.spaces, value))
    if isinstance(space, spaces.Discrete):
        return _whole_number(value)
    return np.array(value, dtype=space.dtype) if space.shape is not None else value


def _whole_number(value: Any) -> int:
    number = np.asarray(value)
    if number.dtype.kind not in "iu" or number.size != 1:
        raise ValueError("not an integer")
    return int(number.reshape(()))


def describe_space(space: Space) -> dict[str, Any]:
    """Describe a space as JSON data, for agents that sample actions.

    `kind` is discrete (`n`, `start`), multi_discrete (`nvec`, `start`, `dtype`), multi_binary
    (`shape`), box (`low`, `high`, `shape`, `dtype`; a bound that is missing is None, bounds that
    are all equal are one number), text (`min_length`, `max_length`, `characters`), dict or tuple
    (`spaces`). Raises ContractError for any other space.
    """
    for cls, describe in _DESCRIBERS:
        if isinstance(space, cls):
            return describe(space)
    raise ContractError(
        f"the action space {space} is of class {type(space).__name__}, which cannot be described; "
        f"it must be made of Discrete, MultiDiscrete, MultiBinary, Box, Text, Dict and Tuple"
    )


def _describe_multi_discrete(space: spaces.MultiDiscrete) -> dict[str, Any]:
    nvec = np.asarray(space.nvec)
    start = np.asarray(getattr(space, "start", np.zeros_like(nvec)))
    return {
        "kind": "multi_discrete",
        "nvec": nvec.tolist(),
        "start": start.tolist(),
        "dtype": space.dtype.str,
    }


def _describe_box(space: spaces.Box) -> dict[str, Any]:
    return {
        "kind": "box",
        "low": _bounds(space.low),
        "high": _bounds(space.high),
        "shape": list(space.shape),
        "dtype": space.dtype.str,
    }


def _bounds(values: Any) -> Any:
    if values.size and np.all(values == values.flat[0]):
        values = values.flat[0]
    bounds = np.array(values, object)
    bounds[~np.isfinite(values)] = None
    return bounds.tolist()


def _describe_text(space: spaces.Text) -> dict[str, Any]:
    return {
        "kind": "text",
        "min_length": space.min_length,
        "max_length": space.max_length,
        "characters": "".join(sorted(space.character_set)),
    }


_DESCRIBERS: tuple[tuple[type, Callable[[Any], dict[str, Any]]], ...] = (
    (spaces.Discrete, lambda s: {"kind": "discrete", "n": int(s.n), "start": int(s.start)}),
    (spaces.MultiDiscrete, _describe_multi_discrete),
    (spaces.MultiBinary, lambda s: {"kind": "multi_binary", "shape": list(s.shape)}),
    (spaces.Box, _describe_box),
    (spaces.Text, _describe_text),
    (
        spaces.Dict,
        lambda s: {
            "kind": "dict",
            "spaces": {str(k): describe_space(v) for k, v in s.spaces.items()},
        },
    ),
    (spaces.Tuple, lambda s: {"kind": "tuple", "spaces": [describe_space(v) for v in s.spaces]}),
)


def passive(value: Any, dropped: list[str], where: str = "info") -> Any:
    """Return `value` as JSON data; what has no such form becomes None and joins `dropped`."""
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biufUS":
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): passive(item, dropped, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [passive(item, dropped, f"{where}[{index}]") for index, item in enumerate(value)]
    is_plain = value is None or isinstance(value, (str, bool, float))
    if is_plain or (isinstance(value, int) and -(2**63) <= value < 2**64):
        return value
    dropped.append(f"{where} ({type(value).__name__})")
    return None
